//! What a tuned stack is compared with: the budget alone, one limit chosen the usual way, the best of the presets,
//! what runs today.

use super::Recordings;
use crate::tune::{Appetite, Contender, Effects, Tuned, Tuner, best_contender, held_out_contender};

/// One line of the comparison.
pub(super) struct Other {
    /// What it is.
    pub(super) what: &'static str,
    /// Its rule or name; `None` if there is none.
    pub(super) name: Option<String>,
    /// Whether it is certified at the requested rate.
    pub(super) certified: bool,
    /// Its effects on tasks it was not chosen on.
    pub(super) effects: Effects,
}

/// All lines of the comparison.
pub(super) struct Beside {
    pub(super) others: Vec<Other>,
    /// The catalogue's own choice, if a list was learned.
    pub(super) limit: Option<Other>,
}

impl Beside {
    pub(super) fn of(tuner: &Tuner<'_>, recordings: &Recordings, appetite: Appetite, found: &Tuned) -> Self {
        let study = tuner.study();
        let tasks = study.all_tasks();
        let rule =
            |family: usize, limit: usize| study.families().get(family).map(|family| family.rule(limit).to_string());
        let budget = tuner.budget(&tasks, appetite).and_then(|limit| rule(0, limit));
        let single = tuner.single(&tasks, appetite).and_then(|(family, limit)| rule(family, limit));
        let mut others = Vec::new();
        let mut contenders = Contender::of(&recordings.rows, study, study.unit());
        let presets = contenders.split_off(recordings.n_today.min(contenders.len()));
        for today in &contenders {
            let effects = today.effects(&tasks);
            others.push(Other { what: "today", name: Some(today.name.clone()), certified: false, effects });
        }
        others.push(Other {
            what: "budget alone",
            certified: budget.is_some(),
            name: budget,
            effects: tuner.held_out_budget(&tasks, appetite).effects,
        });
        if !presets.is_empty() {
            let best = best_contender(&presets, &tasks, appetite.alpha).and_then(|at| presets.get(at));
            others.push(Other {
                what: "best preset",
                name: best.map(|best| best.name.clone()),
                certified: false,
                effects: held_out_contender(&presets, study, &tasks, appetite.alpha),
            });
        }
        others.push(Other {
            what: "one, by halves",
            certified: single.is_some(),
            name: single,
            effects: tuner.held_out_single(&tasks, appetite).effects,
        });
        let limit = found.chosen.ok().map(|choice| Other {
            what: "catalogue",
            name: rule(choice.family, choice.limit),
            certified: true,
            effects: tuner.held_out(&tasks, appetite).effects,
        });
        Self { others, limit }
    }
}
