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

    /// The t interval around `value` that holds with and without skewness: from the lower of two lower ends to the higher of
    /// two upper ends, one pair plain, one corrected by Hall's transformation. `None` as [`Self::variance`].
    ///
    /// The plain interval fails when a few tasks carry a one-sided statistic, the corrected one when a skewed sample
    /// comes from a symmetric difference.
    ///
    /// Hall (1992), On the removal of skewness by transformation, J. Royal Statistical Society B 54.
    pub fn interval(&self, value: f64, level: f64) -> Option<Interval> {
        let standard_error = self.variance()?.sqrt();
        let quantile = self.quantile(level);
        Some(Interval {
            low: value - standard_error * self.skewed_quantile(quantile).max(quantile),
            high: value - standard_error * self.skewed_quantile(-quantile).min(-quantile),
        })
    }

    /// Two-sided p-value of "the statistic is 0": Student's t with K - 1 degrees of freedom, or t with its skewness removed,
    /// whichever is larger; `None` as [`Self::variance`].
    ///
    /// Meant for differences. [`Self::interval`] has fewer degrees of freedom where a few tasks carry the spread,
    /// which keeps its coverage far from 0 but would make the test miss its level; near its level the two may disagree.
    pub fn p_value(&self, value: f64) -> Option<f64> {
        let t = value / self.variance()?.sqrt();
        Some(t_two_sided(t.abs().min(self.unskewed(t).abs()), self.clusters as f64 - 1.0))
    }

    /// Hall's transformation of a t statistic: the inverse of [`Self::skewed_quantile`].
    fn unskewed(&self, t: f64) -> f64 {
        let (clusters, skewness) = (self.clusters as f64, self.skewness());
        if skewness.abs() < 1e-6 {
            return t;
        }
        let cube = (1.0 + skewness * t / (3.0 * clusters.sqrt())).powi(3);
        clusters.sqrt() * ((cube - 1.0) / skewness + skewness / (6.0 * clusters))
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
    fn a_long_right_tail_moves_the_upper_end_out() {
        let residuals: Residuals = [-0.3, -0.3, -0.3, -0.2, -0.3, -0.2, 1.9, -0.3, 0.0, 0.0].into_iter().collect();
        let interval = residuals.interval(1.0, 0.95).unwrap();
        assert!(interval.high - 1.0 > 1.3 * (1.0 - interval.low), "{interval:?}");
        let half = residuals.quantile(0.95) * residuals.variance().unwrap().sqrt();
        assert!((1.0 - interval.low - half).abs() < 1e-12, "the other end is the plain one");
    }

    #[test]
    fn removing_skewness_undoes_adding_it() {
        let residuals: Residuals = [-0.3, -0.3, -0.3, -0.2, -0.3, -0.2, 1.9, -0.3, 0.0, 0.0].into_iter().collect();
        for t in [-2.5, -1.0, 0.3, 1.7] {
            assert!((residuals.unskewed(residuals.skewed_quantile(t)) - t).abs() < 1e-9, "{t}");
        }
        let plain = t_two_sided(0.8 / residuals.variance().unwrap().sqrt(), 9.0);
        assert!(residuals.p_value(0.8).unwrap() >= plain && residuals.p_value(-0.8).unwrap() >= plain);
    }

    #[test]
    fn without_skewness_it_is_students_interval() {
        let residuals: Residuals = (0..20).map(|at| if at % 2 == 0 { 0.1 } else { -0.1 }).collect();
        let half = t_quantile(0.975, 19.0) * (0.2_f64 * 20.0 / 19.0).sqrt();
        assert!((residuals.interval(1.0, 0.95).unwrap().high - 1.0 - half).abs() < 1e-9);
    }
}
