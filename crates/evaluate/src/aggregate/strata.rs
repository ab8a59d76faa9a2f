//! Detects misleading pooling: a suite or model in which a stack kills far more than elsewhere.

use super::task_sums::{LEVEL, by_task, killed_rate};
use super::tasks::Tasks;
use super::{Group, Label, Over, TaskSums, Unit};
use crate::stats::RangeEstimate;

/// A stratum is judged from so many tasks with a success on, and so is the rest.
pub(super) const MIN_TASKS: u64 = 20;

/// A stratum in which a stack kills more successes than elsewhere.
#[derive(Clone, Debug)]
pub struct WorseStratum {
    /// The stack.
    pub stack: Label,
    /// The suite; `None` if the recordings name none, or it is all of a model.
    pub suite: Option<Label>,
    /// The model; `None` if the recordings name none, or it is all of a suite.
    pub model: Option<Label>,
    /// The rate in this stratum.
    pub fes_rate: RangeEstimate,
    /// The rate on all other runs.
    pub rest: RangeEstimate,
}

/// The suite, the model, or the runs of one model in one suite, with the highest rate of false early stops among those
/// whose whole interval lies above that of all other runs, every unknown at its worst. `None` if there is none. One with
/// fewer than 20 tasks with a success is not judged.
pub fn worse_stratum(pool: &Group<'_>) -> Option<WorseStratum> {
    let rate = |group: &Group<'_>| {
        let sums = by_task(group, &Tasks::from_group(group), Unit::Steps, Over::Judged);
        killed_rate(&sums.iter().collect::<Vec<&TaskSums>>(), LEVEL)
    };
    let most = |range: &RangeEstimate| range.high.value.unwrap_or(0.0);
    let pooled = rate(pool);
    let mut worst: Option<WorseStratum> = None;
    for group in pool.by_suite().iter().chain(&pool.by_model()).chain(&pool.strata()) {
        let fes_rate = rate(group);
        let is_candidate = group.len() < pool.len() && fes_rate.high.clusters >= MIN_TASKS;
        if !is_candidate || most(&fes_rate) <= most(&pooled) {
            continue;
        }
        let rest = rate(&pool.without(group));
        let is_above = matches!((fes_rate.high.low(), rest.high.high()), (Some(low), Some(high)) if low > high);
        if is_above && worst.as_ref().is_none_or(|worst| most(&fes_rate) > most(&worst.fes_rate)) {
            let (suite, model) = (group.suite.clone(), group.model.clone());
            worst = Some(WorseStratum { stack: group.stack.clone(), suite, model, fes_rate, rest });
        }
    }
    worst
}
