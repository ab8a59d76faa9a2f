//! The spread of a statistic over tasks, from what each task adds to its error: standard error, skewness, how many
//! degrees of freedom the data really have, and the t interval and test that allow for both.

use super::distribution::{t_quantile, t_two_sided};
use super::interval::Interval;

/// Power sums of the tasks' residuals. A residual is one task's part in the error of a statistic; they sum to 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residuals {
    /// Tasks, those with residual 0 included.
    pub clusters: u64,
    squares: f64,
    cubes: f64,
    fourth_powers: f64,
}

impl Residuals {
    /// Adds one task's residual.
    pub fn add(&mut self, residual: f64) {
        let square = residual * residual;
        self.clusters += 1;
        self.squares += square;
        self.cubes += square * residual;
        self.fourth_powers += square * square;
    }

    /// The residuals divided by `scale`, which must be positive.
    #[must_use]
    pub fn scaled(self, scale: f64) -> Self {
        let square = scale * scale;
        Self {
            clusters: self.clusters,
            squares: self.squares / square,
            cubes: self.cubes / (square * scale),
            fourth_powers: self.fourth_powers / (square * square),
        }
    }

    /// Root of the sum of squares: the cluster-robust standard error, without a small-sample factor.
    pub fn standard_error(&self) -> f64 {
        self.squares.sqrt()
    }

    /// The variance with the factor `K / (K - 1)`, which makes it unbiased for a mean over equal tasks.
    /// `None` for fewer than two tasks or without any spread.
    pub fn variance(&self) -> Option<f64> {
        let clusters = self.clusters as f64;
        (self.clusters > 1 && self.squares > 0.0).then(|| self.squares * clusters / (clusters - 1.0))
    }

    /// How many degrees of freedom the standard error has: `2K / (kurtosis - 1)`, at least 1, at most `K - 1`.
    ///
    /// When a few tasks carry all the spread (a rare event, a heavy tail), the estimated variance is itself uncertain,
    /// and K - 1 would overstate what is known: two hit tasks in a hundred count as about four degrees of freedom.
    ///
    /// Satterthwaite (1946), An approximate distribution of estimates of variance components, Biometrics Bulletin 2,
    /// with `Var(s^2) = sigma^4 (kurtosis - 1) / K`.
    pub fn degrees_of_freedom(&self) -> f64 {
        let clusters = self.clusters as f64;
        let kurtosis = clusters * self.fourth_powers / (self.squares * self.squares);
        let most = (clusters - 1.0).max(1.0);
        let effective = 2.0 * clusters / (kurtosis - 1.0);
        // Two equal piles have kurtosis 1: nothing is uncertain about their spread.
        if effective.is_finite() && effective > 0.0 { effective.clamp(1.0, most) } else { most }
    }

    /// The t quantile of a two-sided interval at `level`.
    pub fn quantile(&self, level: f64) -> f64 {
        t_quantile(0.5 + 0.5 * level, self.degrees_of_freedom())
    }

    /// Third standardised moment over tasks; 0 without spread.
    fn skewness(&self) -> f64 {
        let skewness = (self.clusters as f64).sqrt() * self.cubes / self.squares.powf(1.5);
        if skewness.is_finite() { skewness } else { 0.0 }
    }

    /// The t interval around `value`, corrected for skewness by Hall's transformation; `None` as [`Self::variance`].
    ///
    /// Hall (1992), On the removal of skewness by transformation, J. Royal Statistical Society B 54.
    pub fn interval(&self, value: f64, level: f64) -> Option<Interval> {
        let standard_error = self.variance()?.sqrt();
        let quantile = self.quantile(level);
        Some(Interval {
            low: value - standard_error * self.skewed_quantile(quantile),
            high: value - standard_error * self.skewed_quantile(-quantile),
        })
    }

    /// Two-sided p-value of "the statistic is 0", matching [`Self::interval`]; `None` as [`Self::variance`].
    pub fn p_value(&self, value: f64) -> Option<f64> {
        let t = value / self.variance()?.sqrt();
        let (clusters, skewness) = (self.clusters as f64, self.skewness());
        let w = t / clusters.sqrt();
        let cubic = w + skewness * w * w / 3.0 + skewness * skewness * w * w * w / 27.0 + skewness / (6.0 * clusters);
        Some(t_two_sided(clusters.sqrt() * cubic, self.degrees_of_freedom()))
    }

    /// The value of the skewed t statistic that Hall's transformation maps to `quantile`.
    fn skewed_quantile(&self, quantile: f64) -> f64 {
        let (clusters, skewness) = (self.clusters as f64, self.skewness());
        // For a skewness this small the inverse of the cubic cancels, and the correction is none.
        if skewness.abs() < 1e-6 {
            return quantile;
        }
        let inner = 1.0 + skewness * (quantile / clusters.sqrt() - skewness / (6.0 * clusters));
        3.0 / skewness * (inner.cbrt() - 1.0) * clusters.sqrt()
    }
}

impl FromIterator<f64> for Residuals {
    fn from_iter<I: IntoIterator<Item = f64>>(iter: I) -> Self {
        let mut residuals = Self::default();
        for residual in iter {
            residuals.add(residual);
        }
        residuals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_and_p_value_are_the_same_test() {
        let residuals: Residuals = [-0.4, -0.3, -0.5, -0.2, 0.1, 0.2, 1.9, -0.4, -0.4, 0.0].into_iter().collect();
        for value in [0.3, 2.0, 4.0, 9.0, -1.0, -3.0] {
            let p = residuals.p_value(value).unwrap();
            let interval = residuals.interval(value, 1.0 - p).unwrap();
            let nearest = if interval.low.abs() < interval.high.abs() { interval.low } else { interval.high };
            assert!(nearest.abs() < 1e-6, "{value}: p {p}, {interval:?}");
        }
    }

    #[test]
    fn without_skewness_it_is_students_interval() {
        let residuals: Residuals = (0..20).map(|at| if at % 2 == 0 { 0.1 } else { -0.1 }).collect();
        let half = t_quantile(0.975, 19.0) * (0.2_f64 * 20.0 / 19.0).sqrt();
        assert!((residuals.interval(1.0, 0.95).unwrap().high - 1.0 - half).abs() < 1e-9);
    }
}
