//! Bounds on success under a stack; what the recording cannot tell stays a range and is never filled in.

use super::estimates::share;
use super::tasks::Tasks;
use super::{Group, RowView};
use crate::stats::bounds::tipping_point;
use crate::stats::interval::Interval;
use crate::stats::{BoundSums, RangeEstimate, bound_mean};
use crate::transcript::Outcome;

/// Bounds on success under one stack.
#[derive(Clone, Debug)]
pub struct OutcomeBounds {
    /// Success rate, a mean over tasks: over all runs; an unlabelled run may be either.
    pub success: RangeEstimate,
    /// Success rate over the runs that succeeded as recorded: the share that is kept.
    pub retained: RangeEstimate,
    /// The recorded success rate, over the runs of known outcome.
    pub recorded: Option<f64>,
    /// The share of the unidentified runs that must succeed for the stack to break even with the recording.
    /// `None` when nothing is unidentified, no run is labelled, or the stack never acts.
    pub tipping_point: Option<f64>,
}

impl OutcomeBounds {
    /// Computes the bounds and the tipping point.
    pub(super) fn from_group(group: &Group<'_>, tasks: &Tasks, level: f64) -> Self {
        let success = bounded(group, tasks, |_| true, level);
        let is_graded = |row: RowView<'_>| row.outcome() != Outcome::Unknown;
        let recorded = share(group, tasks, is_graded, |row| row.outcome() == Outcome::Success, level).value;
        // For a stack that never acts, whatever is unknown about it is unknown about the recording too, so there is no
        // tipping point.
        let acts = group.rows().any(|row| row.stopped_high() == 1 || row.unknown().diverged);
        Self {
            recorded,
            tipping_point: if acts { tipping(group) } else { None },
            retained: bounded(group, tasks, |row| row.outcome() == Outcome::Success, level),
            success,
        }
    }
}

/// The tipping point of all runs together: as many successes as recorded.
fn tipping(group: &Group<'_>) -> Option<f64> {
    let (mut graded, mut successes, mut n) = (0.0, 0.0, 0.0);
    let mut kept = Interval { low: 0.0, high: 0.0 };
    for row in group.rows() {
        graded += f64::from(u8::from(row.outcome() != Outcome::Unknown));
        successes += f64::from(u8::from(row.outcome() == Outcome::Success));
        kept.low += f64::from(row.outcome_low());
        kept.high += f64::from(row.outcome_high());
        n += 1.0;
    }
    tipping_point(Interval { low: kept.low / n, high: kept.high / n }, successes / graded)
}

fn bounded(group: &Group<'_>, tasks: &Tasks, population: impl Fn(RowView<'_>) -> bool, level: f64) -> RangeEstimate {
    let interval = |row: RowView<'_>| if population(row) { Some(interval_of(row)) } else { None };
    let sums: Vec<BoundSums> = tasks.sums(group, interval, |sums: &mut BoundSums, interval| sums.add(interval, 1.0));
    bound_mean(&sums, level)
}

/// Bounds on the outcome of one row.
pub(super) fn interval_of(row: RowView<'_>) -> Interval {
    Interval { low: f64::from(row.outcome_low()), high: f64::from(row.outcome_high()) }
}
