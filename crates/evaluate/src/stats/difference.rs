//! The difference of two ratios of sums over the same tasks, with an interval and a p-value.

use super::cluster::{ClusterSums, left_out};
use super::distribution::normal_quantile;
use super::estimate::{Method, MinimumData, Warning};
use super::interval::Interval;
use super::multiplicity::{Contrast, SweepTest};
use super::paired::exact_sign_flip;
use super::residual::{ResidualPart, Residuals};
use super::seldom::{CarriedDifference, EventAllowance};

/// What one task contributes to two ratios of sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairedSums {
    /// Under the first strategy.
    pub a: ClusterSums,
    /// Under the second strategy.
    pub b: ClusterSums,
}

/// The difference of two ratios, first minus second.
#[derive(Clone, Debug, PartialEq)]
pub struct RatioDifference {
    /// First ratio minus second ratio.
    pub value: f64,
    /// Each task's part in the difference, in the order given, assuming both ratios are equal; they sum to the
    /// difference.
    pub scores: Vec<f64>,
    /// Tasks with a denominator under either strategy.
    pub clusters: u64,
    /// True if both ratios are shares of runs or means of numbers in [0, 1].
    pub is_rate: bool,
    /// The jackknife (left-out) residuals of the tasks that contributed.
    pub residuals: Residuals,
    /// The same for amounts of which one is carried by few tasks; `None` for rates, and if many tasks carry both.
    carried: Option<CarriedDifference>,
}

impl RatioDifference {
    /// The difference over `tasks`; `None` if either denominator sums to 0.
    pub fn new(tasks: &[PairedSums]) -> Option<Self> {
        let total = |of: fn(&PairedSums) -> &ClusterSums| {
            tasks.iter().map(of).fold((0.0, 0.0), |sum, task| (sum.0 + task.numerator, sum.1 + task.denominator))
        };
        let (total_a, total_b) = (total(|task| &task.a), total(|task| &task.b));
        let (ratio_a, ratio_b) = (total_a.0 / total_a.1, total_b.0 / total_b.1);
        let value = ratio_a - ratio_b;
        let is_rate = tasks.iter().all(|task| task.a.is_rate() && task.b.is_rate());
        let clusters = tasks.iter().filter(|task| task.a.n > 0 || task.b.n > 0).count() as u64;
        let factor = if is_rate { 1.0 - 1.0 / clusters as f64 } else { 1.0 };
        // The common value of both ratios under the null hypothesis.
        let common = (total_a.0 + total_b.0) / (total_a.1 + total_b.1);
        let scaled = |task: &ClusterSums, ratio: f64, total: f64| (task.numerator - ratio * task.denominator) / total;
        let part = |task: &PairedSums| {
            let (a, b) = (scaled(&task.a, ratio_a, total_a.1), scaled(&task.b, ratio_b, total_b.1));
            let (share_a, share_b) = (task.a.denominator / total_a.1, task.b.denominator / total_b.1);
            let left_out = (left_out(a, share_a) - left_out(b, share_b)) * factor;
            ResidualPart { residual: a - b, left_out, share: 0.5 * (share_a + share_b).max(0.0) }
        };
        let parts: Vec<ResidualPart> = tasks.iter().map(part).collect();
        let amounts = |task: &PairedSums| (task.a.numerator / total_a.1, task.b.numerator / total_b.1);
        let amounts: Vec<(f64, f64)> = if is_rate { Vec::new() } else { tasks.iter().map(amounts).collect() };
        let score = |task: &PairedSums| scaled(&task.a, common, total_a.1) - scaled(&task.b, common, total_b.1);
        if !value.is_finite() {
            return None;
        }
        Some(Self {
            value,
            scores: tasks.iter().map(score).collect(),
            clusters,
            is_rate,
            residuals: Residuals::from_parts(&parts, clusters),
            carried: if is_rate { None } else { CarriedDifference::by_few(&amounts, clusters) },
        })
    }

