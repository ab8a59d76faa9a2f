//! Findings of a check or a lint about lines of files, for annotations and code scanning.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{CheckResult, Importance, StackChange};
use crate::diagnostic::{Diagnostic, Location};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingLevel {
    /// Fails the check.
    Error,
    /// Should be looked at.
    Warning,
    /// For information.
    Notice,
}

/// One message about a line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFinding {
    /// The severity.
    pub level: FindingLevel,
    /// The kind of finding: `gate`, `stop-point`, `corpus`, `lint`.
    pub rule: &'static str,
    /// A few words.
    pub title: String,
    /// The message.
    pub message: String,
    /// The location; without a path it is about the check as a whole.
    pub at: Location,
}

/// The kinds of findings, with descriptions.
pub(super) const RULES: [(&str, &str); 4] = [
    ("stop-point", "A stop point is not the one that was accepted."),
    ("corpus", "The recordings or rules are not those the snapshot was accepted on."),
    ("gate", "A number of the summary passed the limit of a gate, or is not known well enough."),
    ("lint", "A rule of a stack file is dead, shadowed, cannot be evaluated, or looks like a slip of the pen."),
];

impl LineFinding {
    /// Converts a warning of `lint`.
    pub fn of_lint(warning: &Diagnostic) -> Self {
        let message =
            if warning.help.is_empty() { warning.what.clone() } else { format!("{}; {}", warning.what, warning.help) };
        Self {
            level: FindingLevel::Warning,
            rule: "lint",
            title: "whenstop rules lint".to_owned(),
            message,
            at: warning.at.clone(),
        }
    }
}

/// The findings of a check, failures first.
pub(super) fn of_check(checked: &CheckResult) -> Vec<LineFinding> {
    let mut found = of_gates_and_stops(checked);
    let holding = checked.advice.iter().filter(|advice| !advice.result.failed);
    found.extend(holding.map(|advice| LineFinding {
        level: FindingLevel::Notice,
        rule: "advice",
        title: format!("gate {} may block", advice.result.gate),
        message: advice.advice(),
        at: advice.at.clone(),
    }));
    found
}

fn of_gates_and_stops(checked: &CheckResult) -> Vec<LineFinding> {
    let nowhere = Location::default();
    let place = |stack: &str| checked.places.get(&(stack.to_owned(), None)).unwrap_or(&nowhere).clone();
    let at_rule = |stack: &str, rule: &Option<String>| match checked.places.get(&(stack.to_owned(), rule.clone())) {
        Some(at) if rule.is_some() => at.clone(),
        _ => place(stack),
    };
    let mut found = Vec::new();
    for gate in checked.gates.iter().filter(|gate| gate.result.failed) {
        found.push(LineFinding {
            level: FindingLevel::Error,
            rule: "gate",
            title: format!("gate {} failed", gate.result.gate),
            message: format!("`{}`: {}", gate.result.stack, gate.result.why),
            at: if gate.at.path.is_empty() { place(&gate.result.stack) } else { gate.at.clone() },
        });
    }
    let Some(review) = &checked.review else { return found };
    let snapshot = Location::file(checked.snapshot.clone().unwrap_or_default());
    if checked.is_unaccepted() {
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

/// The location of each stack in its file, and of each of its rules.
pub type Places = BTreeMap<(String, Option<String>), Location>;
