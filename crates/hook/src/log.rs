//! The log: one line of JSON per decision, in the host's state folder.

use std::fs::OpenOptions;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::files;

/// What a line says of a stop after which the agent went on in the same round.
pub const NOT_OBEYED: &str = "not obeyed";

/// A line of the log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogLine {
    /// When, in RFC 3339.
    pub time: String,
    /// The session's id.
    pub session: String,
    /// Which round of the session, from 1.
    pub round: u64,
    /// The stack.
    pub stack: String,
    /// The rule.
    pub rule: String,
    /// The point of the round at which the rule acts: `12:after_tools`.
    pub point: String,
    /// The step after which the hook acted, from 0.
    pub step: u32,
    /// The reading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<f64>,
    /// The limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// The mode.
    pub mode: String,
    /// What was done: `observed`, `nudged`, `asked`, `stopped`, `went on`, [`NOT_OBEYED`], or what went wrong.
    pub did: String,
    /// True if the tokens of a step came after the next one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// The host's version, if its transcript states it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The model of the latest reply.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The fingerprint of the stack file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stacks: String,
}

/// Appends lines. A log that cannot be written stops nothing.
pub fn append(path: &Path, lines: &[LogLine]) {
    if lines.is_empty() {
        return;
    }
    let mut text = String::new();
    for line in lines {
        text.push_str(&serde_json::to_string(line).unwrap_or_default());
        text.push('\n');
    }
    files::try_write(OpenOptions::new().append(true).create(true), path, &text);
}

/// The lines of a log; lines that cannot be read are left out.
pub fn read(path: &Path) -> Vec<LogLine> {
    let text = files::read_text(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
