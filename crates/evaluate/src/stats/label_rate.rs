//! The rate of false early stops when the labels come from a judge that errs; the interval includes the uncertainty
//! about the judge.

use super::cluster::{ClusterSums, spread};
use super::distribution::beta_quantile;
use super::estimate::{Estimate, MIN_CLUSTERS_FOR_INTERVAL, Method, Warning};
use super::interval::Interval;
use super::labels::Correction;
use super::labels::ErrorRates;
use super::lost::interval_of_lost;
use super::residual::{ResidualPart, Residuals};
use super::seldom::Carried;

/// Number of points for the unknown probability of a false label: midpoints of equally likely parts.
const POINTS: u32 = 32;

/// The graded runs of one task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LabelSums {
    /// Stopped early and labelled a success.
    pub killed: f64,
    /// Stopped early, and either labelled a success or lost if they were a success after all.
    pub at_risk: f64,
    /// Labelled a success.
    pub successes: f64,
    /// Graded runs.
    pub runs: u64,
}

impl LabelSums {
    /// (killed, successes), each less the expected contribution of false labels when their probability is `wrong`.
    fn corrected(&self, wrong: f64) -> (f64, f64) {
        (self.killed - wrong * self.at_risk, self.successes - wrong * self.runs as f64)
    }
}

/// The rate among all true successes together: `(killed - f at risk) / (successes - f runs)`, f being the probability
/// that a failure is labelled a success. The errors tell nothing of the successes of a single task, so this is no mean
/// over tasks. Missed successes are missing from both numerator and denominator. Assumes that
/// errors do not depend on whether the run is stopped.
///
/// The interval contains every rate r for which a t test over tasks does not reject "the corrected killed minus r
/// times the corrected successes has mean 0"; an estimated f is averaged over its posterior from the checks (Jeffreys
/// prior). Where few tasks, if any, have a success killed by its label, a test knows too little of the spread: the upper end is
/// then at least that of the uncorrected rate, corrected in the same way. Undefined if no successes are left after the
/// correction.
///
/// Rogan & Gladen (1978), Am. J. Epidemiology 107; Fieller (1954), J. Royal Statistical Society B 16.
pub fn corrected_rate(tasks: &[LabelSums], rates: ErrorRates, level: f64) -> (Estimate, Correction) {
    let counted: Vec<LabelSums> = tasks.iter().copied().filter(|task| task.runs > 0).collect();
    let runs: u64 = counted.iter().map(|task| task.runs).sum();
    let clusters = counted.len() as u64;
    let undefined = (Estimate { n: runs, clusters, ..Estimate::UNDEFINED }, Correction::Undefined);
    let Some(errors) = rates.errors().filter(|errors| errors.sensitivity + errors.specificity > 1.0) else {
        return undefined;
    };
    let total = |wrong: f64| {
        counted.iter().map(|task| task.corrected(wrong)).fold((0.0, 0.0), |sum, task| (sum.0 + task.0, sum.1 + task.1))
    };
    let (above, below) = total(1.0 - errors.specificity);
    if below <= 0.0 {
        return undefined;
    }
    // True successes are capped at the number of runs, and killed at the number of runs at risk.
    let informative = errors.sensitivity + errors.specificity - 1.0;
    let at_risk: f64 = counted.iter().map(|task| task.at_risk).sum();
    let (killed, successes) = ((above / informative).clamp(0.0, at_risk), (below / informative).min(runs as f64));
    let value = (killed / successes).clamp(0.0, 1.0);
    let agrees = |raw: f64, clipped: f64| (raw / informative - clipped).abs() < 1e-9;
    let is_clipped = !agrees(above, killed) || !agrees(below, successes) || killed > successes;
    let correction = if is_clipped { Correction::Clipped } else { Correction::Corrected };
    let raw = (above / below).clamp(0.0, 1.0);
    let wrongs = match rates {
        ErrorRates::Stated(errors) => vec![1.0 - errors.specificity],
        ErrorRates::Checked(checked) => {
            let (n, right) = checked.failures;
            let (a, b) = ((n - right.min(n)) as f64 + 0.5, right as f64 + 0.5);
            (0..POINTS).map(|at| beta_quantile((f64::from(at) + 0.5) / f64::from(POINTS), a, b)).collect()
        }
    };
    let tail = 0.5 * (1.0 - level);
    // The probability that the true rate is above `rate`, averaged over the probabilities of a false label.
    let above_it = |rate: f64| {
        wrongs.iter().map(|wrong| chance_above(&counted, runs, *wrong, rate)).sum::<f64>() / wrongs.len() as f64
    };
    let answers = clusters >= MIN_CLUSTERS_FOR_INTERVAL && counted.iter().any(|task| task.at_risk > 0.0);
    let unseen = unseen(&counted, 1.0 - errors.specificity, level).unwrap_or(value);
    let mut interval = None;
    if answers {
        let low =
            if above_it(0.0) < 1.0 - tail { 0.0 } else { crossing(|rate| above_it(rate) >= 1.0 - tail, 0.0, raw) };
        let high = if above_it(1.0) > tail { 1.0 } else { crossing(|rate| above_it(rate) > tail, raw, 1.0) };
        interval = Some(Interval { low, high }.hull(Interval { low: value, high: value.max(unseen) }));
    }
    let warning = match interval {
        None if clusters < MIN_CLUSTERS_FOR_INTERVAL => {
            Some(Warning::TooFewClusters { clusters, needed: MIN_CLUSTERS_FOR_INTERVAL })
        }
        None => Some(Warning::NoSpread),
        Some(_) => None,
    };
    let estimate = Estimate {
        value: Some(value),
        interval,
        n: runs,
        clusters,
        method: if interval.is_some() { Method::FiellerT } else { Method::EstimateOnly },
        warning,
    };
    (estimate, correction)
}

