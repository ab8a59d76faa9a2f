//! An estimate that may be known only within bounds: one number if everything is known, else a lowest and a highest.

use super::cluster::ClusterSums;
use super::estimate::{Estimate, Method, Warning, positive_ratio_estimate, ratio_estimate};
use super::interval::Interval;

/// The estimate with every unknown at its lowest and at its highest. If nothing is unknown, both are the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeEstimate {
    /// Every unknown at its lowest. Undefined if nothing limits it from below.
    pub low: Estimate,
    /// Every unknown at its highest. Undefined if nothing limits it from above.
    pub high: Estimate,
}

impl RangeEstimate {
    /// A range without unknowns: both ends are `estimate`.
    pub fn exactly(estimate: Estimate) -> Self {
        Self { low: estimate, high: estimate }
    }

    /// A range over tasks: ratios of sums, each by [`ratio_estimate`]. `None` for an end means it is unlimited.
    pub fn from_ends(low: Option<&[ClusterSums]>, high: Option<&[ClusterSums]>, level: f64) -> Self {
        Self::by(low, high, |clusters| ratio_estimate(clusters, level))
    }

    /// As [`Self::from_ends`] for a ratio of positive sums, by [`positive_ratio_estimate`].
    pub fn from_positive(low: Option<&[ClusterSums]>, high: Option<&[ClusterSums]>, level: f64) -> Self {
        Self::by(low, high, |clusters| positive_ratio_estimate(clusters, level))
    }

    /// A range over tasks by any `estimate`. `None` for an end means it is unlimited.
    pub fn by<T: PartialEq>(low: Option<&[T]>, high: Option<&[T]>, estimate: impl Fn(&[T]) -> Estimate) -> Self {
        let end = |tasks: Option<&[T]>| match tasks {
            Some(tasks) => estimate(tasks),
            None => Estimate::UNDEFINED,
        };
        if low == high { Self::exactly(end(low)) } else { Self { low: end(low), high: end(high) } }
    }

    /// The value, or `None` if it is undefined or known only as a range.
    pub fn value(&self) -> Option<f64> {
        self.low.value.filter(|_| self.is_point())
    }

    /// True if the lowest and the highest value are the same number.
    pub fn is_point(&self) -> bool {
        self.low.value.is_some() && self.low.value == self.high.value
    }

    /// The lowest and highest value the recordings allow; `None` unless both are limited.
    pub fn bounds(&self) -> Option<Interval> {
        self.low.value.zip(self.high.value).map(|(low, high)| Interval { low, high })
    }

    /// Lower end of the interval, which covers both ends of the range.
    pub fn lower(&self) -> Option<f64> {
        self.low.low()
    }

    /// Upper end of the interval, which covers both ends of the range.
    pub fn upper(&self) -> Option<f64> {
        self.high.high()
    }

    /// The interval that covers both ends of the range.
    pub fn interval(&self) -> Option<Interval> {
        self.lower().zip(self.upper()).map(|(low, high)| Interval { low, high })
    }

    /// Number of runs.
    pub fn n(&self) -> u64 {
        self.low.n.max(self.high.n)
    }

    /// Number of tasks.
    pub fn clusters(&self) -> u64 {
        self.low.clusters.max(self.high.clusters)
    }

    /// How the interval was computed, at the end that is harder to estimate.
    pub fn method(&self) -> Method {
        self.low.method.max(self.high.method)
    }

    /// Why to read it with care.
    pub fn warning(&self) -> Option<Warning> {
        self.low.warning.or(self.high.warning)
    }

    /// One minus the range: the ends swap.
    #[must_use]
    pub fn one_less(&self) -> Self {
        let turn = |estimate: &Estimate| Estimate {
            value: estimate.value.map(|value| 1.0 - value),
            interval: estimate.interval.map(|i| Interval { low: 1.0 - i.high, high: 1.0 - i.low }),
            ..*estimate
        };
        Self { low: turn(&self.high), high: turn(&self.low) }
    }
}
