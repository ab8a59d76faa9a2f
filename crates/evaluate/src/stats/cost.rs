//! The cost of a success with a strategy relative to without it: a ratio of two ratios over the same tasks.

use super::cluster::{ClusterSums, Spread, spread};
use super::distribution::{normal_cdf, normal_two_sided, t_quantile};
use super::estimate::{Estimate, Method, MinimumData, Warning, few_carry, interval_of};
use super::interval::Interval;
use super::residual::{ResidualPart, Residuals};
use super::seldom::Carried;

/// Standard normal quantiles are capped here (p = 1e-15).
const FARTHEST: f64 = 8.0;
/// Halvings of the range of quantiles in which a p-value is looked for: it is then known to six digits.
const HALVINGS: usize = 24;

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
    /// What the strategy does not spend.
    pub fn unspent(&self) -> f64 {
        self.spent_without - self.spent_with
    }

    /// Adds a run: what it spends and whether it is a success (0 or 1) with the strategy, and both as recorded.
    pub fn add(&mut self, spent: f64, kept: f64, recorded: f64, is_success: bool) {
        self.spent_with += spent;
        self.successes_with += kept;
        self.spent_without += recorded;
        self.successes_without += f64::from(u8::from(is_success));
        self.n += 1;
    }

    /// Adds a run under two strategies: what it spends under each, and whether it is a success in the end.
    pub fn add_pair(&mut self, with: (f64, bool), without: (f64, bool)) {
        self.add(with.0, f64::from(u8::from(with.1)), without.0, without.1);
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

    /// What is not spent, of what is spent without it.
    fn saved(&self) -> ClusterSums {
        let mut sums = ClusterSums::default();
        sums.add_either(self.unspent(), self.spent_without);
        sums.n = self.n;
        sums
    }

    /// The successes lost, of those without it. Fewer than none are lost where the strategy rescues some.
    fn lost(&self) -> ClusterSums {
        let (lost, all) = (self.successes_without - self.successes_with, self.successes_without);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of runs")]
        if lost >= 0.0 {
            return ClusterSums::of_counts(lost as u64, all as u64);
        }
        let mut sums = ClusterSums::default();
        sums.add_either(lost, all);
        sums
    }
}

/// What an interval of the ratio is made from.
struct CostParts {
    /// The logarithm of the ratio.
    value: f64,
    /// Its spread: for each task, the change of the whole when the task is left out.
    residuals: Residuals,
    unspent: Spread,
    lost: Spread,
    /// Whether few tasks, if any, lose a success.
    lost_by_few: bool,
}

impl CostParts {
    /// `None` if one task holds the only success: the ratio without it is undefined, and so is the spread.
    fn from_tasks(tasks: &[CostSums], total: &CostSums) -> Option<Self> {
        let value = total.log_ratio()?;
        let part = |task: &CostSums| {
            let shares = [
                task.spent_with / total.spent_with,
                task.successes_with / total.successes_with,
                task.spent_without / total.spent_without,
                task.successes_without / total.successes_without,
            ];
            let [spent, kept, recorded, all] = shares;
            Some(ResidualPart {
                residual: spent - kept - recorded + all,
                left_out: value - total.with(task, -1.0).log_ratio()?,
                share: 0.25 * shares.iter().sum::<f64>(),
            })
        };
        let parts = tasks.iter().map(part).collect::<Option<Vec<ResidualPart>>>()?;
        let clusters = tasks.len() as u64;
        let of = |part: fn(&CostSums) -> ClusterSums| spread(&tasks.iter().map(part).collect::<Vec<_>>());
        let lost = tasks.iter().map(|task| task.lost().numerator / total.successes_without);
        Some(Self {
            value,
            residuals: Residuals::of_parts(&parts, clusters),
            unspent: of(CostSums::saved)?,
            lost_by_few: Carried::by_few(lost, clusters).is_some(),
            lost: of(CostSums::lost)?,
        })
    }

    /// How much wider the interval is where few tasks carry what is not spent: the spread is known no better than from
    /// those tasks.
    fn factor(&self, level: f64) -> f64 {
        let Some(carried) = self.unspent.carried else { return 1.0 };
        let quantile = |degrees_of_freedom: f64| t_quantile(0.5 + 0.5 * level, degrees_of_freedom);
        let all = (self.residuals.clusters as f64 - 1.0).max(1.0);
        quantile((carried.tasks() - 1.0).clamp(1.0, all)) / quantile(all)
    }

    /// How much dearer a success may be for kills alone, on the logarithm, where too few are seen to tell their spread.
    fn unseen(&self, level: f64) -> f64 {
        let interval = interval_of(&self.lost, self.lost.kind, level).1.filter(|_| self.lost_by_few);
        interval.map_or(0.0, |lost| (1.0 - self.lost.ratio).ln() - (1.0 - lost.high).max(0.0).ln())
    }

    fn interval(&self, level: f64) -> Option<Interval> {
        let own = self.residuals.interval(self.value, level)?;
        let factor = self.factor(level);
        let (below, above) = (factor * (self.value - own.low), factor * (own.high - self.value));
        let is_few = self.unspent.carried.is_some();
        let low = if is_few { (1.0 - below).max(0.0) } else { (-below).exp() };
        let interval = Interval { low, high: above.max(self.unseen(level)).exp() };
        let nearer = self.of_both(level).filter(|_| is_few).map_or(interval, |other| Interval {
            low: interval.low.max(other.low),
            high: interval.high.min(other.high),
        });
        let value = self.value.exp();
        Some(Interval { low: value * nearer.low, high: value * nearer.high })
    }

