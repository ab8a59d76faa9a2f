//! Intervals for amounts that few tasks carry: savings that are rare but large.
//!
//! A t interval takes the spread from the tasks that were seen. If a strategy acts in few of them, the next task it
//! acts in may hold as much as several of those seen, and a sample in which it happened to act rarely shows a small
//! sum with a small spread: of stacks that save alike, those that save seldom are called worse in one sample of three
//! (`reports/`, validity). This module counts the tasks that carry an amount as events: the amount is a weighted sum
//! of Poisson counts, whose upper end allows for one event more than was seen.
//!
//! Fay & Feuer (1997), Confidence intervals for directly standardized rates: a method based on the gamma distribution,
//! Statistics in Medicine 16, with half the weight of the further event as in Fay & Kim (2017), Biometrical Journal 59
//! (mid-p); the difference of two such sums after Zou & Donner (2008), Construction of confidence limits about effect
//! measures, Statistics in Medicine 27. Gamma quantiles by Wilson & Hilferty (1931), PNAS 17.

use super::distribution::normal_two_sided;

/// An amount is carried by few tasks if its effective number of tasks is below this and below half of all tasks.
const FEW: f64 = 25.0;
/// The same for a part of a whole, whose effective number of tasks follows from its residuals: below this and below three quarters
/// of all tasks.
const FEW_BY_RESIDUALS: f64 = 30.0;
/// Standard normal quantiles are capped here (p = 1e-15).
const FARTHEST: f64 = 8.0;

/// How much of one further event an interval allows for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventAllowance {
    /// Half of it: for a single difference, whose interval then covers about as often as its level says.
    Half,
    /// All of it: for a single amount, whose next task may hold more than any that was seen, and for a family of
    /// tests, which uses p-values far out in the tail.
    Full,
}

/// A sum of non-negative amounts, one per task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Carried {
    sum: f64,
    /// The variance of the sum.
    variance: f64,
    /// The sum of the squared amounts.
    squares: f64,
    /// What one further task may carry.
    further: f64,
}

impl Carried {
    /// The sum of the positive `amounts`; other values are ignored. One further task may carry as much as the largest,
    /// or `typical`, the whole holding of an average task.
    fn from_amounts(amounts: impl Iterator<Item = f64>, typical: f64) -> Self {
        let empty = Self { further: typical, ..Self::default() };
        amounts.filter(|amount| *amount > 0.0).fold(empty, |carried, amount| Self {
            sum: carried.sum + amount,
            variance: carried.variance + amount * amount,
            squares: carried.squares + amount * amount,
            further: carried.further.max(amount),
        })
    }

    /// The same for parts of a whole of 1 held by `clusters` tasks; `None` unless few of them carry it.
    pub(super) fn by_few(parts: impl Iterator<Item = f64>, clusters: u64) -> Option<Self> {
        Some(Self::from_amounts(parts, 1.0 / clusters as f64)).filter(|carried| carried.is_few(clusters))
    }

    /// The same for amounts in any unit; one further task may carry as much as the average one or the largest.
    pub(super) fn by_few_of_any(amounts: impl Iterator<Item = f64> + Clone, clusters: u64) -> Option<Self> {
        let mean = amounts.clone().sum::<f64>() / clusters as f64;
        Some(Self::from_amounts(amounts, mean)).filter(|carried| carried.is_few(clusters))
    }

    fn is_few(&self, clusters: u64) -> bool {
        self.tasks() < FEW.min(0.5 * clusters as f64)
    }

    /// Effective number of tasks that carry the amount: as many with equal amounts; 0 if none does.
    pub(super) fn tasks(&self) -> f64 {
        if self.squares > 0.0 { self.sum * self.sum / self.squares } else { 0.0 }
    }

    /// The squared sum over its variance; 0 without any.
    fn shape(&self) -> f64 {
        if self.variance > 0.0 { self.sum * self.sum / self.variance } else { 0.0 }
    }

