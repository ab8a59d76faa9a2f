//! Intervals for a single proportion of independent trials: Wilson, Clopper-Pearson, and the one-sided upper limit.

use super::distribution::beta_quantile;

/// A closed interval, in the unit of the statistic it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end; never below `low`.
    pub high: f64,
}

impl Interval {
    /// The interval from `centre - half` to `centre + half`.
    pub fn around(centre: f64, half: f64) -> Self {
        Self { low: centre - half, high: centre + half }
    }

    /// True if `value` lies within the interval, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The smallest interval that covers both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Transforms an interval of logarithms back to the original scale.
    #[must_use]
    pub fn exp(self) -> Self {
        Self { low: self.low.exp(), high: self.high.exp() }
    }

    /// Upper end minus lower end.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }
}

/// Wilson's score interval for a share `p` in [0, 1] with the information of `n_effective` independent trials and the
/// critical value `quantile` (1.96 for 95 % if the variance is known).
///
/// Both ends stay in [0, 1]; at `p` = 0 the lower end is exactly 0, at 1 the upper exactly 1. `None` if `n_effective`
/// is not positive or `p` is out of range.
///
/// The form for clustered samples: Dean & Pagano (2015), Evaluating confidence interval methods for binomial
/// proportions in clustered surveys, J. Survey Statistics and Methodology 3.
pub fn wilson_effective(p: f64, n_effective: f64, quantile: f64) -> Option<Interval> {
    let usable = n_effective > 0.0 && n_effective.is_finite() && (0.0..=1.0).contains(&p) && quantile.is_finite();
    if !usable {
        return None;
    }
    let spread = quantile * quantile / n_effective;
    let centre = (p + 0.5 * spread) / (1.0 + spread);
    let half = (spread * (p * (1.0 - p) + 0.25 * spread)).sqrt() / (1.0 + spread);
    Some(Interval {
        low: if p <= 0.0 { 0.0 } else { (centre - half).max(0.0) },
        high: if p >= 1.0 { 1.0 } else { (centre + half).min(1.0) },
    })
}

/// The exact (Clopper-Pearson) interval for `successes` of `n` independent trials: coverage is never below `level`.
///
/// `None` if `n` is 0 or `successes > n`.
///
/// Clopper & Pearson (1934), Biometrika 26.
pub fn clopper_pearson(successes: u64, n: u64, level: f64) -> Option<Interval> {
    let tail = 0.5 * (1.0 - level);
    Some(Interval {
        low: 1.0 - upper_tail_limit(n.checked_sub(successes)?, n, tail)?,
        high: upper_tail_limit(successes, n, tail)?,
    })
}

/// The share at which `successes` or fewer have probability `tail`.
fn upper_tail_limit(successes: u64, n: u64, tail: f64) -> Option<f64> {
    match n.checked_sub(successes)? {
        _ if n == 0 => None,
        0 => Some(1.0),
        failures => Some(beta_quantile(1.0 - tail, successes as f64 + 1.0, failures as f64)),
    }
}
