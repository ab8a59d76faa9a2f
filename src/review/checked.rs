//! The result of a check: stop points compared with a snapshot, numbers compared with gates, and whether it passes.

use super::findings::{FindingLevel, LineFinding, Places};
use super::{ChangeReview, Importance, StackChange};
use crate::diagnostic::{Location, count};
use crate::snapshot::GateResult;

/// The result of a gate on one stack, with the gate's location.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedGate {
    /// What it found.
    pub result: GateResult,
    /// Where the gate is written; without a path if it was given on the command line.
    pub at: Location,
}

impl CheckedGate {
    /// The stack, as ` for NAME`, unless the gate names it.
    pub fn for_stack(&self) -> String {
        let GateResult { gate, stack, .. } = &self.result;
        if gate.contains(':') { String::new() } else { format!(" for {stack}") }
    }

    /// What it says as advice: that it would fail, or that it may block.
    pub fn advice(&self) -> String {
        let (GateResult { gate, failed, why, .. }, stack) = (&self.result, self.for_stack());
        if *failed {
            format!("advice: gate {gate} would fail{stack}: {why}")
        } else {
            format!("advice: gate {gate} holds{stack}: {why}; it may block: move it from `advise` to `gates`")
        }
    }
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckResult {
    /// The snapshot file.
    pub snapshot: Option<String>,
    /// The changes from the snapshot; `None` if only gates were checked.
    pub review: Option<ChangeReview>,
    /// The gate results, in order.
    pub gates: Vec<CheckedGate>,
    /// The results of gates that fail nothing yet, in order.
    pub advice: Vec<CheckedGate>,
    /// The location of each stack.
    pub places: Places,
}

impl CheckResult {
    /// Whether the check fails. Every report uses this.
    pub fn failed(&self) -> bool {
        self.a_gate_fails() || self.is_unaccepted()
    }

    fn a_gate_fails(&self) -> bool {
        self.gates.iter().any(|gate| gate.result.failed)
    }

    /// Whether there are stop points that somebody has to accept. New runs are judged by the gates if there are any and
    /// all hold: of a stop point on a new run nobody can say that it changed.
    pub fn is_unaccepted(&self) -> bool {
        matches!(&self.review, Some(review) if review.has_changes() && !self.gates_judge(review))
    }

    /// The number of runs that are new since the snapshot and that only the gates judge; 0 unless all of them hold.
    pub fn judged_by_gates(&self) -> usize {
        match &self.review {
            Some(review) if self.gates_judge(review) => review.corpus.added.len(),
            _ => 0,
        }
    }

    fn gates_judge(&self, review: &ChangeReview) -> bool {
        !self.gates.is_empty() && !self.a_gate_fails() && review.has_only_new_runs()
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
        let stops = self.review.as_ref().map(|review| match self.judged_by_gates() {
            0 if review.changes.is_empty() && review.has_changes() => "stop points that nobody has accepted".to_owned(),
            0 => review.sentence(),
            new => format!("{}; {} not in the snapshot", review.sentence(), count(new, "run")),
        });
        let parts: Vec<String> = stops.into_iter().chain(gates).collect();
        format!("{}: {}", if self.failed() { "FAILED" } else { "passed" }, parts.join("; "))
    }

    /// Findings with their locations in files, failures first.
    pub fn findings(&self) -> Vec<LineFinding> {
        let mut found = self.gates_and_stops();
        let holding = self.advice.iter().filter(|advice| !advice.result.failed);
        found.extend(holding.map(|advice| LineFinding {
            level: FindingLevel::Notice,
            rule: "advice",
            title: format!("gate {} may block", advice.result.gate),
            message: advice.advice(),
            at: advice.at.clone(),
        }));
        found
    }

    /// Those about gates that fail and about stop points, failures first.
    fn gates_and_stops(&self) -> Vec<LineFinding> {
        let nowhere = Location::default();
        let place = |stack: &str| self.places.get(&(stack.to_owned(), None)).unwrap_or(&nowhere).clone();
        let at_rule = |stack: &str, rule: &Option<String>| match self.places.get(&(stack.to_owned(), rule.clone())) {
            Some(at) if rule.is_some() => at.clone(),
            _ => place(stack),
        };
        let mut found = Vec::new();
        for gate in self.gates.iter().filter(|gate| gate.result.failed) {
            found.push(LineFinding {
                level: FindingLevel::Error,
                rule: "gate",
                title: format!("gate {} failed", gate.result.gate),
                message: format!("`{}`: {}", gate.result.stack, gate.result.why),
                at: if gate.at.path.is_empty() { place(&gate.result.stack) } else { gate.at.clone() },
            });
        }
        let Some(review) = &self.review else { return found };
        let snapshot = Location::file(self.snapshot.clone().unwrap_or_default());
        if self.is_unaccepted() {
            found.push(LineFinding {
                level: FindingLevel::Error,
                rule: "stop-point",
                title: review.sentence(),
                message: "review the changes below; if they are meant, `whenstop ci review` and commit the snapshot"
                    .to_owned(),
                at: snapshot.clone(),
            });
        }
        found.extend(review.notices().into_iter().map(|message| LineFinding {
            level: FindingLevel::Notice,
            rule: "corpus",
            title: "not what the snapshot was accepted on".to_owned(),
            message,
            at: snapshot.clone(),
        }));
        for stack in review.stacks.iter().filter(|stack| stack.state == StackChange::New) {
            found.push(LineFinding {
                level: FindingLevel::Warning,
                rule: "stop-point",
                title: format!("{} is new", stack.stack),
                message: format!("nobody has accepted the stop points of `{}` yet", stack.stack),
                at: place(&stack.stack),
            });
        }
        found.extend(review.groups.iter().map(|group| LineFinding {
            level: if matches!(group.importance, Importance::Kill | Importance::Missed) {
                FindingLevel::Error
            } else {
                FindingLevel::Warning
            },
            rule: "stop-point",
            title: format!("{}: stop points changed", group.stack),
            message: group.sentence(),
            at: at_rule(&group.stack, &group.rule_now),
        }));
        found.sort_by_key(|finding| finding.level);
        found
    }
}
