//! The settings of synthetic runs: tools, tasks and texts of each suite. Data only.
//!
//! In all texts `<a>` and `<b>` are nouns and `<case>` is the task's number. `<n>` (small) and `<id>` (four digits)
//! have the same value in a call's arguments and in its result; `<m>` and `<k>` are other numbers of the same size.

mod code;
mod research;
mod service;

use super::Suite;

/// Texts in English, and texts of the same kind in Chinese.
pub(super) type Words = [&'static [&'static str]; 2];

/// Questions with answers, in English and in Chinese.
pub(super) type Exchanges = [&'static [(&'static str, &'static str)]; 2];

/// A kind of step: one call, what is said with it, and possible results.
#[derive(Debug)]
pub(super) struct Move {
    pub(super) tool: &'static str,
    /// The arguments, as JSON.
    pub(super) arguments: &'static str,
    pub(super) say: Words,
    pub(super) results: &'static [&'static str],
    pub(super) errors: &'static [&'static str],
    /// Tokens of the full result, before it was abridged: minimum and maximum.
    pub(super) tokens: (u64, u64),
    /// How long the tool takes in milliseconds: minimum and maximum.
    pub(super) ms: (u64, u64),
}

/// The tools, tasks and texts of a suite.
#[derive(Debug)]
pub(super) struct SuiteContent {
    pub(super) agent: &'static str,
    /// The number of steps after which the recording's own harness ends a run.
    pub(super) cap: usize,
    /// Tokens of instructions and tool descriptions, which are not recorded.
    pub(super) context: u64,
    pub(super) instructions: &'static str,
    pub(super) tasks: Words,
    pub(super) first_nouns: &'static [&'static str],
    pub(super) second_nouns: &'static [&'static str],
    /// Looking around: arguments differ from step to step.
    pub(super) explore: &'static [Move],
    /// Calls that advance the task.
    pub(super) change: &'static [Move],
    /// The check of the work; its errors are returned while the work is unfinished.
    pub(super) check: Move,
    /// Asks for the state of something slow; the last result says that it has finished.
    pub(super) poll: Move,
    /// Results of a poll when the job has finished.
    pub(super) poll_over: &'static str,
    /// What a summary says when the work has been done.
    pub(super) closing: Words,
    /// What is said after finishing with a wrong result, or on giving up.
    pub(super) giving_up: Words,
    /// Questions at the end of a reply, with the user's answers.
    pub(super) asking: Exchanges,
    /// Texts that contain the word DONE although the work is not done.
    pub(super) not_done: Words,
    /// Calls that polish the work after it has been finished.
    pub(super) polish: &'static [Move],
}

impl Suite {
    pub(super) fn stage(self) -> &'static SuiteContent {
        match self {
            Self::Code => &code::STAGE,
            Self::Service => &service::STAGE,
            Self::Research => &research::STAGE,
        }
    }
}
