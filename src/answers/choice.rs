//! Which stack to ship: chosen on one part of the tasks and reported on the other.

use serde::{Deserialize, Serialize};

use crate::aggregate::{Label, Summary, Unit};
use crate::stats::split::optimism;

/// How tasks were split and what was chosen; part of the manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitChoice {
    /// The part of the tasks that is reported: `dev` or `test`.
    pub split: String,
    /// Salt of the hash that splits the tasks.
    pub split_salt: String,
    /// The share of each suite's tasks in dev.
    pub dev_share: f64,
    /// The largest tolerated upper bound on the share of successes killed.
    pub max_killed: f64,
    /// The stack to ship by the dev tasks; `None` if no stack is safe at `max_killed` and worth it.
    pub chosen: Option<Label>,
    /// The share of successes that the chosen stack kills, dev minus test.
    pub optimism_killed_rate: Option<f64>,
    /// Its useful saving, dev minus test.
    pub optimism_saved_share: Option<f64>,
}

impl SplitChoice {
    /// Whether the stack was chosen on other tasks than those reported.
    pub fn is_apart(&self) -> bool {
        self.split == "test"
    }

    /// Records what was `chosen` on `dev` and, if `test` is reported, computes how much better the choice looked there. `self` says how
    /// the tasks were split.
    #[must_use]
    pub fn made(self, chosen: Option<Label>, dev: &[Summary], test: Option<&[Summary]>, unit: Unit) -> Self {
        let chosen = chosen.and_then(|chosen| dev.iter().find(|summary| summary.stack == chosen));
        let same = chosen.zip(test).and_then(|(chosen, test)| test.iter().find(|other| other.stack == chosen.stack));
        let gap = |of: fn(&Summary, Unit) -> Option<f64>| {
            let (dev, test) = chosen.zip(same)?;
            optimism(of(dev, unit), of(test, unit))
        };
        Self {
            chosen: chosen.map(|summary| summary.stack.clone()),
            optimism_killed_rate: gap(|summary, _| summary.fes_rate().value()),
            optimism_saved_share: gap(|summary, unit| summary.ratios_in(unit).useful.value()),
            ..self
        }
    }
}
