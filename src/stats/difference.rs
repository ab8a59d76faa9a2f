//! The difference of two ratios of sums over the same tasks, with an interval and a p-value.

use super::bootstrap::Resamples;
use super::cluster::degrees_of_freedom;
use super::distribution::{t_quantile, t_two_sided};
use super::estimate::{MIN_CLUSTERS_FOR_INTERVAL, MIN_CLUSTERS_WITHOUT_WARNING, Method, Warning};
use super::interval::Interval;
use super::multiplicity::Contrast;

/// What one task contributes to two ratios of sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairedSums {
    /// Numerator and denominator under the first strategy.
    pub a: (f64, f64),
    /// Numerator and denominator under the second strategy.
    pub b: (f64, f64),
}

/// The difference of two ratios, first minus second.
#[derive(Clone, Debug, PartialEq)]
pub struct RatioDifference {
    /// First ratio minus second ratio.
    pub value: f64,
    /// Each task's part in the error of the difference, in the order given; sums to 0.
    pub influence: Vec<f64>,
    /// Tasks with a denominator under either strategy.
    pub clusters: u64,
}

impl RatioDifference {
    /// The difference over `tasks`; `None` if either denominator sums to 0.
    pub fn new(tasks: &[PairedSums]) -> Option<Self> {
        let total = tasks.iter().fold(PairedSums::default(), |sum, task| PairedSums {
            a: (sum.a.0 + task.a.0, sum.a.1 + task.a.1),
            b: (sum.b.0 + task.b.0, sum.b.1 + task.b.1),
        });
        let (ratio_a, ratio_b) = (total.a.0 / total.a.1, total.b.0 / total.b.1);
        let value = ratio_a - ratio_b;
        value.is_finite().then(|| Self {
            value,
            influence: tasks
                .iter()
                .map(|task| (task.a.0 - ratio_a * task.a.1) / total.a.1 - (task.b.0 - ratio_b * task.b.1) / total.b.1)
                .collect(),
            clusters: tasks.iter().filter(|task| task.a.1 != 0.0 || task.b.1 != 0.0).count() as u64,
        })
    }

    /// The linearised standard error with the factor `K / (K - 1)`; `None` for one task or no spread.
    pub fn standard_error(&self) -> Option<f64> {
        let clusters = self.clusters as f64;
        let squares: f64 = self.influence.iter().map(|e| e * e).sum();
        (self.clusters > 1 && squares > 0.0).then(|| (squares * clusters / (clusters - 1.0)).sqrt())
    }

    /// The effective degrees of freedom of the standard error, see [`degrees_of_freedom`].
    pub fn degrees_of_freedom(&self) -> f64 {
        let (squares, fourth) = self.influence.iter().fold((0.0, 0.0), |(squares, fourth), e| {
            let square = e * e;
            (squares + square, fourth + square * square)
        });
        degrees_of_freedom(squares, fourth, self.clusters)
    }

    /// The interval and p-value from the linearised standard error and t quantiles over tasks.
    /// Fewer than 8 tasks: neither; no spread: neither, unless nothing differs at all (p = 1).
    pub fn compare(&self, level: f64) -> Comparison {
        let few = self.clusters < MIN_CLUSTERS_FOR_INTERVAL;
        let df = self.degrees_of_freedom();
        let standard_error = self.standard_error().filter(|_| !few);
        let warning = match self.clusters {
            n if few => Some(Warning::TooFewClusters(n)),
            _ if standard_error.is_none() => Some(Warning::NoSpread),
            n if n < MIN_CLUSTERS_WITHOUT_WARNING => Some(Warning::FewClusters(n)),
            _ => None,
        };
        Comparison {
            value: Some(self.value),
            interval: standard_error
                .map(|standard_error| Interval::around(self.value, t_quantile(0.5 + 0.5 * level, df) * standard_error)),
            p: match standard_error {
                Some(standard_error) => Some(t_two_sided(self.value / standard_error, df)),
                None if self.value == 0.0 && !few => Some(1.0),
                None => None,
            },
            clusters: self.clusters,
            method: if standard_error.is_some() { Method::LinearisedT } else { Method::EstimateOnly },
            warning,
        }
    }

    /// This difference as one of a sweep, for [`super::multiplicity::max_t`].
    pub fn into_contrast(self) -> Contrast {
        Contrast { value: self.value, influence: self.influence }
    }
}

/// A difference fit for a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// First ratio minus second ratio; `None` if either is undefined.
    pub value: Option<f64>,
    /// The interval at the level asked for.
    pub interval: Option<Interval>,
    /// Two-sided p-value of "no difference".
    pub p: Option<f64>,
    /// Tasks that contributed.
    pub clusters: u64,
    /// How it was made.
    pub method: Method,
    /// Why to read it with care.
    pub warning: Option<Warning>,
}

/// The difference of two ratios of sums over the same `tasks`, at `level`; see [`RatioDifference::compare`].
pub fn ratio_difference(tasks: &[PairedSums], level: f64) -> Comparison {
    RatioDifference::new(tasks).map_or(
        Comparison { value: None, interval: None, p: None, clusters: 0, method: Method::Undefined, warning: None },
        |difference| difference.compare(level),
    )
}

/// The percentile bootstrap interval of the same difference, and the number of replicates dropped because a
/// denominator was 0. `tasks` are in the order of the keys given to `resamples`.
pub fn bootstrap_difference(tasks: &[PairedSums], resamples: &Resamples, level: f64) -> (Option<Interval>, usize) {
    let column = |value: fn(&PairedSums) -> f64| tasks.iter().map(value).collect::<Vec<f64>>();
    let (a, b) =
        ((column(|task| task.a.0), column(|task| task.a.1)), (column(|task| task.b.0), column(|task| task.b.1)));
    let replicates = resamples.ratio_differences((&a.0, &a.1), (&b.0, &b.1));
    (replicates.interval(level), replicates.dropped)
}
