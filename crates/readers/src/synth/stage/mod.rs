//! Where synthetic runs play: tools, tasks and the words of each suite. Data only.
//!
//! In all texts `<a>` and `<b>` are nouns and `<case>` is the task's number. `<n>` (small) and `<id>` (four digits)
//! are the same in the arguments of a call and its result; `<m>` and `<k>` are other numbers of the same size.

mod code;
mod research;
mod service;

use super::Suite;

/// Texts in English, and the same kind of texts in Chinese.
pub(super) type Words = [&'static [&'static str]; 2];

/// Questions with their answers, in English and in Chinese.
pub(super) type Exchanges = [&'static [(&'static str, &'static str)]; 2];

/// A kind of step: one call, what is said beside it, and what may come back.
#[derive(Debug)]
pub(super) struct Move {
    pub(super) tool: &'static str,
    /// JSON.
    pub(super) arguments: &'static str,
    pub(super) say: Words,
    pub(super) results: &'static [&'static str],
    pub(super) errors: &'static [&'static str],
    /// Tokens of a result before it was abridged: least and most.
    pub(super) tokens: (u64, u64),
    /// Milliseconds the tool takes: least and most.
    pub(super) ms: (u64, u64),
}

/// A suite's tools, tasks and words.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) agent: &'static str,
    /// Steps after which the recording's own harness ended a run.
    pub(super) cap: usize,
    /// Tokens of instructions and tool descriptions that are not recorded.
    pub(super) context: u64,
    pub(super) instructions: &'static str,
    pub(super) tasks: Words,
    pub(super) first_nouns: &'static [&'static str],
    pub(super) second_nouns: &'static [&'static str],
    /// Looking around: arguments differ from step to step.
    pub(super) explore: &'static [Move],
    /// What brings the task forward.
    pub(super) change: &'static [Move],
    /// The check of the work; its errors are what an unfinished state gets.
    pub(super) check: Move,
    /// Asking for the state of something slow; the last result says it is over.
    pub(super) poll: Move,
    /// What comes back from a poll when it is over.
    pub(super) poll_over: &'static str,
    /// What a summary says when the work is done.
    pub(super) closing: Words,
    /// What is said after finishing with a wrong result, or when giving up.
    pub(super) giving_up: Words,
    /// Questions at the end of a reply, and the user's answers.
    pub(super) asking: Exchanges,
    /// Texts that hold the word DONE and are not done.
    pub(super) not_done: Words,
    /// Polishing after the work is finished.
    pub(super) polish: &'static [Move],
}

impl Suite {
    pub(super) fn stage(self) -> &'static Stage {
        match self {
            Self::Code => &code::STAGE,
            Self::Service => &service::STAGE,
            Self::Research => &research::STAGE,
        }
    }
}
