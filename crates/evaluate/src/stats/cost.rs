//! The cost of a success with a strategy relative to without it: a ratio of two ratios over the same tasks.

use super::estimate::{Estimate, Method, Requirement};
use super::interval::Interval;
use super::residual::{Part, Residuals};

/// What one task contributes: spent and successes, with the strategy and without.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CostSums {
    /// Amount spent with the strategy.
    pub spent_with: f64,
    /// Successes with the strategy.
    pub successes_with: f64,
    /// Amount spent without it.
    pub spent_without: f64,
    /// Successes without it.
    pub successes_without: f64,
    /// Number of runs.
    pub n: u64,
}

impl CostSums {
    /// Adds a run: what it spends and whether it is a success (0 or 1) with the strategy, and both as recorded.
    pub fn add(&mut self, spent: f64, kept: f64, recorded: f64, is_success: bool) {
        self.spent_with += spent;
        self.successes_with += kept;
        self.spent_without += recorded;
        self.successes_without += f64::from(u8::from(is_success));
        self.n += 1;
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: &Self) -> Self {
        self.with(other, 1.0)
    }

    fn with(self, other: &Self, sign: f64) -> Self {
        Self {
            spent_with: self.spent_with + sign * other.spent_with,
            successes_with: self.successes_with + sign * other.successes_with,
            spent_without: self.spent_without + sign * other.spent_without,
            successes_without: self.successes_without + sign * other.successes_without,
            n: self.n + other.n,
        }
    }

    /// (Spent with / successes with) over (spent without / successes without); `None` if any of them is not positive.
    pub fn ratio(&self) -> Option<f64> {
        let Self { spent_with, successes_with, spent_without, successes_without, .. } = *self;
        let is_defined = [spent_with, successes_with, spent_without, successes_without].iter().all(|part| *part > 0.0);
        is_defined.then(|| spent_with / successes_with / (spent_without / successes_without))
    }

    /// Logarithm of (spent with / successes with) over (spent without / successes without); `None` if any of them is
    /// not positive.
    fn log_ratio(&self) -> Option<f64> {
        let parts = [self.spent_with, self.successes_with, self.spent_without, self.successes_without];
        parts.iter().all(|part| *part > 0.0).then(|| {
            let [spent, kept, recorded, all] = parts.map(f64::ln);
            spent - kept - recorded + all
        })
    }
}

/// The ratio with its interval and the two-sided p-value of "no difference" (a ratio of 1).
///
/// Computed on the logarithm, where the ratio is symmetric; each task's residual is the change of the whole when the
/// task is left out, so a task with most of the spending widens the interval as it should. The interval and the
/// p-value use the same residuals. Undefined if nothing was spent or no success is left; no interval below 20 tasks.
///
/// Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapter 11 (the jackknife).
pub fn cost_of_success(tasks: &[CostSums], level: f64) -> (Estimate, Option<f64>) {
    let total = tasks.iter().fold(CostSums::default(), CostSums::plus);
    let Some(value) = total.log_ratio() else { return (Estimate::UNDEFINED, None) };
    let clusters = tasks.len() as u64;
    // If one task holds the only success, the ratio without that task is undefined, and so is the spread.
    let part = |task: &CostSums| {
        let share = |part: f64, of: f64| part / of;
        let shares = [
            share(task.spent_with, total.spent_with),
            share(task.successes_with, total.successes_with),
            share(task.spent_without, total.spent_without),
            share(task.successes_without, total.successes_without),
        ];
        let [spent, kept, recorded, all] = shares;
        Some(Part {
            residual: spent - kept - recorded + all,
            left_out: value - total.with(task, -1.0).log_ratio()?,
            share: 0.25 * shares.iter().sum::<f64>(),
        })
    };
    let parts: Option<Vec<Part>> = tasks.iter().map(part).collect();
    let residuals = parts.map(|parts| Residuals::of_parts(&parts, clusters));
    let enough = Requirement::AMOUNT.is_met(clusters);
    let spread = residuals.filter(|_| enough);
    let interval = spread.and_then(|residuals| residuals.interval(value, level));
    let interval = interval.map(Interval::exp);
    let p = spread.and_then(|residuals| residuals.p_value(value));
    let estimate = Estimate {
        value: Some(value.exp()),
        interval,
        n: total.n,
        clusters,
        method: if interval.is_some() { Method::LogT } else { Method::EstimateOnly },
        design_effect: None,
        effective_n: None,
        warning: residuals.map_or_else(
            || Requirement::AMOUNT.warning(clusters, false),
            |residuals| Requirement::AMOUNT.warning_for(&residuals, interval.is_some()),
        ),
    };
    (estimate, p)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(spent_with: f64, successes_with: f64, spent_without: f64, successes_without: f64) -> CostSums {
        CostSums { spent_with, successes_with, spent_without, successes_without, n: 1 }
    }

    #[test]
    fn it_is_the_ratio_of_two_costs_and_one_where_nothing_changes() {
        let same: Vec<CostSums> = (1..=30_u8).map(|at| task(f64::from(at), 1.0, f64::from(at), 1.0)).collect();
        let (estimate, _) = cost_of_success(&same, 0.95);
        assert!((estimate.value.unwrap() - 1.0).abs() < 1e-12);
        // Half the successes are killed without any saving: each remaining one costs twice as much.
        let dear = [task(10.0, 1.0, 10.0, 1.0), task(10.0, 0.0, 10.0, 1.0)];
        let (estimate, p) = cost_of_success(&dear, 0.95);
        assert!((estimate.value.unwrap() - 2.0).abs() < 1e-12);
        assert_eq!((estimate.interval, p), (None, None), "two tasks tell no spread");
    }

    #[test]
    fn without_a_success_or_a_cost_there_is_no_ratio() {
        assert_eq!(cost_of_success(&[task(1.0, 0.0, 2.0, 1.0)], 0.95).0.value, None);
        assert_eq!(cost_of_success(&[task(0.0, 1.0, 0.0, 1.0)], 0.95).0.value, None);
        assert_eq!(cost_of_success(&[], 0.95).0.value, None);
    }
}