    /// The distance from the sum to its upper end at the standard normal quantile `z`.
    pub(super) fn above(&self, z: f64, allowance: EventAllowance) -> f64 {
        let further = match allowance {
            EventAllowance::Half => 0.5 * self.further,
            EventAllowance::Full => self.further,
        };
        let with = Self { sum: self.sum + further, variance: self.variance + further * further, ..*self };
        (with.quantile(z) - self.sum).max(0.0)
    }

    /// The distance from the sum to its lower end at the standard normal quantile `z`.
    pub(super) fn below(&self, z: f64) -> f64 {
        (self.sum - self.quantile(-z)).max(0.0)
    }

    /// The quantile of the gamma distribution that has the sum as its mean, with its variance.
    fn quantile(&self, z: f64) -> f64 {
        let shape = self.shape();
        if shape <= 0.0 {
            return self.sum;
        }
        self.sum * (1.0 - 1.0 / (9.0 * shape) + z / (3.0 * shape.sqrt())).max(0.0).powi(3)
    }
}

/// What an interval of a part of an amount is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AmountUse {
    /// It is printed alone.
    Alone,
    /// It is what is not spent within the cost of a success, whose interval is the wider for the kills that were not seen.
    WithinCost,
}

/// What tasks hold of a part of a whole of 1: the sums from which it follows whether few of them carry it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct HeldByTasks {
    sum: f64,
    /// The sum of the squared amounts.
    squares: f64,
    /// The sum of the squared residuals: what a task holds beyond the same part of its own size.
    residual_squares: f64,
    /// The largest amount.
    largest: f64,
    /// The largest part of its own size that a task holds.
    largest_part: f64,
    /// The size of the task that a unit of the whole is in on average: the sum of the squared sizes.
    size: f64,
    /// Tasks that hold some.
    holding: u64,
    /// All tasks.
    clusters: u64,
}

impl HeldByTasks {
    /// Adds a task of `size`, a share of the whole, that holds `amount`, which is `residual` more than the same part of its size.
    pub(super) fn add(&mut self, amount: f64, residual: f64, size: f64) {
        self.sum += amount;
        self.squares += amount * amount;
        self.residual_squares += residual * residual;
        self.largest = self.largest.max(amount);
        self.size += size * size;
        self.clusters += 1;
        if amount > 0.0 {
            self.largest_part = self.largest_part.max(amount / size);
            self.holding += 1;
        }
    }

    /// As an amount that few tasks carry; `None` unless few do.
    ///
    /// The sum of what all tasks hold varies as the residuals do, since a large task adds to the whole, too; that of what few hold
    /// varies more like the amounts, as it is open which tasks these are. So the amounts count where few hold any, by the fourth
    /// root of the share of tasks that do; within the cost of a success the residuals alone. One further task may carry as much as
    /// the largest, or all that an average task holds, or, where few tasks are much of the whole, the largest part that was seen
    /// of a task as large as a unit of the whole is in.
    ///
    /// In 360 worlds (five kinds of sizes, 30 to 200 tasks, limits that 2 to 20 % of lognormal runs pass; 1,000 corpora each) what
    /// is saved and the cost of a success cover less than 93 % in 3 of 720 cases, the least 91.6 %.
    pub(super) fn by_few(&self, purpose: AmountUse) -> Option<Carried> {
        let by_residuals = match purpose {
            AmountUse::Alone => (self.holding as f64 / self.clusters as f64).sqrt().sqrt(),
            AmountUse::WithinCost => 1.0,
        };
        let carried = Carried {
            sum: self.sum,
            variance: by_residuals * self.residual_squares + (1.0 - by_residuals) * self.squares,
            squares: self.squares,
            further: self.largest.max(1.0 / self.clusters as f64).max(self.largest_part * self.size),
        };
        let few = FEW_BY_RESIDUALS.min(0.75 * self.clusters as f64);
        if carried.shape() < few { Some(carried) } else { None }
    }
}

/// The difference of two amounts, at least one carried by few tasks, split into what tasks add to it and what they
/// subtract.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CarriedDifference {
    more: Carried,
    less: Carried,
}

