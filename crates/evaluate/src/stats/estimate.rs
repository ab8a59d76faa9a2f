//! Computes a ratio of sums with an interval for the tables: chooses the method that holds, names it, and handles few
//! tasks.

use super::cluster::{ClusterSums, Spread, spread};
use super::distribution::normal_quantile;
use super::interval::Interval;
pub use super::method::{Method, Warning};
use super::residual::{ResidualPart, Residuals};
use super::seldom::{AmountUse, EventAllowance};

/// Below this many tasks a difference of rates has no interval, only the estimate.
pub const MIN_CLUSTERS_FOR_INTERVAL: u64 = 8;
/// Below this many tasks the interval of a difference of rates carries a warning, and an amount (tokens, cost) has none.
pub const MIN_CLUSTERS_WITHOUT_WARNING: u64 = 20;
/// Below this many tasks the interval of an amount carries a warning.
pub const MIN_CLUSTERS_FOR_AMOUNTS: u64 = 50;

/// If tasks are so unequal that their effective number (Kish) is below this, the interval carries a warning.
pub const MIN_EFFECTIVE_CLUSTERS: f64 = 8.0;

/// Where few tasks carry an amount, the t interval's upper end is at most so many times as far out as with the degrees of freedom
/// of all tasks. For an amount printed alone: with 1.2 it covers two points less where tokens have long tails.
const FARTHEST_ALONE: f64 = 1.4;
/// The same for what is not spent within the cost of a success, whose interval is the wider for the kills that were not seen: it
/// covers 93 % or more there.
const FARTHEST_WITHIN_COST: f64 = 1.2;

/// How many tasks an interval needs.
pub(super) struct MinimumData {
    /// Below this, no interval.
    interval: u64,
    /// Below this, a warning.
    trusted: u64,
}

impl MinimumData {
    /// For differences of rates, and for what is lost of the successes.
    pub(super) const RATE: Self = Self { interval: MIN_CLUSTERS_FOR_INTERVAL, trusted: MIN_CLUSTERS_WITHOUT_WARNING };
    /// For amounts and their differences.
    pub(super) const AMOUNT: Self = Self { interval: MIN_CLUSTERS_WITHOUT_WARNING, trusted: MIN_CLUSTERS_FOR_AMOUNTS };

    /// True if an interval may be given.
    pub(super) fn is_met(&self, clusters: u64) -> bool {
        clusters >= self.interval
    }

    /// The warning for `clusters` tasks, given whether a method returned an interval.
    pub(super) fn warning(&self, clusters: u64, has_interval: bool) -> Option<Warning> {
        if !self.is_met(clusters) {
            return Some(Warning::TooFewClusters { clusters, needed: self.interval });
        }
        if !has_interval {
            return Some(Warning::NoSpread);
        }
        if clusters >= self.trusted {
            return None;
        }
        Some(Warning::FewClusters { clusters, needed: self.trusted })
    }

    /// As [`Self::warning`], and also warns if a few large tasks dominate the estimate.
    pub(super) fn warning_for(&self, residuals: &Residuals, has_interval: bool) -> Option<Warning> {
        let dominated = residuals.effective_clusters().filter(|effective| *effective < MIN_EFFECTIVE_CLUSTERS);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a percentage and a number below 8"
        )]
        let dominated = dominated.map(|effective| Warning::Dominated {
            largest: (residuals.largest_share() * 100.0).round() as u64,
            effective: effective as u64,
        });
        self.warning(residuals.clusters, has_interval).or(dominated)
    }
}

/// A number as printed in a table: the value, its interval, its n, and the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value; `None` if it is undefined.
    pub value: Option<f64>,
    /// The interval at the requested level; `None` if no method holds.
    pub interval: Option<Interval>,
    /// Runs that contributed.
    pub n: u64,
    /// Tasks that contributed at least one run.
    pub clusters: u64,
    /// How the interval was computed.
    pub method: Method,
    /// Why to read it with care.
    pub warning: Option<Warning>,
}

impl Estimate {
    /// No estimate: the denominators sum to 0.
    pub const UNDEFINED: Self =
        Self { value: None, interval: None, n: 0, clusters: 0, method: Method::Undefined, warning: None };

