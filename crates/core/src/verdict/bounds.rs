//! What can be said of a run's outcome under a strategy that left the recorded path (STATISTICS 4.4).

use super::Course;
use crate::decision::Action;
use crate::replay::{Exactness, Stop};
use crate::transcript::Outcome;

/// Bounds on a run's success, 0 or 1 each, `low <= high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// At least this.
    pub low: bool,
    /// At most this.
    pub high: bool,
}

impl Bounds {
    /// Nothing is known.
    pub const OPEN: Self = Self { low: false, high: true };

    /// Known exactly.
    pub fn exactly(success: bool) -> Self {
        Self { low: success, high: success }
    }

    /// True when both bounds agree.
    pub fn is_exact(self) -> bool {
        self.low == self.high
    }
}

/// Assumptions that narrow the bounds. None is on by default; a report that used one says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {
    /// M1: a run that failed in the end held no success earlier.
    pub final_failure_had_no_success: bool,
    /// M2: continuing does not destroy a success.
    pub continuing_keeps_success: bool,
    /// The framework throws unfinished work away: a stopped run without a checkpoint has failed.
    pub stop_discards_work: bool,
}

impl Assumptions {
    /// The named assumptions that are on.
    pub fn names(self) -> Vec<&'static str> {
        [
            (self.final_failure_had_no_success, "m1"),
            (self.continuing_keeps_success, "m2"),
            (self.stop_discards_work, "stop-discards-work"),
        ]
        .into_iter()
        .filter_map(|(on, name)| on.then_some(name))
        .collect()
    }
}

/// Bounds on the outcome of one run under a strategy.
pub fn bounds(course: &Course, stop: Option<&Stop>, exactness: Exactness, assumptions: Assumptions) -> Bounds {
    if course.outcome == Outcome::Unknown && course.checkpoints.is_empty() {
        return Bounds::OPEN;
    }
    match (exactness, stop) {
        (Exactness::Diverged { .. }, _) => Bounds::OPEN,
        (_, Some(stop)) if stop.action == Action::ForceFinal => Bounds::OPEN,
        (_, Some(stop)) => stopped(course, stop, assumptions),
        (Exactness::Exact, None) => course.outcome.grade().map_or(Bounds::OPEN, Bounds::exactly),
        (Exactness::Censored { .. }, None) => extended(course.outcome, assumptions),
    }
}

/// A hard stop: the state at the stop is what would have been graded.
fn stopped(course: &Course, stop: &Stop, assumptions: Assumptions) -> Bounds {
    if let Some(success) = course.success_at(stop.point) {
        return Bounds::exactly(success);
    }
    let hopeless = match course.outcome {
        Outcome::Failure => assumptions.final_failure_had_no_success,
        _ => assumptions.stop_discards_work,
    };
    if hopeless { Bounds::exactly(false) } else { Bounds::OPEN }
}

/// The strategy would have gone on where the recording was cut off.
fn extended(outcome: Outcome, assumptions: Assumptions) -> Bounds {
    match outcome {
        Outcome::Success => Bounds { low: assumptions.continuing_keeps_success, high: true },
        _ => Bounds::OPEN,
    }
}
