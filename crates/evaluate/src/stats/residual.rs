//! The spread of a statistic over tasks, from each task's residual: standard error, skewness, effective degrees of
//! freedom, and the t interval and test that allow for both.

use super::distribution::{t_quantile, t_two_sided};
use super::interval::Interval;

/// One task's residual and weight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResidualPart {
    /// Its residual, in the unit of the statistic; over all tasks the residuals sum to 0.
    pub residual: f64,
    /// The jackknife residual: as if the task had not pulled the statistic towards itself.
    pub left_out: f64,
    /// The task's share of the denominator (runs, tokens), in [0, 1]; the shares sum to 1.
    pub share: f64,
}

/// The spread of a statistic over tasks, estimated twice: from each task's own residual, and from a model of how tasks
/// of all sizes vary. The first assumes nothing, but where one task holds most of the runs it rests on a single
/// number. The second assumes that large tasks differ from each other as small ones do. Intervals and tests use both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residuals {
    /// Tasks, those with residual 0 included.
    pub clusters: u64,
    squares: f64,
    cubes: f64,
    fourth_powers: f64,
    exchangeable: Option<Exchangeable>,
    largest_share: f64,
    squared_shares: f64,
}

/// The spread assuming tasks are exchangeable except for their size.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Exchangeable {
    variance: f64,
    degrees_of_freedom: f64,
}

impl Residuals {
    /// Computes the spread from each task's part. It uses the left-out residuals; `clusters` tasks contributed.
    pub fn from_parts(parts: &[ResidualPart], clusters: u64) -> Self {
        let mut residuals = Self::default();
        for part in parts {
            residuals.add(part.left_out);
            residuals.largest_share = residuals.largest_share.max(part.share);
            residuals.squared_shares += part.share * part.share;
        }
        residuals.clusters = clusters;
        residuals.exchangeable = Exchangeable::from_parts(parts);
        residuals
    }

    /// Adds one task's residual.
    pub fn add(&mut self, residual: f64) {
        let square = residual * residual;
        self.clusters += 1;
        self.squares += square;
        self.cubes += square * residual;
        self.fourth_powers += square * square;
    }

    /// The share of the largest task; 0 if sizes are not known.
    pub fn largest_share(&self) -> f64 {
        self.largest_share
    }

    /// The effective number of tasks: 1 over the sum of squared shares. `None` if sizes are not known.
    ///
    /// Kish (1965), Survey sampling, ch. 11.
    pub fn effective_clusters(&self) -> Option<f64> {
        if self.squared_shares > 0.0 { Some(1.0 / self.squared_shares) } else { None }
    }

    /// Variance and degrees of freedom assuming that tasks vary alike whatever their size. `None` without spread.
    pub fn exchangeable(&self) -> Option<(f64, f64)> {
        self.exchangeable.map(|spread| (spread.variance, spread.degrees_of_freedom))
    }

    /// Root of the sum of squares: the cluster-robust standard error, without a small-sample factor.
    pub fn standard_error(&self) -> f64 {
        self.squares.sqrt()
    }

    /// The variance with the factor `K / (K - 1)`, which makes it unbiased for a mean over equal tasks.
    /// `None` for fewer than two tasks or without any spread.
    pub fn variance(&self) -> Option<f64> {
        let clusters = self.clusters as f64;
        if self.clusters > 1 && self.squares > 0.0 { Some(self.squares * clusters / (clusters - 1.0)) } else { None }
    }

