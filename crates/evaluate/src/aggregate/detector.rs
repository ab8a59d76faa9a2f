//! A stack as a detector of failing runs: how many of the runs that it ends early fail, and how many would fail anyway.

use std::collections::BTreeMap;

use super::{Group, Label};
use crate::transcript::Outcome;

/// What a stack detects, over the graded runs that it could be judged on.
#[derive(Clone, Debug, PartialEq)]
pub struct Detector {
    /// The stack.
    pub stack: Label,
    /// Graded runs that it could be judged on.
    pub runs: u64,
    /// Runs that it certainly ends early.
    pub fires: u64,
    /// Those of them that fail.
    pub fails: u64,
    /// All runs that fail.
    pub failures: u64,
    /// The failures to be expected among as many runs of the same models, whether it fires on them or not.
    pub fails_anyway: f64,
}

impl Detector {
    /// The detector of a group.
    pub fn from_group(group: &Group<'_>) -> Self {
        // Of each model: runs, failures, and runs that it fires on.
        let mut models: BTreeMap<Option<&Label>, [u64; 3]> = BTreeMap::new();
        let (mut runs, mut fires, mut fails, mut failures) = (0, 0, 0, 0);
        for row in group.rows() {
            if !row.is_judged() || row.outcome() == Outcome::Unknown {
                continue;
            }
            let failure = u64::from(row.outcome() == Outcome::Failure);
            let stop = u64::from(row.was_stopped());
            let [of_model, failed, stopped] = models.entry(row.model()).or_default();
            *of_model += 1;
            *failed += failure;
            *stopped += stop;
            runs += 1;
            fires += stop;
            fails += stop * failure;
            failures += failure;
        }
        let fails_anyway =
            models.values().map(|[n, failed, stopped]| *stopped as f64 * *failed as f64 / (*n).max(1) as f64).sum();
        Self { stack: group.stack.clone(), runs, fires, fails, failures, fails_anyway }
    }

    /// The share of the runs it fires on that fail; `None` if it fires on none.
    pub fn precision(&self) -> Option<f64> {
        share(self.fails as f64, self.fires)
    }

    /// The share of all failures that it fires on; `None` if nothing fails.
    pub fn recall(&self) -> Option<f64> {
        share(self.fails as f64, self.failures)
    }

    /// The share of all successes that it fires on; `None` if nothing succeeds.
    pub fn false_alarms(&self) -> Option<f64> {
        share((self.fires - self.fails) as f64, self.runs - self.failures)
    }

    /// The share of runs of the same models that fail; `None` if it fires on none.
    pub fn anyway(&self) -> Option<f64> {
        share(self.fails_anyway, self.fires)
    }
}

fn share(part: f64, of: u64) -> Option<f64> {
    if of == 0 { None } else { Some(part / of as f64) }
}
