//! Stop against outcome: the verdict, and what it saved. It reads runs and stops, never a rule: a judge
//! that reads the rule it judges proves nothing.

mod bounds;
mod followed;
mod known;
mod ledger;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::replay::Replay;
use crate::transcript::{Checkpoint, Moment, Outcome, Point, Run, Secured};

pub use bounds::{Assumptions, Bounds, bounds};
pub use followed::{Bound, Followed, TailTokens, Work};
pub use known::{Doubts, Spent};
#[doc(hidden)]
pub use known::{Known, known};
pub use ledger::{Amounts, Ledger};

/// What a stop (or its absence) did to a run: exclusive and exhaustive (STATISTICS 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Stopped before the success was secured: the success is lost.
    #[serde(rename = "fes")]
    FalseEarlyStop,
    /// Stopped a success of which nothing tells when it was secured; counted as lost, and apart.
    #[serde(rename = "fes_unverified")]
    UnverifiedFalseEarlyStop,
    /// Stopped after the success was secured: the rest was saved.
    GoodTrim,
    /// Stopped a run that fails.
    TrueStop,
    /// Stopped while the success held that the run later lost.
    Rescued,
    /// Let a run go on that fails.
    MissedStop,
    /// Let a run go on that had a success and lost it.
    LostSuccess,
    /// Let a success be.
    CleanPass,
    /// The outcome is unknown: in no rate and no sum that needs one.
    Unlabelled,
}

impl Verdict {
    /// All verdicts in table order.
    pub const ALL: [Self; 9] = [
        Self::FalseEarlyStop,
        Self::UnverifiedFalseEarlyStop,
        Self::GoodTrim,
        Self::TrueStop,
        Self::Rescued,
        Self::MissedStop,
        Self::LostSuccess,
        Self::CleanPass,
        Self::Unlabelled,
    ];

    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::FalseEarlyStop => "fes",
            Self::UnverifiedFalseEarlyStop => "fes_unverified",
            Self::GoodTrim => "good_trim",
            Self::TrueStop => "true_stop",
            Self::Rescued => "rescued",
            Self::MissedStop => "missed_stop",
            Self::LostSuccess => "lost_success",
            Self::CleanPass => "clean_pass",
            Self::Unlabelled => "unlabelled",
        }
    }

    /// A success that the stop left in place or brought back.
    pub fn keeps_success(self) -> bool {
        matches!(self, Self::GoodTrim | Self::CleanPass | Self::Rescued)
    }

    /// A false early stop, verified or not.
    pub fn is_fes(self) -> bool {
        matches!(self, Self::FalseEarlyStop | Self::UnverifiedFalseEarlyStop)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Verdict {
    type Err = ();
    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name).ok_or(())
    }
}

/// What is known of a run's success over its course.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Course {
    outcome: Outcome,
    secured: Secured,
    checkpoints: Vec<(Point, Checkpoint)>,
}

impl Course {
    /// Reads it off a run.
    pub fn of(run: &Run) -> Self {
        Self { outcome: run.grade.outcome, secured: run.secured(), checkpoints: run.checkpoints() }
    }

    /// The first point at which stopping would have kept the success.
    pub fn secured(&self) -> Secured {
        self.secured
    }

    /// Was its state graded along the way?
    pub fn has_checkpoints(&self) -> bool {
        !self.checkpoints.is_empty()
    }

    /// Was the state at `point` graded, and a success? `None` when nothing tells.
    ///
    /// A checkpoint grades the state at its point. Only tools change the state, so the grade holds from there to the
    /// reply of the next step, and no further: between two checkpoints anything may have happened. With a label only,
    /// a successful run holds its success from that step on.
    pub fn success_at(&self, point: Point) -> Option<bool> {
        if self.checkpoints.is_empty() {
            return match (self.secured, self.outcome) {
                (Secured::At(secured), Outcome::Success) => Some(point >= secured),
                _ => None,
            };
        }
        let (at, checkpoint) = self.last_graded(point)?;
        let next_tools = Point { step: at.step.saturating_add(1), moment: Moment::AfterTools };
        (point < next_tools).then_some(checkpoint.success)
    }

    /// The latest checkpoint at or before `point`.
    fn last_graded(&self, point: Point) -> Option<&(Point, Checkpoint)> {
        self.checkpoints.iter().rev().find(|(at, _)| *at <= point)
    }

    /// The first grade after `point`: a checkpoint, else the outcome.
    fn next_graded(&self, point: Point) -> Option<bool> {
        let next = self.checkpoints.iter().find(|(at, _)| *at > point);
        next.map_or_else(|| self.outcome.grade(), |(_, checkpoint)| Some(checkpoint.success))
    }

    /// Was the state graded a success at or before `point`, whatever became of it?
    pub fn ever_graded_success(&self, point: Point) -> bool {
        self.checkpoints.iter().any(|(at, checkpoint)| *at <= point && checkpoint.success)
    }

    /// Did the run hold a success at any time that a later failure took away?
    fn had_success(&self) -> bool {
        self.checkpoints.iter().any(|(_, checkpoint)| checkpoint.success) || matches!(self.secured, Secured::At(_))
    }

    /// The verdict on stopping at `stop`, or on not stopping. A definition, on the careful side: a recorded success that
    /// is stopped early is killed unless the state at the stop was graded a success, or lies between two graded
    /// successes without a graded failure between them.
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

    /// Does `point` lie between two graded successes, with nothing graded between them?
    fn is_bracketed(&self, point: Point) -> bool {
        self.last_graded(point).is_some_and(|(_, before)| before.success) && self.next_graded(point) == Some(true)
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

/// A judged run: the verdict on the recorded path, what is known beyond it, and what the stop did to the bill.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The verdict on the recorded path.
    pub verdict: Verdict,
    /// Bounds on the outcome under the strategy.
    pub outcome: Bounds,
    /// What is known of everything that is counted.
    pub known: Known,
    /// The whole recording.
    pub recorded: Amounts,
    /// Up to the stop on the recorded path; the whole recording when there was none.
    pub at_stop: Amounts,
    /// What the recording spent after its success was secured; `None` when there is no such point.
    pub after_secured: Option<Amounts>,
}

/// Judges one replayed run.
pub fn judge(course: &Course, ledger: &Ledger, replay: &Replay, assumptions: Assumptions) -> Judged {
    let point = replay.stop.as_ref().map(|stop| stop.point);
    let recorded = ledger.whole();
    let secured = match course.secured() {
        Secured::At(point) => Some(point),
        _ => None,
    };
    Judged {
        verdict: course.verdict(point),
        outcome: bounds(course, replay, assumptions),
        known: known(course, ledger, replay),
        at_stop: point.map_or(recorded, |point| ledger.until(point)),
        after_secured: secured.map(|point| recorded.less(ledger.until(point))),
        recorded,
    }
}

/// The step a secured point belongs to, for tables.
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