    /// Degrees of freedom of the standard error: `2K / skewness^2`, at least 1, at most `K - 1`.
    ///
    /// If a few tasks on one side carry all the spread (a rare event, a long tail), the estimated variance is itself
    /// uncertain and moves with the estimate, and K - 1 would overstate what is known: two hit tasks in a hundred
    /// count as about four degrees of freedom. For a share this is Satterthwaite's `2K / (kurtosis - 1)`; a long tail
    /// on both sides makes a t interval wider than necessary, not shorter, so it lowers no degrees of freedom here.
    ///
    /// Satterthwaite (1946), An approximate distribution of estimates of variance components, Biometrics Bulletin 2,
    /// with `Var(s^2) = sigma^4 (kurtosis - 1) / K`; uses only the part of the kurtosis that skewness forces.
    pub fn degrees_of_freedom(&self) -> f64 {
        let clusters = self.clusters as f64;
        let most = (clusters - 1.0).max(1.0);
        let effective = 2.0 * clusters / self.skewness().powi(2);
        if effective.is_finite() { effective.clamp(1.0, most) } else { most }
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

    /// An interval around `value` that allows for skewness and for tasks of unequal size: the hull of three t
    /// intervals, one plain, one corrected by Hall's transformation, one from the exchangeable spread. `None` as
    /// [`Self::variance`].
    ///
    /// The plain interval fails when a few tasks carry a one-sided statistic, the corrected one when a skewed sample
    /// comes from a symmetric difference, both when one task is most of the data.
    ///
    /// Hall (1992), On the removal of skewness by transformation, J. Royal Statistical Society B 54.
    pub fn interval(&self, value: f64, level: f64) -> Option<Interval> {
        let standard_error = self.variance()?.sqrt();
        let quantile = self.quantile(level);
        let other = self.exchangeable.map_or(0.0, |spread| spread.half_width(level));
        let low = standard_error * self.skewed_quantile(quantile).max(quantile);
        let high = -standard_error * self.skewed_quantile(-quantile).min(-quantile);
        Some(Interval { low: value - low.max(other), high: value + high.max(other) })
    }

    /// Half the width of the t interval at `level`, the larger of the plain and the exchangeable one; `None` as
    /// [`Self::variance`].
    pub fn half_width(&self, level: f64) -> Option<f64> {
        let own = self.quantile(level) * self.variance()?.sqrt();
        Some(self.wider(own, level))
    }

    /// The half width, or that of exchangeable tasks if it is larger.
    fn wider(&self, own: f64, level: f64) -> f64 {
        match self.exchangeable {
            Some(spread) => own.max(spread.half_width(level)),
            None => own,
        }
    }

    /// The same with the degrees of freedom of all tasks, whatever the skewness.
    pub fn half_width_of_all(&self, level: f64) -> Option<f64> {
        let all = (self.clusters as f64 - 1.0).max(1.0);
        let own = t_quantile(0.5 + 0.5 * level, all) * self.variance()?.sqrt();
        Some(self.wider(own, level))
    }

    /// Two-sided p-value of "the statistic is 0": the smallest level at which [`Self::interval`] excludes 0, so that
    /// interval and test cannot disagree. `None` as [`Self::variance`].
    pub fn p_value(&self, value: f64) -> Option<f64> {
        let t = value / self.variance()?.sqrt();
        let own = t_two_sided(t.abs().min(self.unskewed(t).abs()), self.degrees_of_freedom());
        let other = |spread: Exchangeable| t_two_sided(value / spread.variance.sqrt(), spread.degrees_of_freedom);
        Some(own.max(self.exchangeable.map_or(0.0, other)))
    }

    /// As [`Self::p_value`], with tails that hold far out, for use in a family of tests: with Satterthwaite's full `2K
    /// / (kurtosis - 1)` degrees of freedom. Never smaller than [`Self::p_value`].
    pub fn careful_p_value(&self, value: f64) -> Option<f64> {
        let clusters = self.clusters as f64;
        let t = value / self.variance()?.sqrt();
        let kurtosis = clusters * self.fourth_powers / (self.squares * self.squares);
        let effective = 2.0 * clusters / (kurtosis - 1.0);
        let most = self.degrees_of_freedom();
        let effective = if effective.is_finite() && effective > 0.0 { effective.clamp(1.0, most) } else { most };
        Some(self.p_value(value)?.max(t_two_sided(t.abs().min(self.unskewed(t).abs()), effective)))
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
        // For skewness this small the inverse of the cubic cancels numerically, and the correction is negligible.
        if skewness.abs() < 1e-6 {
            return quantile;
        }
        let inner = 1.0 + skewness * (quantile / clusters.sqrt() - skewness / (6.0 * clusters));
        3.0 / skewness * (inner.cbrt() - 1.0) * clusters.sqrt()
    }
}

impl Exchangeable {
    /// Fits `Var(residual / share) = a + b / share` to the tasks' plain residuals by two moments, one weighting all
    /// tasks equally and one by share, each set to its expectation under the model; the statistic then has variance `a
    /// sum share^2 + b`. A negative `a` or `b` is set to 0. `None` without spread or with fewer than three tasks.
    fn from_parts(parts: &[ResidualPart]) -> Option<Self> {
        let sized = || parts.iter().filter(|part| part.share > 0.0);
        let clusters = sized().count() as f64;
        if clusters < 3.0 {
            return None;
        }
        let sum = |of: &dyn Fn(&ResidualPart) -> f64| sized().map(of).sum::<f64>();
        let squared_shares = sum(&|part| part.share * part.share);
        let by_share = sum(&|part| part.residual * part.residual / part.share);
        let equal = sum(&|part| (part.residual / part.share).powi(2));
        // The expectation of each moment: the coefficient of b, then of a.
        let expected = [
            (clusters - 1.0, 1.0 - squared_shares),
            (sum(&|part| 1.0 / part.share) - clusters, clusters - 2.0 + clusters * squared_shares),
        ];
        let determinant = expected[0].0 * expected[1].1 - expected[1].0 * expected[0].1;
        let between = (expected[0].0 * equal - expected[1].0 * by_share) / determinant;
        let within = (by_share * expected[1].1 - equal * expected[0].1) / determinant;
        // With tasks of equal size the two cannot be separated, and need not be.
        let alike = determinant.abs() < 1e-9 * expected[0].0 * expected[1].1;
        let (between, within) = match (between, within) {
            _ if alike => (equal / expected[1].1, 0.0),
            (between, _) if between < 0.0 => (0.0, by_share / expected[0].0),
            (_, within) if within < 0.0 => (equal / expected[1].1, 0.0),
            both => both,
        };
        let variance = between * squared_shares + within;
        if !(variance > 0.0 && variance.is_finite()) {
            return None;
        }
        let mut standardised = Residuals::default();
        for part in sized() {
            standardised.add(part.residual / (between * part.share * part.share + within * part.share).sqrt());
        }
        Some(Self { variance, degrees_of_freedom: standardised.degrees_of_freedom() })
    }

    fn half_width(self, level: f64) -> f64 {
        t_quantile(0.5 + 0.5 * level, self.degrees_of_freedom) * self.variance.sqrt()
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