impl CarriedDifference {
    /// From each task's parts in both amounts; `None` unless few of the `clusters` tasks carry one of the amounts.
    pub(super) fn by_few(parts: &[(f64, f64)], clusters: u64) -> Option<Self> {
        let few = |of: fn(&(f64, f64)) -> f64| Carried::by_few(parts.iter().map(of), clusters).is_some();
        if !(few(|part| part.0.abs()) || few(|part| part.1.abs())) {
            return None;
        }
        let largest = parts.iter().map(|(a, b)| (a - b).abs()).fold(1.0 / clusters as f64, f64::max);
        let more = Carried::from_amounts(parts.iter().map(|(a, b)| a - b), largest);
        let less = Carried::from_amounts(parts.iter().map(|(a, b)| b - a), largest);
        Some(Self { more, less })
    }

    /// The distances from the difference to the lower and upper end of its interval at the standard normal quantile
    /// `z`.
    pub(super) fn reach(&self, z: f64, allowance: EventAllowance) -> (f64, f64) {
        let low = self.more.below(z).hypot(self.less.above(z, allowance));
        let high = self.more.above(z, allowance).hypot(self.less.below(z));
        (low, high)
    }

    /// Two-sided p-value of "the amounts are equal": the smallest level at which the interval excludes 0.
    pub(super) fn p_value(&self, allowance: EventAllowance) -> f64 {
        let value = self.more.sum - self.less.sum;
        let excludes_zero = |z: f64| {
            let (low, high) = self.reach(z, allowance);
            if value > 0.0 { low < value } else { high < -value }
        };
        let (mut least, mut most) = (0.0, FARTHEST);
        for _ in 0..50 {
            let middle = 0.5 * (least + most);
            if excludes_zero(middle) {
                least = middle;
            } else {
                most = middle;
            }
        }
        normal_two_sided(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::distribution::normal_quantile;

    #[test]
    fn a_count_has_the_exact_poisson_interval() {
        // Garwood's (1936) limits of a Poisson mean: half of chi-squared quantiles.
        let z = normal_quantile(0.975);
        for (count, low, high) in [(1, 0.0253, 5.572), (5, 1.623, 11.668), (10, 4.795, 18.390), (20, 12.217, 30.888)] {
            let carried = Carried::from_amounts((0..count).map(|_| 1.0), 1.0);
            assert!((f64::from(count) - carried.below(z) - low).abs() < 0.03, "{count} {}", carried.below(z));
            assert!((f64::from(count) + carried.above(z, EventAllowance::Full) - high).abs() < 0.03, "{count}");
        }
        let none = Carried::from_amounts(std::iter::empty(), 1.0);
        assert!((none.above(z, EventAllowance::Full) - 3.689).abs() < 0.1, "{}", none.above(z, EventAllowance::Full));
        assert!(none.below(z).abs() < 1e-12);
    }

    #[test]
    fn many_tasks_carry_it_alone() {
        assert!(Carried::by_few((0..25).map(|_| 0.01), 100).is_none());
        assert!(Carried::by_few((0..24).map(|_| 0.01), 100).is_some());
        assert!(Carried::by_few((0..24).map(|_| 0.01), 40).is_none(), "most tasks do");
        // One very large task beside many small ones.
        assert!(Carried::by_few(std::iter::once(0.5).chain((0..200).map(|_| 0.001)), 201).is_some());
    }

    #[test]
    fn an_interval_and_its_p_value_agree_about_0() {
        for often in [0.001, 0.003, 0.01, 0.02] {
            let parts: Vec<(f64, f64)> = (0..60).map(|at| (if at % 12 == 0 { 0.1 } else { 0.0 }, often)).collect();
            let difference = CarriedDifference::by_few(&parts, 60).unwrap();
            for allowance in [EventAllowance::Half, EventAllowance::Full] {
                let p = difference.p_value(allowance);
                let value = 0.5 - 60.0 * often;
                let (low, high) = difference.reach(normal_quantile(1.0 - 0.5 * p), allowance);
                let reach = if value > 0.0 { low } else { high };
                assert!((reach - value.abs()).abs() < 1e-6 || p > 0.999, "{often} {p} {reach}");
            }
            assert!(difference.p_value(EventAllowance::Full) >= difference.p_value(EventAllowance::Half));
        }
    }
}
