//! Rates of a group with their intervals, clustered by task.

use super::task_sums::{killed_of_all, killed_rate};
use super::tasks::Tasks;
use super::{Ends, ExactnessName, Group, RowView, Share, TaskSums};
use crate::stats::{ClusterSums, Estimate, RangeEstimate, task_rate};
use crate::transcript::Outcome;

/// The rates of one group: each the mean over tasks of a share of the task's runs. It names which runs.
///
/// The rate of kills is over all runs. Any other counts the runs it can be judged on: every rule could be evaluated and,
/// for rates about outcomes, the run is graded. A run on which the strategy left the recorded path still counts, at its lowest and highest value.
#[derive(Clone, Debug)]
pub struct Estimates {
    /// The mean over tasks of the share of their successes killed (unverified included), over all runs that are or may be
    /// successes, with exact bounds.
    pub fes_rate: RangeEstimate,
    /// The successes killed, of all of them.
    pub killed: Ends<Share>,
    /// False early stops over graded stops; leaves out runs that may or may not have been stopped.
    pub fes_per_stop: RangeEstimate,
    /// Successes kept, over successes.
    pub retention: RangeEstimate,
    /// Missed stops and lost successes over failures.
    pub missed_rate: RangeEstimate,
    /// The same over failures that ended at a cap, by time-out or by force.
    pub missed_rate_capped: RangeEstimate,
    /// True stops over failures.
    pub stop_recall: RangeEstimate,
    /// The failures stopped, of all of them.
    pub failures_stopped: Ends<Share>,
    /// Stops over runs, graded or not.
    pub stop_rate: RangeEstimate,
    /// Runs that ended at their own cap before the stack stopped, over all runs: nothing supports a claim about them.
    pub unsupported_share: Estimate,
    /// Runs whose outcome under the stack cannot be told from the recording, over all runs.
    pub unidentified_share: Estimate,
}

impl Estimates {
    /// Computes all rates; `sums` are those of the group by task, in any unit. Rows are taken in corpus order and tasks in name order, so the sums do not depend on how
    /// the corpus was read.
    pub(super) fn from_group(group: &Group<'_>, tasks: &Tasks, sums: &[TaskSums], level: f64) -> Self {
        let share = |population: fn(RowView<'_>) -> bool, hit: fn(RowView<'_>) -> bool| {
            share(group, tasks, population, hit, level)
        };
        let range = |population: fn(RowView<'_>) -> bool, hit: fn(RowView<'_>) -> (u8, u8)| {
            range(group, tasks, population, hit, level)
        };
        let failure: fn(RowView<'_>) -> bool = |row: RowView<'_>| row.is_judged() && row.outcome() == Outcome::Failure;
        let capped =
            |row: RowView<'_>| row.is_judged() && row.outcome() == Outcome::Failure && row.end().is_censoring();
        let killed = |row: RowView<'_>| (row.killed_low(), row.killed_high());
        let stopped = |row: RowView<'_>| (row.stopped_low(), row.stopped_high());
        let missed = |row: RowView<'_>| (1 - row.stopped_high().min(1), 1 - row.stopped_low().min(1));
        let true_stop = |row: RowView<'_>| (row.true_stop_low(), row.true_stop_high());
        let graded_stop = |row: RowView<'_>| row.is_judged() && row.was_stopped();
        let sums: Vec<&TaskSums> = sums.iter().collect();
        let fes_rate = killed_rate(&sums, level);
        Self {
            fes_rate,
            killed: killed_of_all(&sums),
            fes_per_stop: range(graded_stop, killed),
            retention: fes_rate.one_less(),
            missed_rate: range(failure, missed),
            missed_rate_capped: range(capped, missed),
            stop_recall: range(failure, true_stop),
            failures_stopped: count(group, failure, true_stop),
            stop_rate: range(|row| !row.unknown().unread, stopped),
            unsupported_share: share(
                |_| true,
                |row| row.end().is_censoring() && !row.is_stop() && row.exactness() != ExactnessName::Exact,
            ),
            unidentified_share: share(|_| true, |row| row.outcome_low() < row.outcome_high()),
        }
    }
}

/// The share of `population` that is hit.
pub(super) fn share(
    group: &Group<'_>,
    tasks: &Tasks,
    population: impl Fn(RowView<'_>) -> bool,
    hit: impl Fn(RowView<'_>) -> bool,
    level: f64,
) -> Estimate {
    let parts = |row: RowView<'_>| if population(row) { Some((f64::from(u8::from(hit(row))), 1.0)) } else { None };
    task_rate(&sums_over(group, tasks, parts), level)
}

/// The share of `population` that is hit; `hit` gives (at least, at most), 0 or 1 each, for one row.
fn range(
    group: &Group<'_>,
    tasks: &Tasks,
    population: impl Fn(RowView<'_>) -> bool,
    hit: impl Fn(RowView<'_>) -> (u8, u8),
    level: f64,
) -> RangeEstimate {
    let end = |at: fn((u8, u8)) -> u8| {
        let parts = |row: RowView<'_>| if population(row) { Some((f64::from(at(hit(row))), 1.0)) } else { None };
        sums_over(group, tasks, parts)
    };
    let (low, high) = (end(|(low, _)| low), end(|(_, high)| high));
    RangeEstimate::by(Some(&low[..]), Some(&high[..]), |tasks| task_rate(tasks, level))
}

/// The rows of `population` that are hit, at least and at most, of all of them.
fn count(
    group: &Group<'_>,
    population: impl Fn(RowView<'_>) -> bool,
    hit: impl Fn(RowView<'_>) -> (u8, u8),
) -> Ends<Share> {
    let mut all = Ends::<Share>::default();
    for row in group.rows().filter(|row| population(*row)) {
        let (low, high) = hit(row);
        all.low.add(low > 0);
        all.high.add(high > 0);
    }
    all
}

/// Sums of (numerator, denominator) by task.
pub(super) fn sums_over(
    group: &Group<'_>,
    tasks: &Tasks,
    parts: impl Fn(RowView<'_>) -> Option<(f64, f64)>,
) -> Vec<ClusterSums> {
    tasks.sums(group, parts, |sums: &mut ClusterSums, (numerator, denominator)| sums.add(numerator, denominator))
}