/// The upper end of the uncorrected rate, corrected, where few tasks carry it: of none killed that were seen, the next may be.
fn unseen(tasks: &[LabelSums], wrong: f64, level: f64) -> Option<f64> {
    let sum = |of: fn(&LabelSums) -> f64| tasks.iter().map(of).sum::<f64>();
    let (at_risk, successes) = (sum(|task| task.at_risk), sum(|task| task.successes));
    let clusters = tasks.len() as u64;
    Carried::by_few(tasks.iter().map(|task| task.killed / successes), clusters)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of runs")]
    let plain = |task: &LabelSums| ClusterSums::from_counts(task.killed as u64, task.successes as u64);
    let plain: Vec<ClusterSums> = tasks.iter().filter(|task| task.successes > 0.0).map(plain).collect();
    let most = interval_of_lost(&spread(&plain)?, level)?.high;
    let runs: u64 = tasks.iter().map(|task| task.runs).sum();
    let below = successes - wrong * runs as f64;
    Some(((most * successes - wrong * at_risk) / below).clamp(0.0, 1.0))
}

/// The point between `from`, where `holds` is true, and `to` at which it stops being true.
fn crossing(holds: impl Fn(f64) -> bool, from: f64, to: f64) -> f64 {
    let (mut low, mut high) = (from, to);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

fn chance_above(tasks: &[LabelSums], runs: u64, wrong: f64, rate: f64) -> f64 {
    let score = |task: &LabelSums| {
        let (above, below) = task.corrected(wrong);
        (above - rate * below) / runs as f64
    };
    let sum: f64 = tasks.iter().map(score).sum();
    let clusters = tasks.len() as f64;
    let part = |task: &LabelSums| {
        let share = task.runs as f64 / runs as f64;
        let residual = score(task) - share * sum;
        let left_out = if share < 1.0 { residual / (1.0 - share) * (1.0 - 1.0 / clusters) } else { residual };
        ResidualPart { residual, left_out, share }
    };
    let parts: Vec<ResidualPart> = tasks.iter().map(part).collect();
    let residuals = Residuals::from_parts(&parts, tasks.len() as u64);
    let p = residuals.p_value(sum).unwrap_or(if sum == 0.0 { 1.0 } else { 0.0 });
    if sum > 0.0 { 1.0 - 0.5 * p } else { 0.5 * p }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::labels::{CheckedLabels, LabelErrors};

    fn tasks() -> Vec<LabelSums> {
        (0..60_u32)
            .map(|at| LabelSums {
                killed: f64::from(u8::from(at % 3 == 1)),
                at_risk: f64::from(at % 3),
                successes: f64::from(2 + at % 3),
                runs: 6,
            })
            .collect()
    }

    #[test]
    fn perfect_labels_give_the_plain_rate_and_checks_widen_the_interval() {
        let perfect = LabelErrors { sensitivity: 1.0, specificity: 1.0 };
        let (plain, correction) = corrected_rate(&tasks(), ErrorRates::Stated(perfect), 0.95);
        assert_eq!(correction, Correction::Corrected);
        assert!((plain.value.unwrap() - 20.0 / 180.0).abs() < 1e-12);
        let stated = LabelErrors { sensitivity: 0.9, specificity: 0.96 };
        let (known, _) = corrected_rate(&tasks(), ErrorRates::Stated(stated), 0.95);
        let checked = CheckedLabels { successes: (50, 45), failures: (50, 48) };
        let (estimated, _) = corrected_rate(&tasks(), ErrorRates::Checked(checked), 0.95);
        assert_eq!(known.value, estimated.value);
        assert!((known.value.unwrap() - (20.0 - 0.04 * 60.0) / (180.0 - 0.04 * 360.0)).abs() < 1e-12);
        let width = |estimate: &Estimate| estimate.interval.unwrap().width();
        assert!(width(&estimated) > width(&known));
    }

    #[test]
    fn none_seen_killed_is_not_none_killed() {
        let tasks: Vec<LabelSums> = (0..60_u32)
            .map(|at| LabelSums { killed: 0.0, at_risk: f64::from(u8::from(at < 7)), successes: 2.0, runs: 4 })
            .collect();
        let stated = LabelErrors { sensitivity: 0.9, specificity: 0.85 };
        let (estimate, _) = corrected_rate(&tasks, ErrorRates::Stated(stated), 0.95);
        assert_eq!(estimate.value, Some(0.0));
        assert!(estimate.high().unwrap() > 0.03, "{estimate:?}");
    }

    #[test]
    fn labels_that_leave_no_success_are_undefined() {
        let errors = LabelErrors { sensitivity: 0.9, specificity: 0.4 };
        let (estimate, correction) = corrected_rate(&tasks(), ErrorRates::Stated(errors), 0.95);
        assert_eq!((estimate.value, correction), (None, Correction::Undefined));
    }
}
