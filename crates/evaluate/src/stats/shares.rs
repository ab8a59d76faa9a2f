//! The difference of two shares over the same clusters; a cluster may hold runs of both kinds.

use super::Interval;
use super::distribution::t_quantile;

/// A difference and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareDifference {
    /// The first share minus the second.
    pub value: f64,
    /// Its interval; `None` if fewer than 8 clusters hold runs of one of the kinds.
    pub interval: Option<Interval>,
}

/// Minimum clusters on each side for an interval.
const MIN_CLUSTERS: usize = 8;

/// The difference of two shares; each cluster is `[hits, runs, hits of the others, runs of the others]`.
///
/// Linearised: each cluster's residual is its contribution to the difference beyond what its runs account for; uses t
/// with one degree of freedom fewer than there are clusters. `None` if either share has no run.
///
/// Cochran (1977), Sampling techniques, chapter 6 (combined ratio estimates).
pub fn difference_of_shares(clusters: &[[f64; 4]], level: f64) -> Option<ShareDifference> {
    let total = |at: usize| clusters.iter().map(|sums| sums[at]).sum::<f64>();
    let (runs, others) = (total(1), total(3));
    if runs <= 0.0 || others <= 0.0 {
        return None;
    }
    let (share, other) = (total(0) / runs, total(2) / others);
    let value = share - other;
    let n = clusters.len();
    let with = |at: usize| clusters.iter().filter(|sums| sums[at] > 0.0).count();
    if with(1).min(with(3)) < MIN_CLUSTERS {
        return Some(ShareDifference { value, interval: None });
    }
    let residual = |sums: &[f64; 4]| (sums[0] - share * sums[1]) / runs - (sums[2] - other * sums[3]) / others;
    let squares: f64 = clusters.iter().map(|sums| residual(sums).powi(2)).sum();
    let half = t_quantile(0.5 + 0.5 * level, (n - 1) as f64) * (squares * n as f64 / (n - 1) as f64).sqrt();
    Some(ShareDifference {
        value,
        interval: Some(Interval { low: (value - half).max(-1.0), high: (value + half).min(1.0) }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_differ_by_nothing_and_one_run_a_cluster_is_the_textbook_case() {
        let clusters: Vec<[f64; 4]> = (0..20)
            .map(|n| {
                if n % 2 == 0 { [f64::from(n % 4 == 0), 1.0, 0.0, 0.0] } else { [0.0, 0.0, f64::from(n % 4 == 1), 1.0] }
            })
            .collect();
        let found = difference_of_shares(&clusters, 0.95).unwrap();
        assert!(found.value.abs() < 1e-12);
        // Two shares of 1/2 on 10 runs each: variance 0.25/10 twice, times 20/19.
        let half = t_quantile(0.975, 19.0) * (0.05_f64 * 20.0 / 19.0).sqrt();
        assert!((found.interval.unwrap().high - half).abs() < 1e-12);
        assert_eq!(difference_of_shares(&[[1.0, 1.0, 0.0, 0.0]], 0.95), None);
        assert_eq!(difference_of_shares(&clusters[..4], 0.95).unwrap().interval, None);
    }
}
