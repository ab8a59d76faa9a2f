//! Cluster-robust standard errors (all runs of one task are a cluster), for a mean and for a ratio of sums.

use super::residual::{ResidualPart, Residuals};
use super::seldom::HeldByTasks;

/// What one cluster contributes to a ratio of sums: `sum of numerators / sum of denominators`.
///
/// For a rate every run that counts has denominator 1 and numerator 0 or 1.
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
    }

    /// Adds the runs of another part of the cluster.
    pub fn merge(&mut self, part: &Self) {
        self.numerator += part.numerator;
        self.denominator += part.denominator;
        self.n += part.n;
        self.shares += part.shares;
    }

    /// A cluster of `n` runs, `hits` of which have the property.
    pub fn from_counts(hits: u64, n: u64) -> Self {
        Self { numerator: hits as f64, denominator: n as f64, n, shares: if hits <= n { n } else { 0 } }
    }

    /// A cluster from its runs as (numerator, denominator).
    pub fn from_runs(runs: impl IntoIterator<Item = (f64, f64)>) -> Self {
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
    /// True for a part of an amount (tokens, cost): in every cluster the numerator is between 0 and the denominator.
    pub is_part: bool,
    /// What the clusters hold, by which it is known whether few carry a part of an amount.
    pub(super) held: HeldByTasks,
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
    let mut is_part = true;
    for cluster in counted() {
        total.merge(cluster);
        is_part &= (0.0..=cluster.denominator).contains(&cluster.numerator);
    }
    let ratio = total.numerator / total.denominator;
    if !ratio.is_finite() {
        return None;
    }
    let scale = total.denominator.abs();
    let sizes: f64 = counted().map(|cluster| cluster.denominator.abs()).sum();
    let mut parts = Vec::with_capacity(clusters.len());
    let mut held = HeldByTasks::default();
    for cluster in counted() {
        let residual = (cluster.numerator - ratio * cluster.denominator) / scale;
        let left_out = left_out(residual, cluster.denominator / total.denominator);
        let share = cluster.denominator.abs() / sizes;
        held.add(cluster.numerator / total.denominator, left_out, share);
        parts.push(ResidualPart { residual, left_out, share });
    }
    Some(Spread { ratio, n: total.n, residuals: Residuals::from_parts(&parts, parts.len() as u64), is_part, held })
}
