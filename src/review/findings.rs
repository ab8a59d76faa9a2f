//! Findings of a check or a lint about lines of files, for annotations and code scanning.

use std::collections::BTreeMap;

use serde::Serialize;

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
    pub fn from_lint(warning: &Diagnostic) -> Self {
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

/// The location of each stack in its file, and of each of its rules.
pub type Places = BTreeMap<(String, Option<String>), Location>;
