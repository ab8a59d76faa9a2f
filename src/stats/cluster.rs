//! Standard errors when runs come in clusters (all runs of one task), for a mean and for a ratio of sums.

/// What one cluster contributes to a ratio of sums: `sum of numerators / sum of denominators`.
///
/// A mean has denominator 1 a run; a rate has denominator 1 for every run that counts and numerator 0 or 1.
/// Give clusters in one fixed order (by task id): sums are taken in the order given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClusterSums {
    /// Sum of the runs' numerators.
    pub numerator: f64,
    /// Sum of the runs' denominators.
    pub denominator: f64,
    /// Runs that contributed.
    pub n: u64,
    /// Runs whose denominator is exactly 1 and whose numerator is in [0, 1].
    shares: u64,
    numerator_squared: f64,
    product: f64,
    denominator_squared: f64,
}

impl ClusterSums {
    /// Adds one run. A run with denominator 0 (it is not in the rate's population) contributes nothing.
    pub fn add(&mut self, numerator: f64, denominator: f64) {
        if denominator == 0.0 {
            return;
        }
        self.numerator += numerator;
        self.denominator += denominator;
        self.n += 1;
        let is_one = denominator.to_bits() == 1.0_f64.to_bits();
        self.shares += u64::from(is_one && (0.0..=1.0).contains(&numerator));
        self.numerator_squared += numerator * numerator;
        self.product += numerator * denominator;
        self.denominator_squared += denominator * denominator;
    }

    /// A cluster of `n` runs, `hits` of which have the property.
    pub fn of_counts(hits: u64, n: u64) -> Self {
        let (numerator, denominator) = (hits as f64, n as f64);
        Self {
            numerator,
            denominator,
            n,
            shares: if hits <= n { n } else { 0 },
            numerator_squared: numerator,
            product: numerator,
            denominator_squared: denominator,
        }
    }

    /// A cluster from its runs as (numerator, denominator).
    pub fn of_runs(runs: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut sums = Self::default();
        for (numerator, denominator) in runs {
            sums.add(numerator, denominator);
        }
        sums
    }

    /// Sum over the cluster's runs of `(numerator - ratio * denominator)^2`.
    fn residual_squares(&self, ratio: f64) -> f64 {
        (self.numerator_squared - 2.0 * ratio * self.product + ratio * ratio * self.denominator_squared).max(0.0)
    }
}

/// A ratio of sums over clusters, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Sum of numerators over sum of denominators.
    pub ratio: f64,
    /// Runs that contributed.
    pub n: u64,
    /// Clusters that contributed at least one run.
    pub clusters: u64,
    /// Cluster-robust standard error, without a small-sample factor.
    pub standard_error: f64,
    /// Standard error if all runs were independent.
    pub naive_standard_error: f64,
    /// Effective degrees of freedom of the standard error, see [`degrees_of_freedom`].
    pub degrees_of_freedom: f64,
    /// True if the ratio is a mean of numbers in [0, 1], one a run.
    pub is_share: bool,
    /// True if moreover every such number is 0 or 1.
    pub is_binary: bool,
    /// True if no cluster has more than one run.
    pub one_run_each: bool,
}

impl Spread {
    /// The design effect: how many times larger the variance is than that of as many independent runs.
    /// `None` when there is no spread to compare.
    pub fn design_effect(&self) -> Option<f64> {
        let effect = (self.standard_error / self.naive_standard_error).powi(2);
        effect.is_finite().then_some(effect)
    }

    /// As many independent runs would say as much: `n / design effect`. `None` as the design effect.
    pub fn effective_n(&self) -> Option<f64> {
        self.design_effect().filter(|effect| *effect > 0.0).map(|effect| self.n as f64 / effect)
    }

    /// The variance with the factor `K / (K - 1)`, which makes it unbiased for a mean over equal clusters.
    /// `None` for a single cluster.
    pub fn unbiased_variance(&self) -> Option<f64> {
        let clusters = self.clusters as f64;
        (self.clusters > 1).then(|| self.standard_error.powi(2) * clusters / (clusters - 1.0))
    }
}

/// The ratio of sums over `clusters` and its linearised, cluster-robust standard error
/// `sqrt(sum_k (sum_{i in k} (y_i - r x_i))^2) / sum x`; for a mean (all `x` = 1) that is Miller's formula.
///
/// Clusters without runs are left out. `None` if the denominators sum to 0.
///
/// Miller (2024), Adding error bars to evals, arXiv 2411.00640; Cochran (1977), Sampling techniques, ch. 6.
pub fn spread(clusters: &[ClusterSums]) -> Option<Spread> {
    let mut total = ClusterSums::default();
    let (mut count, mut is_share, mut one_run_each) = (0, true, true);
    for cluster in clusters.iter().filter(|cluster| cluster.n > 0) {
        count += 1;
        total.numerator += cluster.numerator;
        total.denominator += cluster.denominator;
        total.n += cluster.n;
        total.numerator_squared += cluster.numerator_squared;
        is_share &= cluster.shares == cluster.n;
        one_run_each &= cluster.n == 1;
    }
    let ratio = total.numerator / total.denominator;
    if count == 0 || !ratio.is_finite() {
        return None;
    }
    let (mut between, mut fourth, mut within) = (0.0, 0.0, 0.0);
    for cluster in clusters.iter().filter(|cluster| cluster.n > 0) {
        let square = (cluster.numerator - ratio * cluster.denominator).powi(2);
        between += square;
        fourth += square * square;
        within += cluster.residual_squares(ratio);
    }
    let scale = total.denominator.abs();
    Some(Spread {
        ratio,
        n: total.n,
        clusters: count,
        standard_error: between.sqrt() / scale,
        naive_standard_error: within.sqrt() / scale,
        degrees_of_freedom: degrees_of_freedom(between, fourth, count),
        is_share,
        // Within [0, 1] a square equals its number only at the ends.
        is_binary: is_share && total.numerator - total.numerator_squared < 1e-9,
        one_run_each,
    })
}

/// How many degrees of freedom a standard error over `clusters` has, from the sums of the clusters' residuals to the
/// second and fourth power: `2K / (kurtosis - 1)`, at least 1, at most `K - 1`.
///
/// When a few tasks carry all the spread (a rare event, a heavy tail), the estimated variance is itself uncertain,
/// and K - 1 would overstate what is known: two hit tasks in a hundred count as about four degrees of freedom. In the
/// validity simulation this is what keeps the coverage of rates below 10 % and of skewed costs near its level.
///
/// Satterthwaite (1946), An approximate distribution of estimates of variance components, Biometrics Bulletin 2, with
/// `Var(s^2) = sigma^4 (kurtosis - 1) / K`.
pub fn degrees_of_freedom(squares: f64, fourth_powers: f64, clusters: u64) -> f64 {
    let count = clusters as f64;
    let kurtosis = count * fourth_powers / (squares * squares);
    let most = (count - 1.0).max(1.0);
    let effective = 2.0 * count / (kurtosis - 1.0);
    // Two equal piles have kurtosis 1: nothing is uncertain about their spread.
    if effective.is_finite() && effective > 0.0 { effective.clamp(1.0, most) } else { most }
}
