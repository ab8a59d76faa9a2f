//! What a tuned stack is compared with: the budget alone, one limit chosen the usual way, the best of the presets,
//! what runs today.

use super::answer::Recordings;
use crate::tune::{Contenders, HeldOut, LimitIx, TaskTotals, TuneQuestion, Tuned, Tuner};

/// What a tuned stack is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rival {
    /// A stack that runs today.
    Today,
    /// The largest budget of steps that passes.
    Budget,
    /// The best of the presets.
    Preset,
    /// One limit, chosen on half of the tasks.
    Halves,
    /// The catalogue's own choice.
    Catalogue,
}

impl Rival {
    /// Its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Today => "today",
            Self::Budget => "budget alone",
            Self::Preset => "best preset",
            Self::Halves => "chosen on half",
            Self::Catalogue => "catalogue",
        }
    }
}

/// One line of the comparison.
pub(super) struct Other {
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

impl Other {
    fn held_out(rival: Rival, name: Option<String>, certified: bool, of: HeldOut) -> Self {
        Self { rival, name, certified, refused: (of.refused, of.parts), totals: of.totals }
    }
}

/// All lines of the comparison.
#[derive(Default)]
pub(super) struct Beside {
    pub(super) others: Vec<Other>,
    /// The catalogue's own choice, if a list was learned.
    pub(super) limit: Option<Other>,
}

impl Beside {
    /// Compares.
    pub(super) fn from_tuner(
        tuner: &Tuner<'_>,
        recordings: &Recordings,
        question: &TuneQuestion,
        found: &Tuned,
    ) -> Self {
        let (study, appetite) = (tuner.study(), question.appetite());
        let tasks = study.all_tasks();
        let rule = |at: LimitIx| study.rule(at).to_string();
        let budget = tuner.budget(&tasks, appetite).map(|limit| rule(LimitIx { family: 0, limit }));
        let single = tuner.single(&tasks, appetite).map(rule);
        let mut others = Vec::new();
        let mut todays = Contenders::new(&recordings.rows, study);
        let presets = todays.split_off(question.n_today);
        for (at, name) in todays.names().enumerate() {
            let (name, totals) = (Some(name.to_owned()), todays.contender(at).totals(&tasks));
            others.push(Other { rival: Rival::Today, name, certified: false, totals, refused: (0, 0) });
        }
        let is_certified = budget.is_some();
        let held_out = tuner.held_out_budget(&tasks, appetite);
        others.push(Other::held_out(Rival::Budget, budget, is_certified, held_out));
        if presets.names().next().is_some() {
            let best = presets.best(&tasks, appetite).map(|at| presets.name(at).to_owned());
            let held_out = presets.held_out(&tasks, appetite);
            others.push(Other::held_out(Rival::Preset, best, false, held_out));
        }
        let is_certified = single.is_some();
        let held_out = tuner.held_out_single(&tasks, appetite);
        others.push(Other::held_out(Rival::Halves, single, is_certified, held_out));
        let limit = found.chosen.ok().filter(|_| question.learn).map(|choice| {
            let name = Some(rule(choice.at));
            Other::held_out(Rival::Catalogue, name, true, tuner.held_out(&tasks, appetite))
        });
        Self { others, limit }
    }
}
