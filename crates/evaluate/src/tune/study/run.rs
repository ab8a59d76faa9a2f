//! One run to tune on, and what a stop after each of its steps would do.

use super::readings::{EndIx, KeptReadings, Readings};
use crate::aggregate::{Ends, RecordedRun, RunEffect, Spending, Unit};
use crate::sweep::engine::{Extract, Plan};
use crate::transcript::{Moment, Outcome, Run};
use crate::tune::Family;
use crate::verdict::{Amounts, Assumptions, Doubts, Verdict};

/// One run to tune on: what the recording says about it, and the result of a stop after each step. It holds a few
/// kilobytes, whatever was recorded.
#[derive(Clone)]
pub struct StudyRun {
    facts: RecordedRun,
    whole: Amounts,
    /// By unit, what becomes of it without a stop.
    unstopped: [RunEffect; Unit::ALL.len()],
    /// One entry for each step after which a stop would be early, that is, before everything recorded has happened.
    ends: Vec<TrackEnd>,
    /// What the signals of the families read.
    readings: Readings,
}

/// A stop after the tools of one step.
#[derive(Clone, Copy, Debug)]
struct TrackEnd {
    /// Spent by then, by unit; NaN if the run does not record it.
    spent: [f64; Unit::ALL.len()],
    verdict: Verdict,
}

/// What becomes of a run under a rule or a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is not stopped early.
    Untouched,
    /// It is stopped early at this end.
    Stopped(EndIx),
    /// Some rule cannot be evaluated on it.
    Unread,
}

impl Fate {
    /// The fate of a run that is stopped early at `end`, if at all.
    pub fn from_end(end: Option<EndIx>) -> Self {
        match end {
            Some(end) => Self::Stopped(end),
            None => Self::Untouched,
        }
    }
}

impl StudyRun {
    /// What is needed of a run to tune limits of `families`; `plan` is as for [`Self::from_extract`].
    pub fn from_run(run: &Run, families: &[Family], plan: &Plan, kept: KeptReadings) -> Self {
        Self::from_extract(&Extract::from_run(run, plan, Assumptions::default()), families, plan, kept)
    }

    /// The same from what was extracted from the run. The extract must be made with `plan`, which contains
    /// [`Study::plan`](super::Study::plan) of them.
    pub fn from_extract(on: &Extract, families: &[Family], plan: &Plan, kept: KeptReadings) -> Self {
        let (ledger, course) = (on.shared().ledger(), on.shared().course());
        let mut ends: Vec<TrackEnd> = Vec::new();
        for point in on.early_points(Moment::AfterTools) {
            let by = ledger.until(point);
            let spent = Unit::ALL.map(|unit| unit.amount_in(by).unwrap_or(f64::NAN));
            ends.push(TrackEnd { spent, verdict: course.verdict(Some(point)) });
        }
        ends.shrink_to_fit();
        Self {
            facts: on.shared().facts().clone(),
            whole: ledger.whole(),
            unstopped: Unit::ALL.map(|unit| RunEffect::from_stop(on.shared(), None, unit)),
            ends,
            readings: Readings::from_extract(on, families, plan, kept),
        }
    }

    /// What the recording says about it.
    pub fn facts(&self) -> &RecordedRun {
        &self.facts
    }

    /// All that it spent.
    pub fn whole(&self) -> Amounts {
        self.whole
    }

    /// The recorded outcome.
    pub fn outcome(&self) -> Outcome {
        self.facts.outcome()
    }

    /// Total spent; `None` if the recording does not tell.
    pub fn recorded(&self, unit: Unit) -> Option<f64> {
        self.unstopped[unit as usize].spending.map(|whole| whole.recorded)
    }

    /// What the signals of the families read.
    pub(super) fn readings(&self) -> &Readings {
        &self.readings
    }

    /// Whether a stop at an end loses a recorded success.
    pub(in crate::tune) fn kills(&self, end: EndIx) -> bool {
        self.ends[end.at()].verdict.is_fes()
    }

    fn spent(&self, end: EndIx, unit: Unit) -> Option<f64> {
        Some(self.ends[end.at()].spent[unit as usize]).filter(|spent| !spent.is_nan())
    }

    /// Not spent because of a stop at an end.
    pub(in crate::tune) fn saved(&self, end: EndIx, unit: Unit) -> f64 {
        match (self.recorded(unit), self.spent(end, unit)) {
            (Some(recorded), Some(spent)) => (recorded - spent).max(0.0),
            _ => 0.0,
        }
    }

    /// Model calls paid for at an end.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of steps")]
    pub(in crate::tune) fn steps_paid(&self, end: EndIx) -> u64 {
        self.ends[end.at()].spent[Unit::Steps as usize] as u64
    }

    /// The last end; `None` if no stop would be early.
    pub(in crate::tune) fn last_end(&self) -> Option<EndIx> {
        self.ends.len().checked_sub(1).map(EndIx::new)
    }

    /// What a stop at an end does, or no stop: the same as [`RunEffect::from_stop`].
    pub(in crate::tune) fn effect(&self, stop: Option<EndIx>, unit: Unit) -> RunEffect {
        let unstopped = self.unstopped[unit as usize];
        let Some(end) = stop else { return unstopped };
        let spending = match (unstopped.spending, self.spent(end, unit)) {
            (Some(whole), Some(spent)) => Some(Spending { least_spent: spent, most_spent: Some(spent), ..whole }),
            _ => None,
        };
        RunEffect::new(self.outcome(), self.ends[end.at()].verdict, true, spending)
    }

    /// What a strategy does that cannot be read on the run: it may have lost the success, and spends everything.
    pub(in crate::tune) fn unread_effect(&self, is_lost: bool, unit: Unit) -> RunEffect {
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
            spending: self.unstopped[unit as usize].spending.map(|whole| Spending { possible: None, ..whole }),
        }
    }
}
