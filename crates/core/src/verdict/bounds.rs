//! Bounds on a run's outcome under a strategy that left the recorded path.

use super::Course;
use crate::decision::Action;
use crate::replay::{Exactness, Replay, Stop};
use crate::transcript::Outcome;

/// Bounds on a run's success: `low <= high`, with `true` for success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// True if the run certainly succeeds.
    pub low: bool,
    /// True if the run may succeed.
    pub high: bool,
}

impl Bounds {
    /// Nothing is known.
    pub const OPEN: Self = Self { low: false, high: true };

    /// A known outcome.
    pub fn exactly(success: bool) -> Self {
        Self { low: success, high: success }
    }

    /// True when both bounds agree.
    pub fn is_exact(self) -> bool {
        self.low == self.high
    }
}

/// Assumptions that narrow the bounds. All are off by default; a report names the ones it used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {
    /// M1: a run that failed in the end had no success earlier.
    pub final_failure_had_no_success: bool,
    /// M2: continuing never destroys a success.
    pub continuing_keeps_success: bool,
    /// The framework discards unfinished work: a stopped run without a checkpoint failed.
    pub stop_discards_work: bool,
}

impl Assumptions {
    /// The names of the assumptions that are on.
    pub fn names(self) -> Vec<&'static str> {
        let named = [
            (self.final_failure_had_no_success, "m1"),
            (self.continuing_keeps_success, "m2"),
            (self.stop_discards_work, "stop-discards-work"),
        ];
        named.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect()
    }
}

/// Bounds on the outcome of one run under a strategy. If a rule could not be evaluated, it might have stopped the run
/// at any earlier point, so only what holds for every stop is known.
pub fn bounds(course: &Course, replay: &Replay, assumptions: Assumptions) -> Bounds {
    if !replay.not_evaluable.is_empty() {
        let hopeless = course.outcome == Outcome::Failure && assumptions.final_failure_had_no_success;
        return if hopeless && !course.had_success() { Bounds::exactly(false) } else { Bounds::OPEN };
    }
    match (replay.exactness, &replay.stop) {
        (Exactness::Diverged { .. }, _) => Bounds::OPEN,
        (_, Some(stop)) if stop.action == Action::ForceFinal => Bounds::OPEN,
        (_, Some(stop)) => stopped(course, stop, assumptions),
        (Exactness::Exact, None) => course.outcome.grade().map_or(Bounds::OPEN, Bounds::exactly),
        (Exactness::Censored { .. }, None) => extended(course.outcome, assumptions),
    }
}

/// For a hard stop, the state at the stop is what would have been graded.
fn stopped(course: &Course, stop: &Stop, assumptions: Assumptions) -> Bounds {
    if let Some(success) = course.success_at(stop.point) {
        return Bounds::exactly(success);
    }
    if assumptions.continuing_keeps_success {
        // A success graded earlier still holds. A success at the stop would still hold at the next grade, so a failure
        // there rules it out.
        if course.ever_graded_success(stop.point) {
            return Bounds::exactly(true);
        }
        if course.next_graded(stop.point) == Some(false) {
            return Bounds::exactly(false);
        }
    }
    let failed_for_good =
        assumptions.final_failure_had_no_success && course.outcome == Outcome::Failure && !course.had_success();
    if failed_for_good || assumptions.stop_discards_work { Bounds::exactly(false) } else { Bounds::OPEN }
}

/// The strategy would have continued where the recording was cut off.
fn extended(outcome: Outcome, assumptions: Assumptions) -> Bounds {
    match outcome {
        Outcome::Success => Bounds { low: assumptions.continuing_keeps_success, high: true },
        _ => Bounds::OPEN,
    }
}