    /// With another source of error, independent of the first and with this standard error: both ends move away from the
    /// value, to the root of the sum of squares (MOVER).
    #[must_use]
    pub fn widened(self, standard_error: f64) -> Self {
        let (Some(value), Some(interval)) = (self.value, self.interval) else { return self };
        if standard_error <= 0.0 {
            return self;
        }
        let by = normal_quantile(0.975) * standard_error;
        let low = value - (value - interval.low).hypot(by);
        let high = value + (interval.high - value).hypot(by);
        Self { interval: Some(Interval { low, high }), method: Method::Mover, ..self }
    }

    /// With an interval that ends where the value must.
    #[must_use]
    pub fn within(self, least: f64, most: f64) -> Self {
        let within = |interval: Interval| Interval { low: interval.low.max(least), high: interval.high.min(most) };
        Self { interval: self.interval.map(within), ..self }
    }

    /// With an interval that contains another one.
    #[must_use]
    pub fn reaching(self, other: Option<Interval>) -> Self {
        let interval = self.interval.zip(other).map(|(own, other)| own.hull(other)).or(self.interval);
        Self { interval, ..self }
    }

    /// How many more clusters like these would bring the lower end above `limit`, if the value stays as it is. `None` if the
    /// value is not above it, or has no interval.
    pub fn clusters_missing(&self, limit: f64) -> Option<u64> {
        let (value, low) = (self.value?, self.low()?);
        let factor = ((value - low) / (value - limit)).powi(2) - 1.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1; too large saturates")]
        (value > limit && factor.is_finite()).then(|| (factor * self.clusters as f64).ceil().max(1.0) as u64)
    }

    /// Lower end of the interval.
    pub fn low(&self) -> Option<f64> {
        self.interval.map(|interval| interval.low)
    }

    /// Upper end of the interval.
    pub fn high(&self) -> Option<f64> {
        self.interval.map(|interval| interval.high)
    }
}

/// The ratio of sums over `clusters` (one per task) with an interval at `level`, by the method that holds:
///
/// - a part of an amount (tokens saved of tokens recorded): t on the logit scale; if few tasks carry it, the upper end
///   allows for one more, and the lower end is the nearer of t and gamma;
/// - any other ratio: t, corrected for skewness.
///
/// All t quantiles use the [degrees of freedom](super::residual::Residuals::degrees_of_freedom) that the tasks'
/// residuals support, and all residuals are jackknife (left-out) residuals. If tasks are of unequal size, the interval
/// also covers the spread expected if large tasks differ as small ones do. There is none below 20 tasks, and a warning
/// below 50, where in long-tailed corpora the interval can miss its level by 1 to 3 points (`reports/`, validity). A
/// share of runs is no such ratio: see [`task_rate`](super::task_rate()).
///
/// Uses no randomness; takes one pass for the sums and one for the residuals.
pub fn ratio_estimate(clusters: &[ClusterSums], level: f64) -> Estimate {
    let Some(spread) = spread(clusters) else { return Estimate::UNDEFINED };
    from_spread(&spread, spread.is_part, level)
}

/// As [`ratio_estimate`] for a ratio whose runs may have any sign, whatever these runs look like.
///
/// Use this for a mean of differences: runs that happen to differ in one direction only would otherwise be mistaken
/// for a share, and the interval for a share can exclude 0.
pub fn free_ratio_estimate(clusters: &[ClusterSums], level: f64) -> Estimate {
    let Some(spread) = spread(clusters) else { return Estimate::UNDEFINED };
    from_spread(&spread, false, level)
}

fn from_spread(spread: &Spread, is_part: bool, level: f64) -> Estimate {
    let interval = interval_of(spread, is_part, level, AmountUse::Alone);
    let method = match interval {
        None => Method::EstimateOnly,
        Some(_) if is_part => Method::LogitT,
        Some(_) => Method::SkewnessCorrectedT,
    };
    Estimate {
        value: Some(spread.ratio),
        interval,
        n: spread.n,
        clusters: spread.clusters(),
        method,
        warning: MinimumData::AMOUNT
            .warning_for(&spread.residuals, interval.is_some())
            .or_else(|| few_carry(spread, AmountUse::Alone)),
    }
}

