//! The interval of what is lost of all successes together, for numbers that are no mean over tasks: what a success costs,
//! what stopping is worth a run, and rates from labels that err.
//!
//! Other intervals were tried. Of the cost of a success they make one that is as sure and wider: exact bounds with each task
//! weighted by its runs ([`gaffke`](super::gaffke)) 1.2 to 2 times where tasks are of unequal size, the t interval on the
//! logit 1.1 to 1.5 times with 60 tasks (60 worlds, 600 corpora each).

use super::cluster::Spread;
use super::distribution::{beta_quantile, normal_quantile, t_quantile};
use super::estimate::MinimumData;
use super::interval::Interval;

/// With one run a task and fewer runs than this lost (or kept), the exact interval replaces Wilson's.
const MIN_FOR_WILSON: u64 = 5;

/// The interval, at `level`, of the share of runs that is lost: Wilson's, with one run a task and few lost the exact one. If
/// less than nothing is lost in some task (a strategy rescues a success), the t interval. `None` below 8 tasks, or for the last
/// without spread.
pub(super) fn interval_of_lost(lost: &Spread, level: f64) -> Option<Interval> {
    if !MinimumData::RATE.is_met(lost.clusters()) {
        return None;
    }
    if !lost.is_part {
        return lost.residuals.interval(lost.ratio, level);
    }
    if lost.n > lost.clusters() {
        return Some(over_tasks(lost, level, f64::INFINITY));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of n is a count up to n")]
    let hits = (lost.ratio * lost.n as f64).round() as u64;
    let kept = lost.n - hits;
    if hits.min(kept) < MIN_FOR_WILSON {
        let tail = 0.5 * (1.0 - level);
        return Some(Interval { low: 1.0 - upper_limit(kept, hits, tail), high: upper_limit(hits, kept, tail) });
    }
    Some(wilson(lost.ratio, lost.n as f64, normal_quantile(0.5 + 0.5 * level)))
}

/// The same where few tasks lose: so few support few degrees of freedom, whose t quantile would allow for several times as many
/// losses as an exact bound on as many events. It is no larger than with the degrees of freedom of all tasks.
pub(super) fn interval_of_few_lost(lost: &Spread, level: f64) -> Option<Interval> {
    let clusters = lost.clusters();
    if !MinimumData::RATE.is_met(clusters) || !lost.is_part || lost.n == clusters {
        return interval_of_lost(lost, level);
    }
    Some(over_tasks(lost, level, t_quantile(0.5 + 0.5 * level, clusters as f64 - 1.0)))
}

/// Wilson's interval on the effective number of runs, with t quantiles over tasks of at most `most`, for each of the two estimates
/// of the spread: the hull of both. The design effect is at least 1; if every run agrees it cannot be estimated, and a task counts as
/// one run: the worst case.
fn over_tasks(lost: &Spread, level: f64, most: f64) -> Interval {
    let (p, residuals, clusters) = (lost.ratio, &lost.residuals, lost.clusters() as f64);
    let quantile = residuals.quantile(level).min(most);
    let of_one_run = p * (1.0 - p);
    let (Some(own), true) = (residuals.variance(), of_one_run > 0.0) else {
        return wilson(p, clusters, quantile);
    };
    let effective_n = |variance: f64| of_one_run / variance.max(of_one_run / lost.n as f64);
    // Residuals without each task are larger by this factor than those of a mean over tasks.
    let factor = (1.0 - 1.0 / clusters).powi(2);
    let interval = wilson(p, effective_n(own * factor), quantile);
    let Some((variance, degrees_of_freedom)) = residuals.exchangeable() else { return interval };
    let quantile = t_quantile(0.5 + 0.5 * level, degrees_of_freedom).min(most);
    interval.hull(wilson(p, effective_n(variance), quantile))
}

/// Wilson's score interval for a share `p` in [0, 1] with the information of `n_effective` independent runs, above 0, and the
/// critical value `quantile`. At 0 the lower end is exactly 0, at 1 the upper exactly 1.
///
/// The form for clustered samples: Dean & Pagano (2015), Evaluating confidence interval methods for binomial
/// proportions in clustered surveys, J. Survey Statistics and Methodology 3.
fn wilson(p: f64, n_effective: f64, quantile: f64) -> Interval {
    let spread = quantile * quantile / n_effective;
    let centre = (p + 0.5 * spread) / (1.0 + spread);
    let half = (spread * (p * (1.0 - p) + 0.25 * spread)).sqrt() / (1.0 + spread);
    Interval {
        low: if p <= 0.0 { 0.0 } else { (centre - half).max(0.0) },
        high: if p >= 1.0 { 1.0 } else { (centre + half).min(1.0) },
    }
}

/// The share at which `hits` or fewer of `hits + others` runs have probability `tail`.
///
/// Clopper & Pearson (1934), Biometrika 26.
fn upper_limit(hits: u64, others: u64, tail: f64) -> f64 {
    if others == 0 { 1.0 } else { beta_quantile(1.0 - tail, hits as f64 + 1.0, others as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::ClusterSums;
    use crate::stats::cluster::spread;

    #[track_caller]
    fn check(interval: Interval, low: f64, high: f64) {
        assert!((interval.low - low).abs() < 6e-6 && (interval.high - high).abs() < 6e-6, "{interval:?}");
    }

    #[test]
    fn wilson_golden() {
        let wilson = |hits: f64, n: f64| wilson(hits / n, n, normal_quantile(0.975));
        check(wilson(17.0, 20.0), 0.63958, 0.94763);
        check(wilson(5.0, 5.0), 0.56552, 1.0);
        check(wilson(0.0, 59.0), 0.0, 0.06113);
        check(wilson(3.0, 100.0), 0.010_255, 0.084_519);
    }

    #[test]
    fn one_run_a_task_is_wilson_or_exact_when_few_are_lost() {
        let of = |hits: u64, n: u64| {
            let tasks: Vec<ClusterSums> = (0..n).map(|at| ClusterSums::from_counts(u64::from(at < hits), 1)).collect();
            interval_of_lost(&spread(&tasks).unwrap(), 0.95)
        };
        check(of(0, 59).unwrap(), 0.0, 0.060_609);
        check(of(1, 93).unwrap(), 0.000_272, 0.058_458);
        check(of(3, 100).unwrap(), 0.006_230, 0.085_176);
        check(of(17, 20).unwrap(), 0.621_073, 0.967_929);
        assert_eq!(of(15, 20), Some(wilson(0.75, 20.0, normal_quantile(0.975))));
        assert_eq!(of(3, 7), None);
    }

    #[test]
    fn without_spread_a_task_counts_as_one_run() {
        let of = |tasks: &[ClusterSums]| interval_of_lost(&spread(tasks).unwrap(), 0.95).unwrap();
        let none = of(&vec![ClusterSums::from_counts(0, 4); 59]);
        assert_eq!(none, wilson(0.0, 59.0, t_quantile(0.975, 58.0)));
        let some = of(&[vec![ClusterSums::from_counts(0, 4); 50], vec![ClusterSums::from_counts(2, 4); 9]].concat());
        assert!(some.contains(18.0 / 236.0) && some.width() > 0.06, "{some:?}");
    }
}
