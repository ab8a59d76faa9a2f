//! Compares a stop with the run's outcome: the verdict, and what the stop saved. This module reads runs and stops but
//! never rules, because a verdict that depends on the rule it judges proves nothing.

mod bounds;
mod kinds;
mod known;
mod ledger;

use serde::{Deserialize, Serialize};

use crate::replay::Replay;
use crate::transcript::{Checkpoint, Moment, Outcome, Point, Run, Secured};

pub use bounds::{Assumptions, Bounds, bounds};
pub use kinds::Verdict;
pub use known::{Doubts, Spent};
#[doc(hidden)]
pub use known::{Known, known};
pub use ledger::{Amounts, Ledger};

/// What is known of a run's success over time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Course {
    outcome: Outcome,
    secured: Secured,
    checkpoints: Vec<(Point, Checkpoint)>,
}

impl Course {
    /// Derives it from a run.
    pub fn from_run(run: &Run) -> Self {
        Self { outcome: run.grade.outcome, secured: run.secured(), checkpoints: run.checkpoints() }
    }

    /// The first point at which stopping would have kept the success.
    pub fn secured(&self) -> Secured {
        self.secured
    }

    /// True if the run has graded checkpoints.
    pub fn has_checkpoints(&self) -> bool {
        !self.checkpoints.is_empty()
    }

    /// Whether the state at `point` is known to be a success; `None` if unknown.
    ///
    /// A checkpoint grades the state at its point. Only tools change the state, so the grade holds until the reply of
    /// the next step and no further: between two checkpoints anything may have happened. With only a label, a
    /// successful run holds its success from the labelled step on.
    pub fn success_at(&self, point: Point) -> Option<bool> {
        if self.checkpoints.is_empty() {
            return match (self.secured, self.outcome) {
                (Secured::At(secured), Outcome::Success) => Some(point >= secured),
                _ => None,
            };
        }
        let (at, checkpoint) = self.last_graded(point)?;
        let next_tools = Point { step: at.step.saturating_add(1), moment: Moment::AfterTools };
        if point < next_tools { Some(checkpoint.success) } else { None }
    }

    /// The latest checkpoint at or before `point`.
    fn last_graded(&self, point: Point) -> Option<&(Point, Checkpoint)> {
        self.checkpoints.iter().rev().find(|(at, _)| *at <= point)
    }

    /// The first grade after `point`: that of a checkpoint, else the outcome.
    fn next_graded(&self, point: Point) -> Option<bool> {
        let next = self.checkpoints.iter().find(|(at, _)| *at > point);
        match next {
            Some((_, checkpoint)) => Some(checkpoint.success),
            None => self.outcome.grade(),
        }
    }

    /// True if the state was graded a success at or before `point`, even if it was lost later.
    pub fn ever_graded_success(&self, point: Point) -> bool {
        self.checkpoints.iter().any(|(at, checkpoint)| *at <= point && checkpoint.success)
    }

    /// True if the run ever held a success that a later failure took away.
    fn had_success(&self) -> bool {
        self.checkpoints.iter().any(|(_, checkpoint)| checkpoint.success) || matches!(self.secured, Secured::At(_))
    }

    /// The verdict on stopping at `stop`, or on not stopping. It is conservative by definition: stopping a recorded
    /// success early loses it, unless the state at the stop was graded a success or lies between two graded successes
    /// without a graded failure between them.
    pub fn verdict(&self, stop: Option<Point>) -> Verdict {
        let Some(stop) = stop else { return self.verdict_without_stop() };
        match self.outcome {
            Outcome::Unknown => Verdict::Unlabelled,
            Outcome::Success => match self.success_at(stop) {
                Some(true) => Verdict::GoodTrim,
                Some(false) => Verdict::FalseEarlyStop,
                None if self.is_bracketed(stop) => Verdict::GoodTrim,
                None => Verdict::UnverifiedFalseEarlyStop,
            },
            Outcome::Failure if self.success_at(stop) == Some(true) => Verdict::Rescued,
            Outcome::Failure => Verdict::TrueStop,
        }
    }

    /// True if `point` lies between two graded successes with no grade between them.
    fn is_bracketed(&self, point: Point) -> bool {
        let after_success = matches!(self.last_graded(point), Some((_, before)) if before.success);
        after_success && self.next_graded(point) == Some(true)
    }

    fn verdict_without_stop(&self) -> Verdict {
        match self.outcome {
            Outcome::Unknown => Verdict::Unlabelled,
            Outcome::Success => Verdict::CleanPass,
            Outcome::Failure if self.had_success() => Verdict::LostSuccess,
            Outcome::Failure => Verdict::MissedStop,
        }
    }
}

/// The judgement of one run: the verdict on the recorded path, what is known beyond it, and what the stop saved.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The verdict on the recorded path.
    pub verdict: Verdict,
    /// Bounds on the outcome under the strategy.
    pub outcome: Bounds,
    /// What is known of every quantity that is counted.
    pub known: Known,
    /// What the whole recording spent.
    pub recorded: Amounts,
    /// What was spent up to the stop on the recorded path; the whole recording if there was no stop.
    pub at_stop: Amounts,
    /// What the recording spent after its success was secured; `None` if there is no such point.
    pub after_secured: Option<Amounts>,
}

/// Judges one replayed run.
pub fn judge(course: &Course, ledger: &Ledger, replay: &Replay, assumptions: Assumptions) -> Judged {
    let point = replay.stop.as_ref().map(|stop| stop.point);
    let recorded = ledger.whole();
    Judged {
        verdict: course.verdict(point),
        outcome: bounds(course, replay, assumptions),
        known: known(course, ledger, replay),
        at_stop: ledger.paid_by(point),
        after_secured: match course.secured() {
            Secured::At(point) => Some(recorded.less(ledger.until(point))),
            _ => None,
        },
        recorded,
    }
}

/// The step of a secured point, for tables; `None` if no point is known.
pub fn secured_step(secured: Secured) -> Option<u32> {
    match secured {
        Secured::At(Point { step, moment }) => {
            debug_assert!(moment >= Moment::AfterResponse, "a success needs a reply");
            Some(step)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
