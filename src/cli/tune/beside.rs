//! The tuned stack beside what it is compared with: the budget alone, one limit chosen the usual way, the best of the
//! presets, what runs today.

use super::answer::{Recordings, TuneAnswer};
use crate::tune::{Contenders, Fate, HeldOut, LimitIx, TaskTotals, TuneQuestion, Tuner};

/// What a line of the comparison is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rival {
    /// Nothing is stopped.
    NoStopping,
    /// A stack that runs today.
    Today,
    /// The largest budget of steps that passes.
    Budget,
    /// The best of the presets.
    Preset,
    /// One limit, chosen on half of the tasks.
    Halves,
    /// The catalogue's own choice, if a list was learned.
    Catalogue,
    /// What is shipped.
    Tuned,
}

impl Rival {
    /// Its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NoStopping => "no stopping",
            Self::Today => "today",
            Self::Budget => "budget alone",
            Self::Preset => "best preset",
            Self::Halves => "chosen on half",
            Self::Catalogue => "without --learn",
            Self::Tuned => "tuned",
        }
    }
}

/// One line of the comparison.
pub(super) struct BesideLine {
    /// What it is.
    pub(super) rival: Rival,
    /// Its rule or name; `None` if there is none.
    pub(super) name: Option<String>,
    /// Whether it is certified at the requested rate.
    pub(super) certified: bool,
    /// Its totals on tasks it was not chosen on.
    pub(super) totals: TaskTotals,
    /// Number of parts for which nothing could be chosen, of how many. Their tasks are left out.
    pub(super) refused: (usize, usize),
}

impl BesideLine {
    /// A line of something that was chosen on no task.
    fn given(rival: Rival, name: &str, totals: TaskTotals) -> Self {
        Self { rival, name: Some(name.to_owned()), certified: false, totals, refused: (0, 0) }
    }

    fn held_out(rival: Rival, name: Option<String>, certified: bool, of: HeldOut) -> Self {
        Self { rival, name, certified, refused: (of.refused, of.parts), totals: of.totals }
    }
}

/// All lines of the comparison, what is shipped the last.
pub(super) fn beside(
    tuner: &Tuner<'_>,
    recordings: &Recordings,
    question: &TuneQuestion,
    answer: &TuneAnswer,
) -> Vec<BesideLine> {
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
