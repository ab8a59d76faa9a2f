//! What can be said of success under a stack: bounds, never an invented number.

use std::collections::BTreeMap;

use super::{Group, LEVEL, Row};
use crate::stats::interval::Interval;
use crate::stats::{BoundEstimate, BoundSums, bound_mean};
use crate::transcript::Outcome;

/// Bounds on success under one stack (STATISTICS 4.4).
#[derive(Clone, Debug)]
pub struct OutcomeBounds {
    /// Success over all runs; an unlabelled run may be either.
    pub success: BoundEstimate,
    /// Success over the runs that succeeded as recorded: how many are kept.
    pub retained: BoundEstimate,
    /// The recorded share of successes among the runs of known outcome.
    pub recorded: Option<f64>,
    /// The share of the unidentified runs that must succeed for the stack to break even with the recording.
    /// `None` when nothing is unidentified or no run is labelled.
    pub tipping_point: Option<f64>,
}

impl OutcomeBounds {
    /// Computes them.
    pub fn of(group: &Group<'_>) -> Self {
        let success = bounded(group, |_| true);
        let graded = |outcome: Outcome| group.rows.iter().filter(|row| row.outcome == outcome).count() as f64;
        let (successes, failures) = (graded(Outcome::Success), graded(Outcome::Failure));
        let baseline = (successes + failures > 0.0).then(|| successes / (successes + failures));
        Self {
            recorded: baseline,
            tipping_point: baseline.and_then(|baseline| success.tipping_point(baseline)),
            retained: bounded(group, |row| row.outcome == Outcome::Success),
            success,
        }
    }
}

fn bounded(group: &Group<'_>, population: impl Fn(&Row) -> bool) -> BoundEstimate {
    let mut tasks: BTreeMap<(&str, &str), BoundSums> = BTreeMap::new();
    for row in group.rows.iter().filter(|row| population(row)) {
        tasks.entry(row.cluster()).or_default().add(interval_of(row), 1.0);
    }
    bound_mean(&tasks.into_values().collect::<Vec<_>>(), LEVEL)
}

/// The bounds of one row.
pub(super) fn interval_of(row: &Row) -> Interval {
    Interval { low: f64::from(row.outcome_low), high: f64::from(row.outcome_high) }
}
