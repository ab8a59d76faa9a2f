//! Cluster-robust standard errors (all runs of one task are a cluster), for a mean and for a ratio of sums.

use super::residual::{ResidualPart, Residuals};
use super::seldom::Carried;

/// What one cluster contributes to a ratio of sums: `sum of numerators / sum of denominators`.
///
/// For a mean every run has denominator 1; for a rate every run that counts has denominator 1 and numerator 0 or 1.
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
        if denominator != 0.0 {
            self.add_either(numerator, denominator);
        }
    }

    /// Adds one run that counts even with denominator 0: the cost of a failed run is part of the cost of a success.
    pub fn add_either(&mut self, numerator: f64, denominator: f64) {
        self.numerator += numerator;
        self.denominator += denominator;
        self.n += 1;
        let is_one = denominator.to_bits() == 1.0_f64.to_bits();
        self.shares += u64::from(is_one && (0.0..=1.0).contains(&numerator));
        self.numerator_squared += numerator * numerator;
        self.product += numerator * denominator;
        self.denominator_squared += denominator * denominator;
    }

    /// Adds the runs of another part of the cluster.
    pub fn merge(&mut self, part: &Self) {
        self.numerator += part.numerator;
        self.denominator += part.denominator;
        self.n += part.n;
        self.shares += part.shares;
        self.numerator_squared += part.numerator_squared;
        self.product += part.product;
        self.denominator_squared += part.denominator_squared;
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

    /// True if every run's denominator is 1 and its numerator in [0, 1].
    pub(super) fn is_rate(&self) -> bool {
        self.shares == self.n
    }

    /// Sum over the cluster's runs of `(numerator - ratio * denominator)^2`.
    fn residual_squares(&self, ratio: f64) -> f64 {
        (self.numerator_squared - 2.0 * ratio * self.product + ratio * ratio * self.denominator_squared).max(0.0)
    }
}

/// A ratio of sums over clusters, with its spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Sum of numerators over sum of denominators.
    pub ratio: f64,
    /// Runs that contributed.
    pub n: u64,
    /// The residuals of the clusters that contributed at least one run, in the unit of the ratio.
    pub residuals: Residuals,
    /// Standard error if all runs were independent.
    pub naive_standard_error: f64,
    /// The kind of ratio.
    pub kind: Kind,
    /// True if no cluster has more than one run.
    pub one_run_each: bool,
    /// For a part of an amount carried by few clusters, what the interval needs to allow for that.
    pub(super) carried: Option<Carried>,
}

/// The kind of ratio that the runs form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A share of runs: every denominator is 1, every numerator 0 or 1.
    Binary,
    /// A mean of numbers in [0, 1], one per run.
    UnitMean,
    /// A part of an amount (tokens, cost): in every cluster the numerator is between 0 and the denominator.
    Part,
    /// Anything else.
    Free,
}

impl Spread {
    /// Clusters that contributed at least one run.
    pub fn clusters(&self) -> u64 {
        self.residuals.clusters
    }

    /// Cluster-robust standard error, without the factor `K / (K - 1)`.
    pub fn standard_error(&self) -> f64 {
        self.residuals.standard_error()
    }

    /// The design effect: the variance relative to that of as many independent runs. `None` if there is no spread to
    /// compare.
    pub fn design_effect(&self) -> Option<f64> {
        let effect = (self.standard_error() / self.naive_standard_error).powi(2);
        effect.is_finite().then_some(effect)
    }

    /// The number of independent runs with the same information: `n / design effect`. `None` if there is no design
    /// effect.
    pub fn effective_n(&self) -> Option<f64> {
        self.design_effect().filter(|effect| *effect > 0.0).map(|effect| self.n as f64 / effect)
    }
}

/// The jackknife residual of a task that holds `share` of the denominators: the residual if the task had not pulled
/// the ratio towards itself. Where a few tasks hold most of an amount, plain residuals are too small.
///
/// Bell & McCaffrey (2002), Bias reduction in standard errors for linear regression with multi-stage samples, Survey
/// Methodology 28; "CR3" in MacKinnon, Nielsen & Webb (2023), J. Econometrics 232.
pub(super) fn left_out(residual: f64, share: f64) -> f64 {
    if share < 1.0 { residual / (1.0 - share) } else { residual }
}

/// The ratio of sums over `clusters` and its linearised, cluster-robust standard error `sqrt(sum_k (sum_{i in k} (y_i
/// - r x_i))^2) / sum x`, with jackknife (left-out) residuals; for a mean (all `x` = 1) over tasks of equal size this
/// is Miller's formula with the factor `K / (K - 1)`.
///
/// Clusters without runs are left out. `None` if the denominators sum to 0.
///
/// Miller (2024), Adding error bars to evals, arXiv 2411.00640; Cochran (1977), Sampling techniques, ch. 6.
pub fn spread(clusters: &[ClusterSums]) -> Option<Spread> {
    let counted = || clusters.iter().filter(|cluster| cluster.n > 0);
    let mut total = ClusterSums::default();
    let (mut is_part, mut one_run_each) = (true, true);
    for cluster in counted() {
        total.numerator += cluster.numerator;
        total.denominator += cluster.denominator;
        total.numerator_squared += cluster.numerator_squared;
        total.n += cluster.n;
        total.shares += cluster.shares;
        is_part &= (0.0..=cluster.denominator).contains(&cluster.numerator);
        one_run_each &= cluster.n == 1;
    }
    let ratio = total.numerator / total.denominator;
    if !ratio.is_finite() {
        return None;
    }
    let kind = match total.shares == total.n {
        // Within [0, 1], a number equals its square only at 0 and 1.
        true if total.numerator - total.numerator_squared < 1e-9 => Kind::Binary,
        true => Kind::UnitMean,
        false if is_part => Kind::Part,
        false => Kind::Free,
    };
    let scale = total.denominator.abs();
    let sizes: f64 = counted().map(|cluster| cluster.denominator.abs()).sum();
    let n_clusters = counted().count() as f64;
    // A rate uses the variance of a mean over tasks; left-out residuals would overstate it by this factor.
    let factor = if matches!(kind, Kind::Binary | Kind::UnitMean) { 1.0 - 1.0 / n_clusters } else { 1.0 };
    let mut within = 0.0;
    let parts: Vec<ResidualPart> = counted()
        .map(|cluster| {
            within += cluster.residual_squares(ratio);
            let residual = (cluster.numerator - ratio * cluster.denominator) / scale;
            let left_out = left_out(residual, cluster.denominator / total.denominator) * factor;
            ResidualPart { residual, left_out, share: cluster.denominator.abs() / sizes }
        })
        .collect();
    let amounts = || counted().map(|cluster| cluster.numerator / total.denominator);
    Some(Spread {
        ratio,
        n: total.n,
        residuals: Residuals::of_parts(&parts, parts.len() as u64),
        naive_standard_error: within.sqrt() / scale,
        kind,
        one_run_each,
        carried: (kind == Kind::Part).then(|| Carried::by_few(amounts(), parts.len() as u64)).flatten(),
    })
}
