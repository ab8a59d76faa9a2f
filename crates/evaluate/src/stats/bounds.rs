//! Means of outcomes known only within bounds: identified intervals, confidence intervals around them, tipping points.
//!
//! Manski (2003), Partial identification of probability distributions.

use super::cluster::ClusterSums;
use super::estimate::{Estimate, Method, free_ratio_estimate};
use super::interval::Interval;
use super::range::RangeEstimate;
use super::task_rate::task_rate;

/// What one task contributes to a mean whose numerators are known only within bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BoundSums {
    /// All numerators at their lower bound.
    pub low: ClusterSums,
    /// All numerators at their upper bound.
    pub high: ClusterSums,
}

impl BoundSums {
    /// Adds one run whose numerator lies in `bounds`; `denominator` is 1 for a mean.
    pub fn add(&mut self, bounds: Interval, denominator: f64) {
        self.low.add(bounds.low, denominator);
        self.high.add(bounds.high, denominator);
    }

    /// A task from its runs' bounds, each counting once.
    pub fn from_runs(runs: impl IntoIterator<Item = Interval>) -> Self {
        let mut sums = Self::default();
        for bounds in runs {
            sums.add(bounds, 1.0);
        }
        sums
    }
}

/// The mean over `tasks` of the mean of their runs, each in [0, 1] and known only within bounds.
///
/// The confidence interval runs from the lower limit of the lower mean to the upper limit of the upper mean, each by
/// [`task_rate()`]: with nothing unidentified it is the ordinary interval. It covers every mean the recordings
/// allow, so it is conservative for the true one.
///
/// Horowitz & Manski (2000), Nonparametric analysis of randomized experiments with missing covariate and outcome data.
pub fn bound_mean(tasks: &[BoundSums], level: f64) -> RangeEstimate {
    bounded(tasks, level, task_rate)
}

/// The mean over all runs of per-run [`difference_bounds`], which may have any sign, as [`bound_mean`]. Both ends have an
/// interval, or neither.
pub fn bound_difference(tasks: &[BoundSums], level: f64) -> RangeEstimate {
    let range = bounded(tasks, level, free_ratio_estimate);
    if range.interval().is_some() {
        return range;
    }
    let alone = |end: Estimate| Estimate { interval: None, method: end.method.min(Method::EstimateOnly), ..end };
    RangeEstimate { low: alone(range.low), high: alone(range.high) }
}

fn bounded(tasks: &[BoundSums], level: f64, estimate: fn(&[ClusterSums], f64) -> Estimate) -> RangeEstimate {
    let low: Vec<ClusterSums> = tasks.iter().map(|task| task.low).collect();
    let high: Vec<ClusterSums> = tasks.iter().map(|task| task.high).collect();
    RangeEstimate::by(Some(&low[..]), Some(&high[..]), |tasks| estimate(tasks, level))
}

/// The share of unidentified runs that would have to succeed for the strategy to break even with `baseline`:
/// `(baseline - low) / (high - low)`.
///
/// Below 0 the strategy is better than the baseline whatever happened; above 1 it is worse. `None` if the bounds
/// coincide.
pub fn tipping_point(bounds: Interval, baseline: f64) -> Option<f64> {
    let share = (baseline - bounds.low) / bounds.width();
    if share.is_finite() { Some(share) } else { None }
}

/// Bounds on one run's difference, first strategy minus second: exactly 0 where both acted `alike`.
pub fn difference_bounds(a: Interval, b: Interval, alike: bool) -> Interval {
    if alike { Interval { low: 0.0, high: 0.0 } } else { Interval { low: a.low - b.high, high: a.high - b.low } }
}

/// How strongly per-run difference bounds support "the first strategy is better than the second".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dominance {
    /// Not even on these runs: some completion of the unknown outcomes reverses the order.
    No,
    /// Better on these runs whatever the unknown outcomes were; new tasks may differ.
    OnTheseRuns,
    /// Better whatever the unknown outcomes were, and the lower confidence limit over tasks is above 0 too.
    Confident,
}

/// Whether the first strategy robustly dominates the second, from [`bound_difference`].
pub fn dominance(differences: &RangeEstimate) -> Dominance {
    match (differences.bounds(), differences.interval()) {
        (Some(bounds), Some(interval)) if bounds.low > 0.0 && interval.low > 0.0 => Dominance::Confident,
        (Some(bounds), _) if bounds.low > 0.0 => Dominance::OnTheseRuns,
        _ => Dominance::No,
    }
}
