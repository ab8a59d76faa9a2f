//! What a stack does to a run: the one projection of a row, and of a stop, that every number of a stack is summed from.

use super::{RowView, RunRows, Unit};
use crate::transcript::{Outcome, Point, Secured};
use crate::verdict::{Doubts, Verdict};

/// The lowest and the highest value of what may not be known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends<T> {
    /// The lowest.
    pub low: T,
    /// The highest.
    pub high: T,
}

impl<T: Copy + PartialEq> Ends<T> {
    /// A known value.
    pub fn exactly(value: T) -> Self {
        Self { low: value, high: value }
    }

    /// True if both are the same.
    pub fn is_exact(&self) -> bool {
        self.low == self.high
    }
}

/// What a stack does to one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunEffect {
    /// The recorded outcome.
    pub outcome: Outcome,
    /// Why something is unknown.
    pub doubts: Doubts,
    /// Whether it ended the run early.
    pub stopped: Ends<bool>,
    /// Whether a success was lost. Of a run without an outcome: whether it would be lost if it were a success.
    pub killed: Ends<bool>,
    /// Whether the run is a success in the end, kept or rescued by the stop.
    pub kept: Ends<bool>,
    /// What was spent, in one unit; `None` if the recording does not tell.
    pub spending: Option<Spending>,
}

/// What one run spends, in one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spending {
    /// The whole recording.
    pub recorded: f64,
    /// Spent under the stack, at least.
    pub least_spent: f64,
    /// Spent under the stack, at most; `None` if nothing limits it, because any amount may follow a warning.
    pub most_spent: Option<f64>,
    /// What an oracle would save: all of a failure, and everything after a success was secured. `None` if the recording
    /// does not tell what came after.
    pub possible: Option<f64>,
}

/// What is not spent, in one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saving {
    /// At least; `None` if nothing limits what is spent.
    pub least: Option<f64>,
    /// At most.
    pub most: f64,
}

impl Spending {
    /// Recorded less spent.
    pub fn saving(&self) -> Saving {
        Saving { least: self.most_spent.map(|spent| self.recorded - spent), most: self.recorded - self.least_spent }
    }

    fn is_exact(&self) -> bool {
        self.most_spent == Some(self.least_spent)
    }
}

impl RunEffect {
    /// What a row says.
    pub fn from_row(row: RowView<'_>, unit: Unit) -> Self {
        let killed = Ends { low: row.killed_low() == 1, high: row.killed_high() == 1 };
        let rescued = row.verdict() == Verdict::Rescued;
        let kept = match row.outcome() {
            Outcome::Success => Ends { low: !killed.high, high: !killed.low },
            Outcome::Failure => Ends { low: rescued && row.unknown().is_none(), high: rescued },
            Outcome::Unknown => Ends { low: false, high: true },
        };
        let possible = |recorded| match row.outcome() {
            Outcome::Success => unit.after_success(row),
            _ => Some(recorded),
        };
        let spending = match (unit.recorded(row), unit.spent_range(row)) {
            (Some(recorded), Some((least_spent, most_spent))) => {
                Some(Spending { recorded, least_spent, most_spent, possible: possible(recorded) })
            }
            _ => None,
        };
        Self {
            outcome: row.outcome(),
            doubts: row.unknown(),
            stopped: Ends { low: row.stopped_low() == 1, high: row.stopped_high() == 1 },
            killed,
            kept,
            spending,
        }
    }

    /// What becomes of the run of a row without any stack.
    pub fn unstopped(row: RowView<'_>, unit: Unit) -> Self {
        let verdict = if row.outcome() == Outcome::Success { Verdict::CleanPass } else { Verdict::MissedStop };
        let spending = unit.recorded(row).map(|recorded| Spending {
            recorded,
            least_spent: recorded,
            most_spent: Some(recorded),
            possible: None,
        });
        Self::new(row.outcome(), verdict, false, spending)
    }

