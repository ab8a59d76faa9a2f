//! The settings of synthetic runs: tools, tasks and texts of each suite, as the JSON files beside this one have them.
//!
//! In all texts `<a>` and `<b>` are nouns and `<case>` is the task's number. `<n>` (small) and `<id>` (four digits)
//! have the same value in a call's arguments and in its result; `<m>` and `<k>` are other numbers of the same size.

use std::sync::LazyLock;

use serde::Deserialize;

use super::Suite;

/// Texts in English, and texts of the same kind in Chinese.
pub(super) type Words = [Vec<String>; 2];

/// Questions with answers, in English and in Chinese.
pub(super) type Exchanges = [Vec<(String, String)>; 2];

/// A kind of step: one call, what is said with it, and possible results.
#[derive(Debug, Deserialize)]
pub(super) struct Move {
    pub(super) tool: String,
    /// The arguments, as JSON.
    pub(super) arguments: String,
    pub(super) say: Words,
    pub(super) results: Vec<String>,
    pub(super) errors: Vec<String>,
    /// Tokens of the full result, before it was abridged: minimum and maximum.
    pub(super) tokens: (u64, u64),
    /// How long the tool takes in milliseconds: minimum and maximum.
    pub(super) ms: (u64, u64),
}

/// The tools, tasks and texts of a suite.
#[derive(Debug, Deserialize)]
pub(super) struct SuiteContent {
    pub(super) agent: String,
    /// The number of steps after which the recording's own harness ends a run.
    pub(super) cap: usize,
    /// Tokens of instructions and tool descriptions, which are not recorded.
    pub(super) context: u64,
    pub(super) instructions: String,
    pub(super) tasks: Words,
    pub(super) first_nouns: Vec<String>,
    pub(super) second_nouns: Vec<String>,
    /// Looking around: arguments differ from step to step.
    pub(super) explore: Vec<Move>,
    /// Calls that advance the task.
    pub(super) change: Vec<Move>,
    /// The check of the work; its errors are returned while the work is unfinished.
    pub(super) check: Move,
    /// Asks for the state of something slow; the last result says that it has finished.
    pub(super) poll: Move,
    /// Results of a poll when the job has finished.
    pub(super) poll_over: String,
    /// What a summary says when the work has been done.
    pub(super) closing: Words,
    /// What is said after finishing with a wrong result, or on giving up.
    pub(super) giving_up: Words,
    /// Questions at the end of a reply, with the user's answers.
    pub(super) asking: Exchanges,
    /// Texts that contain the word DONE although the work is not done.
    pub(super) not_done: Words,
    /// Calls that polish the work after it has been finished.
    pub(super) polish: Vec<Move>,
}

/// In the order of [`Suite`].
static STAGES: LazyLock<[SuiteContent; 3]> = LazyLock::new(|| {
    [include_str!("code.json"), include_str!("service.json"), include_str!("research.json")]
        .map(|file| serde_json::from_str(file).expect("a test generates runs of every suite"))
});

impl Suite {
    pub(super) fn stage(self) -> &'static SuiteContent {
        &STAGES[self as usize]
    }
}