    /// The interval, relative to the ratio, from the intervals of both parts (MOVER).
    fn of_both(&self, level: f64) -> Option<Interval> {
        let reach = |spread: &Spread| {
            let left = |share: f64| (1.0 - share).max(0.0).ln();
            let taken = interval_of(spread, spread.kind, level).1?;
            let value = left(spread.ratio);
            Some((value - left(taken.high), left(taken.low) - value))
        };
        let (spent, kept) = (reach(&self.unspent)?, reach(&self.lost)?);
        Some(Interval { low: (-spent.0.hypot(kept.1)).exp(), high: spent.1.hypot(kept.0).exp() })
    }

    /// The smallest level at which the interval excludes 1, subtracted from 1.
    fn p_value(&self) -> Option<f64> {
        let (mut least, mut most) = (0.0, FARTHEST);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (least + most);
            if self.interval(2.0 * normal_cdf(middle) - 1.0)?.contains(1.0) {
                most = middle;
            } else {
                least = middle;
            }
        }
        Some(normal_two_sided(least))
    }

    fn warning(&self, has_interval: bool) -> Option<Warning> {
        let of_all = MinimumData::AMOUNT.warning_for(&self.residuals, has_interval);
        of_all.or_else(|| few_carry(&self.unspent))
    }
}

/// The ratio with its interval and the two-sided p-value of "no difference" (a ratio of 1), which is where the interval
/// ends.
///
/// Each task's residual is the change of the logarithm of the whole when the task is left out, so a task with most of
/// the spending widens the interval as it should. Where few tasks carry what is not spent, the t quantile is that of so
/// few tasks and the lower end is on the ratio itself, where it is farther out than on the logarithm; but no end is
/// farther out than the intervals of both parts put together (MOVER) allow. Where few tasks lose a success, the upper end
/// allows for what the interval of that rate allows for. MOVER everywhere covers 96 to 100 % and is twice as wide
/// (`reports/`, validity).
/// Undefined if nothing was spent or no success is left; no interval below 20 tasks.
///
/// Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapter 11 (the jackknife); Satterthwaite (1946), An
/// approximate distribution of estimates of variance components, Biometrics Bulletin 2; Zou & Donner (2008), Construction
/// of confidence limits about effect measures, Statistics in Medicine 27 (MOVER).
pub fn cost_of_success(tasks: &[CostSums], level: f64) -> (Estimate, Option<f64>) {
    let estimate = cost_estimate(tasks, level);
    let total = tasks.iter().fold(CostSums::default(), CostSums::plus);
    let parts = CostParts::from_tasks(tasks, &total).filter(|_| estimate.interval.is_some());
    (estimate, parts.and_then(|parts| parts.p_value()))
}

/// The same without the p-value, which takes many times as long.
pub fn cost_estimate(tasks: &[CostSums], level: f64) -> Estimate {
    let total = tasks.iter().fold(CostSums::default(), CostSums::plus);
    let Some(value) = total.ratio() else { return Estimate::UNDEFINED };
    let clusters = tasks.len() as u64;
    let parts = CostParts::from_tasks(tasks, &total);
    let enough = parts.as_ref().filter(|_| MinimumData::AMOUNT.is_met(clusters));
    let interval = enough.and_then(|parts| parts.interval(level));
    let has_interval = interval.is_some();
    Estimate {
        value: Some(value),
        interval,
        n: total.n,
        clusters,
        method: if has_interval { Method::LogT } else { Method::EstimateOnly },
        design_effect: None,
        effective_n: None,
        warning: parts
            .map_or_else(|| MinimumData::AMOUNT.warning(clusters, has_interval), |parts| parts.warning(has_interval)),
    }
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

    /// Sixty tasks of two runs, half of them successes; `stopped` of the failures save half, `killed` successes are lost.
    fn corpus(stopped: usize, killed: usize) -> Vec<CostSums> {
        let task = |at: usize| {
            let mut sums = CostSums::default();
            let (saved, length) = (if at < stopped { 4.0 } else { 0.0 }, 8.0 + (at % 5) as f64);
            sums.add(length - saved, 0.0, length, false);
            sums.add(8.0, if at < killed { 0.0 } else { 1.0 }, 8.0, true);
            sums
        };
        (0..60).map(task).collect()
    }

    #[test]
    fn where_few_tasks_carry_what_is_saved_it_is_rough_and_wider() {
        let many = cost_of_success(&corpus(40, 5), 0.95).0;
        let few = cost_of_success(&corpus(4, 5), 0.95).0;
        assert_eq!(many.warning, None);
        assert!(matches!(few.warning, Some(Warning::FewCarry { .. })), "{few:?}");
        let reach = |estimate: &Estimate| 1.0 - estimate.low().unwrap() / estimate.value.unwrap();
        assert!(reach(&few) > 0.02, "{few:?}");
    }

    #[test]
    fn successes_killed_that_were_not_seen_make_it_dearer() {
        let estimate = cost_of_success(&corpus(40, 0), 0.95).0;
        // None of 60: the upper end of the rate is about 6 %.
        assert!(estimate.high().unwrap() > 1.05 * estimate.value.unwrap(), "{estimate:?}");
    }

    #[test]
    fn the_interval_ends_where_the_p_value_says() {
        for (stopped, killed) in [(40, 5), (4, 0), (4, 30), (20, 12)] {
            let tasks = corpus(stopped, killed);
            let p = cost_of_success(&tasks, 0.95).1.unwrap();
            let at = cost_of_success(&tasks, 1.0 - p).0.interval.unwrap();
            assert!((at.low - 1.0).abs() < 1e-3 || (at.high - 1.0).abs() < 1e-3, "{p} {at:?}");
        }
    }
}
