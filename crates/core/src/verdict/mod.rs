//! Stop against outcome: the verdict, and what it saved. It reads runs and stops, never a rule: a judge
//! that reads the rule it judges proves nothing.

mod bounds;
mod ledger;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::replay::{Exactness, Stop};
use crate::transcript::{Checkpoint, Moment, Outcome, Point, Run, Secured};

pub use bounds::{Assumptions, Bounds, bounds};
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
    /// The outcome is unknown: counts in savings, not in rates.
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
#[derive(Clone, Debug)]
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

    /// Would the state at `point` have been graded a success? `None` when nothing tells.
    ///
    /// With checkpoints, the latest one at or before the point decides, and a state before the first
    /// is no success. With a label only, a successful run holds its success from that step on.
    pub fn success_at(&self, point: Point) -> Option<bool> {
        if !self.checkpoints.is_empty() {
            let latest = self.checkpoints.iter().rev().find(|(at, _)| *at <= point);
            return Some(latest.is_some_and(|(_, checkpoint)| checkpoint.success));
        }
        match (self.secured, self.outcome) {
            (Secured::At(secured), Outcome::Success) => Some(point >= secured),
            _ => None,
        }
    }

    /// The verdict on stopping at `stop`, or on not stopping.
    pub fn verdict(&self, stop: Option<Point>) -> Verdict {
        let Some(stop) = stop else { return self.verdict_without_stop() };
        match (self.outcome, self.secured) {
            (Outcome::Unknown, _) => Verdict::Unlabelled,
            (Outcome::Success, Secured::At(secured)) if stop >= secured => Verdict::GoodTrim,
            (Outcome::Success, Secured::At(_)) => Verdict::FalseEarlyStop,
            (Outcome::Success, _) => Verdict::UnverifiedFalseEarlyStop,
            (Outcome::Failure, Secured::At(_)) if self.success_at(stop) == Some(true) => Verdict::Rescued,
            (Outcome::Failure, _) => Verdict::TrueStop,
        }
    }

    fn verdict_without_stop(&self) -> Verdict {
        match (self.outcome, self.secured) {
            (Outcome::Unknown, _) => Verdict::Unlabelled,
            (Outcome::Success, _) => Verdict::CleanPass,
            (Outcome::Failure, Secured::At(_)) => Verdict::LostSuccess,
            (Outcome::Failure, _) => Verdict::MissedStop,
        }
    }
}

/// A judged run: verdict, bounds on the outcome, and what the stop did to the bill.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The verdict on the recorded path.
    pub verdict: Verdict,
    /// Bounds on the outcome under the strategy.
    pub outcome: Bounds,
    /// The whole recording.
    pub recorded: Amounts,
    /// Up to the stop; the whole recording when there was none.
    pub at_stop: Amounts,
    /// What the recording spent after its success was secured; `None` when there is no such point.
    pub after_secured: Option<Amounts>,
}

/// Judges one replayed run.
pub fn judge(
    course: &Course,
    ledger: &Ledger,
    stop: Option<&Stop>,
    exactness: Exactness,
    assumptions: Assumptions,
) -> Judged {
    let point = stop.map(|stop| stop.point);
    let recorded = ledger.whole();
    let secured = match course.secured() {
        Secured::At(point) => Some(point),
        _ => None,
    };
    Judged {
        verdict: course.verdict(point),
        outcome: bounds(course, stop, exactness, assumptions),
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
