//! What stops save as shares with intervals, clustered by task.

use super::estimates::ratio_over;
use super::savings::SuccessPrice;
use super::tasks::Tasks;
use super::{Group, LEVEL, Row, Unit, useful_parts};
use crate::stats::estimate::free_ratio_estimate;
use crate::stats::{ClusterSums, Estimate};

/// The shares of one group in one unit, over the runs of which the recording tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SavingRatios {
    /// The unit.
    pub unit: Unit,
    /// Not spent, over recorded.
    pub saved: Estimate,
    /// Not spent on failures and after success, over recorded.
    pub useful: Estimate,
    /// Not spent, less what it costs to run the killed successes again, over recorded. What a success costs is taken
    /// from the same recordings and as known; negative where a stop does not pay.
    pub after_rework: Estimate,
    /// Spent up to the stops, over successes kept.
    pub per_success: Estimate,
}

impl SavingRatios {
    /// Computes them.
    pub(super) fn of(group: &Group<'_>, tasks: &Tasks, unit: Unit) -> Self {
        let rows = &group.rows;
        let price = SuccessPrice::of(group, unit);
        let after_rework = |row: &Row| {
            let again = if row.verdict.is_fes() { price.of_run_like(row)? } else { 0.0 };
            Some((unit.saved(row)? - again, unit.recorded(row)?))
        };
        let per_success = |row: &Row| Some((unit.at_stop(row)?, f64::from(u8::from(row.verdict.keeps_success()))));
        Self {
            unit,
            saved: ratio_over(rows, tasks, |row| Some((unit.saved(row)?, unit.recorded(row)?))),
            useful: ratio_over(rows, tasks, |row| useful_parts(row, unit)),
            after_rework: free_ratio(rows, tasks, after_rework),
            per_success: free_ratio(rows, tasks, per_success),
        }
    }
}

/// A ratio of sums of any sign, over the rows for which `parts` gives (numerator, denominator).
fn free_ratio(rows: &[&Row], tasks: &Tasks, parts: impl Fn(&Row) -> Option<(f64, f64)>) -> Estimate {
    let clusters: Vec<ClusterSums> = tasks
        .sums(rows, parts, |sums: &mut ClusterSums, (numerator, denominator)| sums.add_either(numerator, denominator));
    free_ratio_estimate(&clusters, LEVEL)
}
