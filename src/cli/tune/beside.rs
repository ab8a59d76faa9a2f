//! The tuned stack beside what it is compared with: the budget alone, one limit chosen the usual way, the best of the
//! presets, what runs today.

use super::answer::{BesideLine, Recordings, Rival, TuneAnswer, decided};
use crate::tune::{Contenders, Fate, HeldOut, LimitIx, TaskTotals, TuneQuestion, Tuner};

impl BesideLine {
    /// A line of something that was chosen on no task.
    fn given(rival: Rival, name: &str, totals: TaskTotals) -> Self {
        Self { rival, name: Some(name.to_owned()), certified: false, totals, refused: (0, 0) }
    }

    fn held_out(rival: Rival, name: Option<String>, certified: bool, of: HeldOut) -> Self {
        Self { rival, name, certified, refused: (of.refused, of.parts), totals: of.totals }
    }
}

/// What to ship, beside what it is compared with.
pub(super) fn answer(question: &TuneQuestion, recordings: &Recordings) -> TuneAnswer {
    let tuner = Tuner::new(&recordings.study);
    let mut answer = decided(question, &tuner, recordings.labels);
    answer.beside = beside(&tuner, recordings, question, &answer);
    answer
}

/// All lines of the comparison, what is shipped the last.
fn beside(tuner: &Tuner<'_>, recordings: &Recordings, question: &TuneQuestion, answer: &TuneAnswer) -> Vec<BesideLine> {
    let (study, appetite) = (tuner.study(), question.appetite());
    let tasks = study.all_tasks();
    let rule = |at: LimitIx| study.rule(at).to_string();
    let untouched = study.totals(&tasks, |_| Fate::Untouched);
    let mut lines = vec![BesideLine::given(Rival::NoStopping, "", untouched)];
    let mut todays = Contenders::new(&recordings.rows, study);
    let presets = todays.split_off(question.n_today);
    for (at, name) in todays.names().enumerate() {
        lines.push(BesideLine::given(Rival::Today, name, todays.contender(at).totals(&tasks)));
    }
    let budget = tuner.budget(&tasks, appetite).map(|limit| rule(LimitIx { family: 0, limit }));
    let is_certified = budget.is_some();
    let held_out = tuner.held_out_budget(&tasks, appetite);
    lines.push(BesideLine::held_out(Rival::Budget, budget, is_certified, held_out));
    if presets.names().next().is_some() {
        let best = presets.best(&tasks, appetite).map(|at| presets.name(at).to_owned());
        let held_out = presets.held_out(&tasks, appetite);
        lines.push(BesideLine::held_out(Rival::Preset, best, false, held_out));
    }
    let single = tuner.single(&tasks, appetite).map(rule);
    let is_certified = single.is_some();
    let held_out = tuner.held_out_single(&tasks, appetite);
    lines.push(BesideLine::held_out(Rival::Halves, single, is_certified, held_out));
    if question.learn
        && let Ok(choice) = &answer.tuned.chosen
    {
        let held_out = tuner.held_out(&tasks, appetite);
        lines.push(BesideLine::held_out(Rival::Catalogue, Some(rule(choice.at)), true, held_out));
    }
    if let Ok((shipped, held_out)) = &answer.shipped {
        let rules = shipped.rules(study);
        let name = if let [rule] = &rules[..] { rule.clone() } else { format!("{} rules, any of them", rules.len()) };
        lines.push(BesideLine::held_out(Rival::Tuned, Some(name), !answer.is_estimate(), held_out.clone()));
    }
    lines
}