    /// The interval and p-value, which cannot disagree about 0: see [`Residuals::interval`] and
    /// [`Residuals::p_value`]. If few tasks differ at all, the interval extends to 0 unless the exact sign-flip test
    /// rejects too. If few tasks carry one of two amounts, interval and p-value allow for one more such task. Without
    /// spread there is neither, unless nothing differs at all (p = 1); below 8 tasks for rates or 20 for amounts there
    /// is neither.
    pub fn compare(&self, level: f64) -> DifferenceEstimate {
        let requirement = if self.is_rate { MinimumData::RATE } else { MinimumData::AMOUNT };
        let enough = requirement.is_met(self.clusters);
        let exact = exact_sign_flip(&self.scores);
        let reach = |interval: Interval| match exact {
            Some(p) if p > 1.0 - level => Interval { low: interval.low.min(0.0), high: interval.high.max(0.0) },
            _ => interval,
        };
        let limit = if self.is_rate { 1.0 } else { f64::INFINITY };
        let within = |interval: Interval| Interval { low: interval.low.max(-limit), high: interval.high.min(limit) };
        let hold = |interval: Interval| {
            let beside =
                self.carried.map(|carried| carried.reach(normal_quantile(0.5 + 0.5 * level), EventAllowance::Half));
            match beside {
                Some((low, high)) => interval.hull(Interval { low: self.value - low, high: self.value + high }),
                None => interval,
            }
        };
        let interval = self.residuals.interval(self.value, level).filter(|_| enough);
        let interval = interval.map(hold).map(reach).map(within);
        let p = match self.residuals.p_value(self.value) {
            None if self.value == 0.0 => Some(1.0),
            p => p.map(|p| p.max(exact.unwrap_or(0.0)).max(self.carried_p(EventAllowance::Half))),
        };
        DifferenceEstimate {
            value: Some(self.value),
            interval,
            p: p.filter(|_| enough),
            clusters: self.clusters,
            method: if interval.is_some() { Method::SkewnessCorrectedT } else { Method::EstimateOnly },
            warning: requirement.warning_for(&self.residuals, interval.is_some()),
        }
    }

    /// The p-value for use in a family of tests, see [`Residuals::careful_p_value`]; otherwise as in
    /// [`Self::compare`].
    pub fn careful_p(&self) -> Option<f64> {
        let careful = self.residuals.careful_p_value(self.value);
        self.compare(0.95).p.map(|p| p.max(careful.unwrap_or(0.0)).max(self.carried_p(EventAllowance::Full)))
    }

    /// The p-value if few tasks carry one of two amounts, else 0: it can only raise another p-value.
    fn carried_p(&self, allowance: EventAllowance) -> f64 {
        self.carried.map_or(0.0, |carried| carried.p_value(allowance))
    }

    /// Converts it to one test of a sweep, for [`super::multiplicity::adjust_sweep`].
    pub fn into_test(self) -> SweepTest {
        SweepTest { p: self.careful_p(), contrast: Some(self.into_contrast()) }
    }

    /// Converts it to a contrast: the difference with each task's score.
    pub fn into_contrast(self) -> Contrast {
        Contrast { value: self.value, scores: self.scores, clusters: self.clusters }
    }
}

/// A difference as printed in a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DifferenceEstimate {
    /// First ratio minus second ratio; `None` if either is undefined.
    pub value: Option<f64>,
    /// The interval at the requested level.
    pub interval: Option<Interval>,
    /// Two-sided p-value of "no difference".
    pub p: Option<f64>,
    /// Tasks that contributed.
    pub clusters: u64,
    /// How the interval was computed.
    pub method: Method,
    /// Why to read it with care.
    pub warning: Option<Warning>,
}

/// The difference of two ratios of sums over the same `tasks`, at `level`; see [`RatioDifference::compare`].
pub fn ratio_difference(tasks: &[PairedSums], level: f64) -> DifferenceEstimate {
    match RatioDifference::new(tasks) {
        Some(difference) => difference.compare(level),
        None => DifferenceEstimate {
            value: None,
            interval: None,
            p: None,
            clusters: 0,
            method: Method::Undefined,
            warning: None,
        },
    }
}