    /// What an early stop at that point does, or no stop.
    pub fn from_stop(run: &RunRows, stop: Option<Point>, unit: Unit) -> Self {
        let (outcome, course, ledger) = (run.facts().outcome(), run.course(), run.ledger());
        let by = |point: Point| unit.amount_in(ledger.until(point));
        let Some(recorded) = unit.amount_in(ledger.whole()) else {
            return Self::new(outcome, course.verdict(stop), stop.is_some(), None);
        };
        let after_success = match course.secured() {
            Secured::At(point) => by(point).map(|spent| recorded - spent),
            _ => Some(0.0),
        };
        let possible = if outcome == Outcome::Success { after_success } else { Some(recorded) };
        let spent = match stop {
            Some(point) => by(point),
            None => Some(recorded),
        };
        let spending = spent.map(|spent| Spending { recorded, least_spent: spent, most_spent: Some(spent), possible });
        Self::new(outcome, course.verdict(stop), stop.is_some(), spending)
    }

    /// From the verdict on a stop, or on no stop.
    pub(crate) fn new(outcome: Outcome, verdict: Verdict, is_stopped: bool, spending: Option<Spending>) -> Self {
        let is_graded = outcome != Outcome::Unknown;
        Self {
            outcome,
            doubts: Doubts { unlabelled: !is_graded, ..Doubts::default() },
            stopped: Ends::exactly(is_stopped),
            killed: if is_graded { Ends::exactly(verdict.is_fes()) } else { Ends { low: false, high: is_stopped } },
            kept: if is_graded { Ends::exactly(verdict.keeps_success()) } else { Ends { low: false, high: true } },
            spending,
        }
    }

    /// True if the run may be counted in a rate: nothing about the recording is unknown.
    pub fn is_judged(&self) -> bool {
        !self.doubts.come_from_recording()
    }

    /// True if everything recorded is known, and what is spent after a warning, if there was one, is limited: the worst
    /// case is then a number.
    pub(super) fn is_bounded(&self) -> bool {
        let is_limited = self.spending.is_some_and(|spending| spending.most_spent.is_some());
        self.is_judged() && (is_limited || !self.doubts.diverged)
    }

    /// Whether the run is a success that may be killed. One without an outcome is where that makes the killed share higher
    /// (it may have been killed), and where it makes it lower.
    pub(super) fn success(&self) -> Ends<bool> {
        match self.outcome {
            Outcome::Success => Ends::exactly(true),
            Outcome::Failure => Ends::exactly(false),
            Outcome::Unknown => Ends { low: true, high: self.killed.high },
        }
    }

    /// True for a graded success.
    pub fn is_success(&self) -> bool {
        self.outcome == Outcome::Success
    }

    /// What was saved on a failure or after a success; what a killed success would still have spent is not a saving.
    /// `None` for a run that is left out: one that is not judged, or without a recorded amount.
    pub fn useful(&self) -> Option<Saving> {
        if !self.is_judged() {
            return None;
        }
        let saving = self.spending?.saving();
        Some(match (self.is_success(), self.killed) {
            (true, Ends { low: true, .. }) => Saving { least: Some(0.0), most: 0.0 },
            (true, Ends { high: true, .. }) => saving.with_nothing(),
            _ => saving,
        })
    }

    /// True if what the run spends and whether it is a success in the end are known.
    pub(super) fn is_exact(&self) -> bool {
        self.kept.is_exact() && self.spending.is_none_or(|spending| spending.is_exact())
    }
}

impl Saving {
    /// The same where nothing may have been saved, either.
    pub(super) fn with_nothing(self) -> Self {
        Self { least: self.least.map(|least| least.min(0.0)), most: self.most.max(0.0) }
    }
}

/// Killed, 0 or 1, over 1, every unknown at its worst; `None` for a run that is no judged success.
pub fn killed_parts(effect: &RunEffect) -> Option<(f64, f64)> {
    let counts = effect.is_judged() && effect.is_success();
    if counts { Some((f64::from(u8::from(effect.killed.high)), 1.0)) } else { None }
}

/// Usefully saved over recorded, every unknown at its worst; `None` if the recording does not tell or nothing limits what
/// is spent.
pub fn useful_parts(effect: &RunEffect) -> Option<(f64, f64)> {
    Some((effect.useful()?.least?, effect.spending?.recorded))
}
