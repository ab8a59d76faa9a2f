//! The result of a check: stop points held against a snapshot, numbers against gates, and whether that passes.

use super::findings::{self, Places};
use super::{Finding, Review};
use crate::diagnostic::Location;
use crate::snapshot::GateResult;

/// A gate on one stack, and where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// What it found.
    pub result: GateResult,
    /// Where the gate is written; without a path where it was given on the command line.
    pub at: Location,
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// The snapshot file.
    pub snapshot: Option<String>,
    /// What changed against it; `None` where only gates were held.
    pub review: Option<Review>,
    /// The gates, in order.
    pub gates: Vec<Held>,
    /// Where each stack is written.
    pub places: Places,
}

impl Checked {
    /// Does it fail? Every report says so in the same way.
    pub fn failed(&self) -> bool {
        self.gates.iter().any(|gate| gate.result.failed) || self.review.as_ref().is_some_and(Review::has_changes)
    }

    /// In one sentence.
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

    /// What there is to say about lines of files, the failures first.
    pub fn findings(&self) -> Vec<Finding> {
        findings::of_check(self)
    }
}
