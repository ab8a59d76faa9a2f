//! The cost of a success with a strategy relative to without it: a ratio of two ratios over the same tasks.

use super::cluster::{ClusterSums, Spread, spread};
use super::distribution::{normal_cdf, normal_two_sided};
use super::estimate::{Estimate, Method, MinimumData, Warning, few_carry, free_ratio_estimate, interval_of};
use super::interval::Interval;
use super::lost::{interval_of_few_lost, interval_of_lost};
use super::seldom::{AmountUse, Carried};

/// Standard normal quantiles are capped here (p = 1e-15).
const FARTHEST: f64 = 8.0;
/// Halvings of the range of quantiles in which a p-value is looked for: it is then known to six digits.
const HALVINGS: usize = 24;
/// Below this effective number of tasks that lose successes, few do.
const FEW_LOSE: f64 = 12.0;
/// With so many tasks that lose successes, half of the correlation that is seen in them counts.
const TASKS_TO_CORRELATE: f64 = 8.0;

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
        Self {
            spent_with: self.spent_with + other.spent_with,
            successes_with: self.successes_with + other.successes_with,
            spent_without: self.spent_without + other.spent_without,
            successes_without: self.successes_without + other.successes_without,
            n: self.n + other.n,
        }
    }

    /// (Spent with / successes with) over (spent without / successes without); `None` if any of them is not positive.
    pub fn ratio(&self) -> Option<f64> {
        let Self { spent_with, successes_with, spent_without, successes_without, .. } = *self;
        let is_defined = [spent_with, successes_with, spent_without, successes_without].iter().all(|part| *part > 0.0);
        if is_defined { Some(spent_with / successes_with / (spent_without / successes_without)) } else { None }
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
            return ClusterSums::from_counts(lost as u64, all as u64);
        }
        let mut sums = ClusterSums::default();
        sums.add_either(lost, all);
        sums
    }
}

/// What an interval of the ratio is made from: of the two shares that it is a ratio of, what is spent and what is kept.
struct CostParts {
    unspent: Spread,
    lost: Spread,
    /// Whether few tasks, if any, lose a success.
    lost_by_few: bool,
    /// How far what is spent and what is kept fall together over tasks, in [0, 1].
    correlation: f64,
}

impl CostParts {
    /// `None` if nothing was spent or nothing was a success.
    fn from_tasks(tasks: &[CostSums], total: &CostSums) -> Option<Self> {
        let of = |part: fn(&CostSums) -> ClusterSums| spread(&tasks.iter().map(part).collect::<Vec<_>>());
        let lost = tasks.iter().map(|task| task.lost().numerator / total.successes_without);
        Some(Self {
            unspent: of(CostSums::saved)?,
            lost_by_few: Carried::by_few(lost, tasks.len() as u64).is_some_and(|lost| lost.tasks() < FEW_LOSE),
            lost: of(CostSums::lost)?,
            correlation: correlation(tasks, total),
        })
    }

    /// How far either end is from the ratio, on the logarithm: what is spent and what is kept both move it. `None` without an
    /// interval of either.
    fn reach(&self, level: f64) -> Option<(f64, f64)> {
        let unspent = interval_of(&self.unspent, self.unspent.is_part, level, AmountUse::WithinCost)?;
        let spent = left_of(self.unspent.ratio, unspent);
        let (mut fewer_kept, more_kept) = left_of(self.lost.ratio, interval_of_lost(&self.lost, level)?);
        if self.lost_by_few {
            let lost = interval_of_few_lost(&self.lost, level_of_few(level))?;
            (fewer_kept, _) = left_of(self.lost.ratio, lost);
        }
        Some((self.both(spent.0, more_kept), self.both(spent.1, fewer_kept)))
    }

    /// Two distances put together.
    fn both(&self, spent: f64, kept: f64) -> f64 {
        if spent.is_finite() && kept.is_finite() {
            (spent * spent + kept * kept - 2.0 * self.correlation * spent * kept).max(0.0).sqrt()
        } else {
            f64::INFINITY
        }
    }

    fn interval(&self, value: f64, level: f64) -> Option<Interval> {
        let (below, above) = self.reach(level)?;
        Some(Interval { low: value * (-below).exp(), high: value * above.exp() })
    }

    /// The smallest level at which the interval excludes 1, subtracted from 1.
    fn p_value(&self, value: f64) -> Option<f64> {
        let (mut least, mut most) = (0.0, FARTHEST);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (least + most);
            if self.interval(value, 2.0 * normal_cdf(middle) - 1.0)?.contains(1.0) {
                most = middle;
            } else {
                least = middle;
            }
        }
        Some(normal_two_sided(least))
    }

    fn warning(&self, tasks: u64, has_interval: bool) -> Option<Warning> {
        let residuals = &self.unspent.residuals;
        if !has_interval && MinimumData::AMOUNT.is_met(tasks) {
            return MinimumData::RATE.warning(self.lost.clusters(), false);
        }
        MinimumData::AMOUNT
            .warning_for(residuals, has_interval)
            .or_else(|| few_carry(&self.unspent, AmountUse::WithinCost))
    }
}

/// The distances from the logarithm of what is left, if `taken` is taken of a whole, to the ends of its interval, below and
/// above.
fn left_of(taken: f64, interval: Interval) -> (f64, f64) {
    let left = |share: f64| (1.0 - share).max(0.0).ln();
    (left(taken) - left(interval.high), left(interval.low) - left(taken))
}

