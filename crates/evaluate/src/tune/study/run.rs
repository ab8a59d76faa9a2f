//! One run to tune on, and what a stop after each of its steps would do.

use crate::aggregate::{Ends, RunEffect, Spending, Unit};
use crate::sweep::engine::Extract;
use crate::transcript::{Moment, Outcome, Point};
use crate::verdict::{Doubts, Verdict};

/// An end of a run: the index of a step after which a stop would be early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tune) struct EndIx(u32);

impl EndIx {
    /// The end after the step with that index.
    pub(in crate::tune) fn new(at: usize) -> Self {
        Self(u32::try_from(at).expect("a run has fewer than 2^32 steps"))
    }

    fn at(self) -> usize {
        self.0 as usize
    }
}

/// One run to tune on: what the engine reads of it, and the result of a stop after each step.
pub struct StudyRun {
    pub(super) on: Extract,
    /// One entry for each step after which a stop would be early, that is, before everything recorded has happened.
    ends: Vec<TrackEnd>,
    /// What it spends without a stop; `None` if it does not record it.
    whole: Option<Spending>,
}

/// A stop after the tools of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TrackEnd {
    point: Point,
    /// Model calls paid for by then.
    steps: u64,
    /// Spent by then; `None` if the run does not record it.
    spent: Option<f64>,
    verdict: Verdict,
}

/// What becomes of a run under a rule or a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is not stopped early.
    Untouched,
    /// It is stopped early at this point.
    Stopped(Point),
    /// Some rule cannot be evaluated on it.
    Unread,
}

impl StudyRun {
    pub(super) fn new(on: Extract, unit: Unit) -> Self {
        let ledger = on.shared().ledger();
        let end = |point: Point| {
            let by = ledger.until(point);
            TrackEnd {
                point,
                steps: by.steps,
                spent: unit.of_amounts(by),
                verdict: on.shared().course().verdict(Some(point)),
            }
        };
        let ends = on.early_points(Moment::AfterTools).map(end).collect();
        Self { ends, whole: RunEffect::from_stop(on.shared(), None, unit).spending, on }
    }

    /// What the engine reads of it.
    pub fn extract(&self) -> &Extract {
        &self.on
    }

    /// The recorded outcome.
    pub fn outcome(&self) -> Outcome {
        self.on.shared().outcome()
    }

    /// Total spent, in the study's unit; `None` if the recording does not tell.
    pub fn recorded(&self) -> Option<f64> {
        self.whole.map(|whole| whole.recorded)
    }

    /// Whether a stop at an end loses a recorded success.
    pub(in crate::tune) fn kills(&self, end: EndIx) -> bool {
        self.ends[end.at()].verdict.is_fes()
    }

    /// Not spent because of a stop at an end.
    pub(in crate::tune) fn saved(&self, end: EndIx) -> f64 {
        let spent = self.ends[end.at()].spent;
        match (self.whole, spent) {
            (Some(whole), Some(spent)) => (whole.recorded - spent).max(0.0),
            _ => 0.0,
        }
    }

    /// Model calls paid for at an end.
    pub(in crate::tune) fn steps_paid(&self, end: EndIx) -> u64 {
        self.ends[end.at()].steps
    }

    /// The last end; `None` if no stop would be early.
    pub(in crate::tune) fn last_end(&self) -> Option<EndIx> {
        self.ends.len().checked_sub(1).map(EndIx::new)
    }

    /// Where it would be stopped at an end.
    pub(super) fn point_at(&self, end: EndIx) -> Point {
        self.ends[end.at()].point
    }

    /// The same as [`RunEffect::from_stop`], looked up where the stop is after the tools.
    pub(in crate::tune) fn effect(&self, stop: Option<Point>, unit: Unit) -> RunEffect {
        let known = stop.and_then(|stop| self.ends.binary_search_by_key(&stop, |end| end.point).ok());
        let Some(known) = known else { return RunEffect::from_stop(self.on.shared(), stop, unit) };
        let TrackEnd { spent, verdict, .. } = self.ends[known];
        let spending = match (self.whole, spent) {
            (Some(whole), Some(spent)) => Some(Spending { least_spent: spent, most_spent: Some(spent), ..whole }),
            _ => None,
        };
        RunEffect::new(self.outcome(), verdict, true, spending)
    }

    /// What a strategy does that cannot be read on the run: it may have lost the success, and spends everything.
    pub(in crate::tune) fn unread_effect(&self, is_lost: bool) -> RunEffect {
        let is_kept = self.outcome() == Outcome::Success && !is_lost;
        let may_be_stopped = self.last_end().is_some();
        let killed = match self.outcome() {
            Outcome::Unknown => Ends { low: false, high: may_be_stopped },
            Outcome::Success | Outcome::Failure => Ends::exactly(is_lost),
        };
        RunEffect {
            outcome: self.outcome(),
            doubts: Doubts { unread: true, unlabelled: self.outcome() == Outcome::Unknown, diverged: false },
            stopped: Ends { low: false, high: may_be_stopped },
            killed,
            kept: Ends::exactly(is_kept),
            spending: self.whole.map(|whole| Spending { possible: None, ..whole }),
        }
    }
}
