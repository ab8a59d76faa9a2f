//! Detects misleading pooling: a suite or model in which a stack kills far more than on average.

use super::estimates::LEVEL;
use super::task_sums::{by_task, killed_rate};
use super::tasks::Tasks;
use super::{Group, Label, Over, TaskSums, Unit};
use crate::stats::RangeEstimate;

/// A stratum is judged from so many tasks with a success on.
pub(super) const MIN_TASKS: u64 = 20;

/// A stratum in which a stack kills more successes than overall.
#[derive(Clone, Debug)]
pub struct WorseStratum {
    /// The stack.
    pub stack: Label,
    /// The suite; `None` if the recordings name none.
    pub suite: Option<Label>,
    /// The model; `None` if the recordings name none.
    pub model: Option<Label>,
    /// The rate in this stratum.
    pub fes_rate: RangeEstimate,
    /// The rate over all strata.
    pub pooled: RangeEstimate,
}

/// The stratum of one stack with the highest rate of false early stops among those whose whole interval lies above the
/// pooled interval, every unknown at its worst. `None` if there is no such stratum, or only one stratum. Strata with fewer than 20 tasks
/// with a success are not judged.
pub fn worse_stratum(pool: &Group<'_>) -> Option<WorseStratum> {
    let rate = |group: &Group<'_>| {
        let sums = by_task(group, &Tasks::of(group), Unit::Steps, Over::Judged);
        killed_rate(&sums.iter().collect::<Vec<&TaskSums>>(), LEVEL)
    };
    let strata = pool.strata();
    let pooled = rate(pool);
    let rates = strata.iter().map(|group| (group, rate(group)));
    let most = |range: &RangeEstimate| range.high.value.unwrap_or(0.0);
    let judged = rates.filter(|(_, rate)| rate.high.clusters >= MIN_TASKS);
    let above =
        judged.filter(|(_, rate)| rate.high.low().zip(pooled.high.high()).is_some_and(|(low, high)| low > high));
    let (group, fes_rate) = above.max_by(|(_, a), (_, b)| most(a).total_cmp(&most(b)))?;
    Some(WorseStratum {
        stack: group.stack.clone(),
        suite: group.suite.clone(),
        model: group.model.clone(),
        fes_rate,
        pooled,
    })
}
