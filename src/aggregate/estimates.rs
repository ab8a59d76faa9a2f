//! Rates of a group with their intervals, clustered by task.

use super::tasks::Tasks;
use super::{Group, Row};
use crate::stats::{ClusterSums, Estimate, ratio_estimate};
use crate::transcript::{EndCause, Outcome};
use crate::verdict::Verdict;

/// Level of every printed interval.
pub const LEVEL: f64 = 0.95;

/// The rates of one group. Each names its denominator.
#[derive(Clone, Debug)]
pub struct Estimates {
    /// False early stops (unverified included) over successes.
    pub fes_rate: Estimate,
    /// False early stops over labelled stops.
    pub fes_per_stop: Estimate,
    /// Successes that were kept, over successes.
    pub retention: Estimate,
    /// Missed stops and lost successes over failures.
    pub missed_stop_rate: Estimate,
    /// The same over failures that ended at a cap, a time-out or by force.
    pub missed_stop_rate_capped: Estimate,
    /// True stops over failures.
    pub stop_recall: Estimate,
    /// Stops over runs.
    pub stop_rate: Estimate,
    /// Runs that ended at their own cap before the stack stopped, over runs: nothing supports a claim about them.
    pub unsupported_share: Estimate,
    /// Runs whose outcome under the stack the recording does not tell, over runs.
    pub unidentified_share: Estimate,
}

impl Estimates {
    /// Computes them. Rows are taken in corpus order, tasks in name order, so the sums are the same
    /// however the corpus was read.
    pub(super) fn of(group: &Group<'_>, tasks: &Tasks) -> Self {
        let rows = &group.rows;
        let is_failure = |row: &Row| row.outcome == Outcome::Failure;
        let missed = |row: &Row| matches!(row.verdict, Verdict::MissedStop | Verdict::LostSuccess);
        let success = |row: &Row| row.outcome == Outcome::Success;
        Self {
            fes_rate: share(rows, tasks, success, |row| row.verdict.is_fes()),
            fes_per_stop: share(
                rows,
                tasks,
                |row| row.is_stop() && row.outcome != Outcome::Unknown,
                |row| row.verdict.is_fes(),
            ),
            retention: share(rows, tasks, success, |row| !row.verdict.is_fes()),
            missed_stop_rate: share(rows, tasks, is_failure, missed),
            missed_stop_rate_capped: share(
                rows,
                tasks,
                |row| is_failure(row) && EndCause::is_censoring(row.end),
                missed,
            ),
            stop_recall: share(rows, tasks, is_failure, |row| row.verdict == Verdict::TrueStop),
            stop_rate: share(rows, tasks, |_| true, Row::is_stop),
            unsupported_share: share(rows, tasks, |_| true, |row| row.end.is_censoring() && !row.is_stop()),
            unidentified_share: share(rows, tasks, |_| true, |row| row.outcome_low < row.outcome_high),
        }
    }
}

fn share(rows: &[&Row], tasks: &Tasks, population: impl Fn(&Row) -> bool, hit: impl Fn(&Row) -> bool) -> Estimate {
    ratio_over(rows, tasks, |row| population(row).then(|| (f64::from(u8::from(hit(row))), 1.0)))
}

/// A ratio of sums over the rows for which `parts` gives (numerator, denominator).
pub(super) fn ratio(rows: &[&Row], parts: impl Fn(&Row) -> Option<(f64, f64)>) -> Estimate {
    ratio_over(rows, &Tasks::of(rows), parts)
}

/// As [`ratio`], where the rows' tasks are known.
pub(super) fn ratio_over(rows: &[&Row], tasks: &Tasks, parts: impl Fn(&Row) -> Option<(f64, f64)>) -> Estimate {
    let clusters: Vec<ClusterSums> =
        tasks.sums(rows, parts, |sums: &mut ClusterSums, (numerator, denominator)| sums.add(numerator, denominator));
    ratio_estimate(&clusters, LEVEL)
}
