//! Whether what was predicted of a limit came true when it was in force.

use crate::against::{NotComparable, PredictionCheck};
use crate::aggregate::{Label, Unit};
use crate::stack::ToldLimit;

/// The answer: a line for each stack and class.
#[derive(Clone, Debug)]
pub struct AgainstAnswer {
    /// The lines, by stack in the order named; all runs first, then each class.
    pub lines: Vec<AgainstLine>,
    /// Runs that nobody graded, before and after: they are left out.
    pub ungraded: [usize; 2],
}

/// What came of one stack's prediction, for all runs or for those of a class.
#[derive(Clone, Debug)]
pub struct AgainstLine {
    /// The stack.
    pub stack: Label,
    /// The class; `None` for all runs.
    pub class: Option<Label>,
    /// The limit, if the stack says that the agent is told of it.
    pub told: Option<ToldLimit>,
    /// The largest error that counts as none, as a share of the successes.
    pub margin: f64,
    /// What the cost of a success is counted in.
    pub unit: Unit,
    /// Runs of which a rule could not be read, before and after: they are left out.
    pub unread: [usize; 2],
    /// What was found, or why nothing could be.
    pub result: Result<PredictionCheck, WhyNotCompared>,
}

/// Why a prediction cannot be held against what was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyNotCompared {
    /// The agent is told of the limit, and nothing says when.
    NoticeUnknown,
    /// The two sets of recordings are not comparable.
    Recordings(NotComparable),
}

impl AgainstAnswer {
    /// True if no line has an answer about the limit: all are refused, or the limit was not in force.
    pub fn is_empty(&self) -> bool {
        !self.lines.iter().any(AgainstLine::is_measured)
    }
}

impl AgainstLine {
    fn is_measured(&self) -> bool {
        use crate::against::CheckVerdict;
        matches!(&self.result, Ok(check) if check.verdict != CheckVerdict::NotInForce)
    }
}