/// The interval of a part of an amount, or of any other ratio; `None` if there are too few tasks.
pub(super) fn interval_of(spread: &Spread, is_part: bool, level: f64, purpose: AmountUse) -> Option<Interval> {
    if !MinimumData::AMOUNT.is_met(spread.clusters()) {
        return None;
    }
    if is_part { logit_interval(spread, level, purpose) } else { spread.residuals.interval(spread.ratio, level) }
}

/// The warning if few tasks carry an amount.
pub(super) fn few_carry(spread: &Spread, purpose: AmountUse) -> Option<Warning> {
    if !spread.is_part {
        return None;
    }
    let carried = spread.held.by_few(purpose)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of tasks")]
    Some(Warning::FewCarry { tasks: carried.tasks().round() as u64 })
}

fn logit_interval(spread: &Spread, level: f64, purpose: AmountUse) -> Option<Interval> {
    let p = spread.ratio;
    let centre = (p / (1.0 - p)).ln();
    let half = spread.residuals.half_width(level)? / (p * (1.0 - p));
    let back = |logit: f64| 1.0 / (1.0 + (-logit).exp());
    let interval = Interval { low: back(centre - half), high: back(centre + half) };
    if !centre.is_finite() || !half.is_finite() {
        return None;
    }
    let Some(carried) = spread.held.by_few(purpose) else { return Some(interval) };
    let z = normal_quantile(0.5 + 0.5 * level);
    // One task more can only add to what was seen. So few tasks support few degrees of freedom, which make the upper end
    // of the t interval as far out as any; beyond that of all tasks it is not followed far.
    let farthest = match purpose {
        AmountUse::Alone => FARTHEST_ALONE,
        AmountUse::WithinCost => FARTHEST_WITHIN_COST,
    };
    let farthest = farthest * spread.residuals.half_width_of_all(level)? / (p * (1.0 - p));
    Some(Interval {
        low: interval.low.max(p - carried.below(z).min(p)),
        high: back(centre + half.min(farthest)).max((p + carried.above(z, EventAllowance::Full)).min(1.0)),
    })
}

/// A ratio of positive sums, such as the cost of a success, with an interval on the logarithm, where it is symmetric.
/// Each task's residual is the change of the whole when the task is left out.
///
/// Undefined unless both sums are positive; no interval below 20 tasks, or if one task holds all of a sum.
pub fn positive_ratio_estimate(clusters: &[ClusterSums], level: f64) -> Estimate {
    let Some(spread) = spread(clusters) else { return Estimate::UNDEFINED };
    let counted: Vec<&ClusterSums> = clusters.iter().filter(|cluster| cluster.n > 0).collect();
    let total = counted.iter().fold((0.0, 0.0), |sum, task| (sum.0 + task.numerator, sum.1 + task.denominator));
    let residuals = log_parts(&counted, total).map(|parts| Residuals::from_parts(&parts, parts.len() as u64));
    let requirement = MinimumData::AMOUNT;
    let log_interval = residuals
        .filter(|_| requirement.is_met(spread.clusters()))
        .and_then(|residuals| residuals.interval(log_ratio(total)?, level));
    let interval = log_interval.map(Interval::exp);
    Estimate {
        value: Some(spread.ratio),
        interval,
        n: spread.n,
        clusters: spread.clusters(),
        method: if interval.is_some() { Method::LogT } else { Method::EstimateOnly },
        warning: requirement.warning_for(&residuals.unwrap_or(spread.residuals), interval.is_some()),
    }
}

/// Each task's part of the logarithm of the ratio of `total`; `None` if some logarithm is not defined.
fn log_parts(tasks: &[&ClusterSums], total: (f64, f64)) -> Option<Vec<ResidualPart>> {
    let value = log_ratio(total)?;
    let mut parts = Vec::with_capacity(tasks.len());
    for task in tasks {
        let (numerator, denominator) = (task.numerator / total.0, task.denominator / total.1);
        let without = log_ratio((total.0 - task.numerator, total.1 - task.denominator))?;
        parts.push(ResidualPart {
            residual: numerator - denominator,
            left_out: value - without,
            share: 0.5 * (numerator + denominator),
        });
    }
    Some(parts)
}

fn log_ratio((numerator, denominator): (f64, f64)) -> Option<f64> {
    if numerator > 0.0 && denominator > 0.0 { Some(numerator.ln() - denominator.ln()) } else { None }
}
