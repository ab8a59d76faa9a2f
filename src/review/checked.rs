//! The result of a check: stop points compared with a snapshot, numbers compared with gates, and whether it passes.

use super::findings::{self, Places};
use super::{Finding, Review};
use crate::diagnostic::Location;
use crate::snapshot::GateResult;

/// The result of a gate on one stack, with the gate's location.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// What it found.
    pub result: GateResult,
    /// Where the gate is written; without a path if it was given on the command line.
    pub at: Location,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// The snapshot file.
    pub snapshot: Option<String>,
    /// The changes from the snapshot; `None` if only gates were checked.
    pub review: Option<Review>,
    /// The gate results, in order.
    pub gates: Vec<Held>,
    /// The location of each stack.
    pub places: Places,
}

impl Checked {
    /// Whether the check fails. Every report uses this.
    pub fn failed(&self) -> bool {
        self.gates.iter().any(|gate| gate.result.failed) || self.review.as_ref().is_some_and(Review::has_changes)
    }

    /// The result in one sentence.
    pub fn sentence(&self) -> String {
        let failed = self.gates.iter().filter(|gate| gate.result.failed).count();
        let gates = match (failed, self.gates.len()) {
            (_, 0) => None,
            (0, 1) => Some("the gate holds".to_owned()),
            (0, n) => Some(format!("all {n} gates hold")),
            (1, 1) => Some("the gate fails".to_owned()),
            (failed, n) => Some(format!("{failed} of {n} gates fail")),
        };
        let stops = self.review.as_ref().map(|review| {
            if review.changes.is_empty() && review.has_changes() {
                "stop points that nobody has accepted".to_owned()
            } else {
                review.sentence()
            }
        });
        let parts: Vec<String> = stops.into_iter().chain(gates).collect();
        format!("{}: {}", if self.failed() { "FAILED" } else { "passed" }, parts.join("; "))
    }

    /// Findings with their locations in files, failures first.
    pub fn findings(&self) -> Vec<Finding> {
        findings::of_check(self)
    }
}
