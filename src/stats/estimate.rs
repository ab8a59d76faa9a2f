//! The entry point of the tables: a ratio of sums with an interval, the method named, few tasks handled.

use std::fmt;

use super::cluster::{ClusterSums, Spread, spread};
use super::distribution::{normal_quantile, t_quantile};
use super::interval::{Interval, clopper_pearson, wilson_effective};

/// Below this many tasks there is no interval: the estimate is printed alone.
pub const MIN_CLUSTERS_FOR_INTERVAL: u64 = 8;
/// Below this many tasks an interval carries a warning.
pub const MIN_CLUSTERS_WITHOUT_WARNING: u64 = 20;

/// With one run per task and fewer runs than this on either side, the exact interval replaces Wilson's.
pub const MIN_HITS_FOR_WILSON: u64 = 5;

/// How an interval was made. The name is what the `method` column says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// The denominators sum to 0: there is no estimate.
    Undefined,
    /// An estimate without an interval: fewer than 8 tasks, or no spread to estimate one from.
    EstimateOnly,
    /// Wilson's interval, one run per task.
    Wilson,
    /// The exact interval, one run per task and few with (or few without) the property.
    ClopperPearson,
    /// Wilson's interval on the effective number of runs, with t quantiles over tasks.
    WilsonClustered,
    /// Linearised cluster-robust standard error with t quantiles over tasks.
    LinearisedT,
}

impl Method {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::EstimateOnly => "estimate-only",
            Self::Wilson => "wilson",
            Self::ClopperPearson => "clopper-pearson",
            Self::WilsonClustered => "wilson-clustered",
            Self::LinearisedT => "linearised-t",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why an estimate should be read with care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Warning {
    /// Fewer than 8 tasks: no interval is given.
    TooFewClusters(u64),
    /// Fewer than 20 tasks: the interval is rough.
    FewClusters(u64),
    /// Every task has the same ratio, so the spread between tasks cannot be estimated.
    NoSpread,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewClusters(n) => write!(f, "only {n} tasks: no interval (at least {MIN_CLUSTERS_FOR_INTERVAL})"),
            Self::FewClusters(n) => {
                write!(f, "only {n} tasks: the interval is rough (at least {MIN_CLUSTERS_WITHOUT_WARNING})")
            }
            Self::NoSpread => f.write_str("all tasks have the same ratio: no interval"),
        }
    }
}

/// A number fit for a table: the value, its interval, its n, and how it was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Sum of numerators over sum of denominators; `None` if that is undefined.
    pub value: Option<f64>,
    /// The interval at the level asked for; `None` when no method holds.
    pub interval: Option<Interval>,
    /// Runs that contributed.
    pub n: u64,
    /// Tasks that contributed at least one run.
    pub clusters: u64,
    /// How the interval was made.
    pub method: Method,
    /// Design effect: variance relative to as many independent runs.
    pub design_effect: Option<f64>,
    /// Number of independent runs that would say as much.
    pub effective_n: Option<f64>,
    /// Why to read it with care.
    pub warning: Option<Warning>,
}

impl Estimate {
    /// No denominator, no estimate.
    const UNDEFINED: Self = Self {
        value: None,
        interval: None,
        n: 0,
        clusters: 0,
        method: Method::Undefined,
        design_effect: None,
        effective_n: None,
        warning: None,
    };

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
/// - a share of runs, one run per task: Wilson; with fewer than 5 runs on either side, Clopper-Pearson;
/// - a share of runs, several runs per task: Wilson on the effective n, t quantiles with the effective
///   [`degrees of freedom`](super::cluster::degrees_of_freedom). The design effect is taken as at least 1; when every
///   run agrees (0 % or 100 %) it cannot be estimated, and the effective n is the number of tasks, the worst case;
/// - any other ratio: the linearised standard error with t quantiles, the same degrees of freedom;
/// - fewer than 8 tasks: no interval; fewer than 20: a warning.
///
/// No randomness; one pass to sum and one for the residuals.
pub fn ratio_estimate(clusters: &[ClusterSums], level: f64) -> Estimate {
    let Some(spread) = spread(clusters) else { return Estimate::UNDEFINED };
    let (method, interval) = if spread.clusters < MIN_CLUSTERS_FOR_INTERVAL {
        (Method::EstimateOnly, None)
    } else if spread.is_share {
        share_interval(&spread, level)
    } else {
        linearised_interval(&spread, level)
    };
    let warning = match spread.clusters {
        few if few < MIN_CLUSTERS_FOR_INTERVAL => Some(Warning::TooFewClusters(few)),
        _ if interval.is_none() => Some(Warning::NoSpread),
        few if few < MIN_CLUSTERS_WITHOUT_WARNING => Some(Warning::FewClusters(few)),
        _ => None,
    };
    Estimate {
        value: Some(spread.ratio),
        interval,
        n: spread.n,
        clusters: spread.clusters,
        method,
        design_effect: spread.design_effect(),
        effective_n: spread.effective_n(),
        warning,
    }
}

fn share_interval(spread: &Spread, level: f64) -> (Method, Option<Interval>) {
    let p = spread.ratio;
    let upper = 0.5 + 0.5 * level;
    if spread.one_run_each && spread.is_binary {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of n is a count up to n")]
        let hits = (p * spread.n as f64).round() as u64;
        if hits.min(spread.n.saturating_sub(hits)) < MIN_HITS_FOR_WILSON {
            return (Method::ClopperPearson, clopper_pearson(hits, spread.n, level));
        }
        return (Method::Wilson, wilson_effective(p, spread.n as f64, normal_quantile(upper)));
    }
    let independent = p * (1.0 - p) / spread.n as f64;
    let n_effective = match spread.unbiased_variance() {
        Some(variance) if independent > 0.0 => p * (1.0 - p) / variance.max(independent),
        _ => spread.clusters as f64,
    };
    let quantile = t_quantile(upper, spread.degrees_of_freedom);
    (Method::WilsonClustered, wilson_effective(p, n_effective, quantile))
}

fn linearised_interval(spread: &Spread, level: f64) -> (Method, Option<Interval>) {
    let quantile = t_quantile(0.5 + 0.5 * level, spread.degrees_of_freedom);
    let interval = spread
        .unbiased_variance()
        .filter(|variance| *variance > 0.0)
        .map(|variance| Interval::around(spread.ratio, quantile * variance.sqrt()));
    (if interval.is_some() { Method::LinearisedT } else { Method::EstimateOnly }, interval)
}