/// The level of the interval of what few tasks lose, of which the upper end counts. A bound on so few events covers more than it
/// says: with three times the error of `level` the cost lies above its interval as seldom as below (0.4 and 0.6 % of the corpora
/// with 30 tasks, 0.8 and 0.8 % with 60; `limited` of the validity simulation).
fn level_of_few(level: f64) -> f64 {
    (1.0 - 3.0 * (1.0 - level)).max(0.0)
}

/// The correlation over tasks of what is spent with what is kept, each against what it is without the strategy, if positive;
/// less of it the fewer tasks lose successes.
fn correlation(tasks: &[CostSums], total: &CostSums) -> f64 {
    let (mut spent_squares, mut kept_squares, mut products) = (0.0, 0.0, 0.0);
    let (mut lost, mut lost_squares) = (0.0, 0.0);
    for task in tasks {
        let spent = task.spent_with / total.spent_with - task.spent_without / total.spent_without;
        let kept = task.successes_with / total.successes_with - task.successes_without / total.successes_without;
        spent_squares += spent * spent;
        kept_squares += kept * kept;
        products += spent * kept;
        let lost_here = (task.successes_without - task.successes_with).max(0.0);
        lost += lost_here;
        lost_squares += lost_here * lost_here;
    }
    let correlation = products / (spent_squares * kept_squares).sqrt();
    if correlation > 0.0 && lost > 0.0 {
        // As many tasks as would lose as much if each lost alike.
        let losing = lost * lost / lost_squares;
        correlation.min(1.0) * losing / (losing + TASKS_TO_CORRELATE)
    } else {
        0.0
    }
}

/// The ratio with its interval and the two-sided p-value of "no difference" (a ratio of 1), which is where the interval
/// ends.
///
/// It is put together from the intervals of what is not spent and of the successes lost, on the logarithm, with the
/// correlation of both over tasks (MOVER). Where few tasks lose a success, the bound of what is lost is taken at a lower level.
/// Undefined if nothing was spent or no success is left; no interval below 20 tasks, or below 8 with a success.
///
/// Zou & Donner (2008), Construction of confidence limits about effect measures, Statistics in Medicine 27.
pub fn cost_of_success(tasks: &[CostSums], level: f64) -> (Estimate, Option<f64>) {
    let estimate = cost_estimate(tasks, level);
    let total = tasks.iter().fold(CostSums::default(), CostSums::plus);
    let parts = CostParts::from_tasks(tasks, &total).filter(|_| estimate.interval.is_some());
    let p = parts.zip(estimate.value).and_then(|(parts, value)| parts.p_value(value));
    (estimate, p)
}

/// The same without the p-value, which takes many times as long.
pub fn cost_estimate(tasks: &[CostSums], level: f64) -> Estimate {
    let total = tasks.iter().fold(CostSums::default(), CostSums::plus);
    let Some(value) = total.ratio() else { return Estimate::UNDEFINED };
    let clusters = tasks.len() as u64;
    let parts = CostParts::from_tasks(tasks, &total);
    let enough = parts.as_ref().filter(|_| MinimumData::AMOUNT.is_met(clusters));
    let interval = enough.and_then(|parts| parts.interval(value, level));
    let has_interval = interval.is_some();
    Estimate {
        value: Some(value),
        interval,
        n: total.n,
        clusters,
        method: if has_interval { Method::Mover } else { Method::EstimateOnly },
        warning: match parts {
            Some(parts) => parts.warning(clusters, has_interval),
            None => MinimumData::AMOUNT.warning(clusters, has_interval),
        },
    }
}

/// What the strategy is worth per run, if a success is worth what it costs without it: above 0 if a success costs less with
/// it. `without` may be another strategy: unlike the ratio's interval, this one takes both alike, whichever of them spends or
/// loses more in a task.
pub fn worth_at_cost(tasks: &[CostSums], level: f64) -> Estimate {
    let total = tasks.iter().fold(CostSums::default(), CostSums::plus);
    if total.successes_without <= 0.0 {
        return Estimate::UNDEFINED;
    }
    let cost = total.spent_without / total.successes_without;
    let worth = |task: &CostSums| {
        let lost = task.successes_without - task.successes_with;
        ClusterSums::from_runs([(task.unspent() - cost * lost, task.n as f64)])
    };
    free_ratio_estimate(&tasks.iter().map(worth).collect::<Vec<_>>(), level)
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
    fn two_strategies_are_taken_alike() {
        let turned = |task: &CostSums| CostSums {
            spent_with: task.spent_without,
            successes_with: task.successes_without,
            spent_without: task.spent_with,
            successes_without: task.successes_with,
            n: task.n,
        };
        let one = corpus(40, 0);
        let other: Vec<CostSums> = one.iter().map(turned).collect();
        let (cheaper, dearer) = (worth_at_cost(&one, 0.95), worth_at_cost(&other, 0.95));
        assert!(cheaper.low().unwrap() > 0.0 && dearer.high().unwrap() < 0.0, "{cheaper:?} {dearer:?}");
        // One success in sixty is worth what two of the failures save.
        assert!(worth_at_cost(&corpus(4, 1), 0.95).interval.unwrap().contains(0.0));
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
