//! Savings as shares with intervals, clustered by task, and the cost of a success.

use super::measure::is_misleading;
use super::task_sums::by_task;
use super::tasks::Tasks;
use super::{Ends, Group, Over, TaskSums, Unit};
use crate::stats::{ClusterSums, CostSums, Estimate, RangeEstimate, WorthSums, cost_of_success, worth};

/// The shares of one group in one unit, over the runs that record it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SavingRatios {
    /// The unit.
    pub unit: Unit,
    /// Not spent, over recorded: all runs whose rules could be evaluated, graded or not.
    pub saved: RangeEstimate,
    /// Not spent on failures and after success, over recorded: graded runs whose rules could be evaluated.
    pub useful: RangeEstimate,
    /// Spent under the stack, over successes kept, on the same runs.
    pub per_success: RangeEstimate,
    /// Cost of a success against no stopping, on the same runs; undefined if it is known only within bounds.
    pub cost_of_success: CostOfSuccess,
    /// All that was not spent, over successes killed: the price of a lost success at which stopping breaks even.
    /// Undefined if none was killed: stopping then pays at any price.
    pub break_even: RangeEstimate,
}

impl SavingRatios {
    /// Computes all ratios over the judged runs of a group, in `unit`. They are undefined if the runs that do not record it
    /// are not like the others.
    pub(super) fn from_group(group: &Group<'_>, tasks: &Tasks, unit: Unit, level: f64) -> Self {
        Self::from_sums(&judged_sums(group, tasks, unit), unit, level)
    }

    /// The same from the sums by task.
    pub(super) fn from_sums(tasks: &[TaskSums], unit: Unit, level: f64) -> Self {
        let (saved_low, saved_high) = both_ends(tasks, |task| task.saved);
        let (useful_low, useful_high) = both_ends(tasks, |task| task.useful);
        let (per_success_low, per_success_high) = both_ends(tasks, |task| task.per_success);
        let is_limited = is_limited(tasks);
        let is_saved_limited = tasks.iter().all(|task| task.unlimited_saved == 0);
        Self {
            unit,
            saved: RangeEstimate::from_ends(is_saved_limited.then_some(&saved_low), Some(&saved_high), level),
            useful: RangeEstimate::from_ends(is_limited.then_some(&useful_low), Some(&useful_high), level),
            per_success: RangeEstimate::from_positive(
                Some(&per_success_low),
                is_limited.then_some(&per_success_high),
                level,
            ),
            cost_of_success: CostOfSuccess::from_sums(tasks, level),
            break_even: worth_range(tasks, |tasks| worth::break_even(tasks, level)),
        }
    }
}

/// The sums of the judged runs by task; none if the runs that do not record `unit` are not like the others.
fn judged_sums(group: &Group<'_>, tasks: &Tasks, unit: Unit) -> Vec<TaskSums> {
    if is_misleading(group, unit) { Vec::new() } else { by_task(group, tasks, unit, Over::Judged) }
}

/// The sums of all tasks at their low and at their high end.
fn both_ends(
    tasks: &[TaskSums],
    sums: impl Fn(&TaskSums) -> Ends<ClusterSums>,
) -> (Vec<ClusterSums>, Vec<ClusterSums>) {
    let (mut low, mut high) = (Vec::with_capacity(tasks.len()), Vec::with_capacity(tasks.len()));
    for task in tasks {
        let ends = sums(task);
        low.push(ends.low);
        high.push(ends.high);
    }
    (low, high)
}

fn is_limited(tasks: &[TaskSums]) -> bool {
    tasks.iter().all(|task| task.unlimited == 0)
}

/// A worth with least saved and most killed, and with most saved and least killed. The first is undefined if nothing
/// limits what is spent.
fn worth_range(tasks: &[TaskSums], estimate: impl Fn(&[WorthSums]) -> Estimate) -> RangeEstimate {
    let at = |end: fn(&TaskSums) -> WorthSums| -> Vec<WorthSums> {
        tasks.iter().map(end).filter(|worth| worth.runs() > 0).collect()
    };
    let (least, most) = (at(|task| task.worth.low), at(|task| task.worth.high));
    RangeEstimate::by(is_limited(tasks).then_some(&least[..]), Some(&most), estimate)
}

/// Net benefit of stopping per run when a lost success costs `price` (in `unit`): what was not spent, less the price
/// of the successes killed. Over the judged runs.
pub(super) fn net_benefit(group: &Group<'_>, tasks: &Tasks, unit: Unit, price: f64, level: f64) -> RangeEstimate {
    worth_range(&judged_sums(group, tasks, unit), |tasks| worth::net_worth(tasks, price, level))
}

/// What a success costs under the stack, relative to the same runs without stopping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostOfSuccess {
    /// Spent per success kept over recorded per success: below 1 the stack makes successes cheaper.
    pub ratio: Estimate,
    /// P-value of the hypothesis "stopping makes no difference".
    pub p: Option<f64>,
}

impl CostOfSuccess {
    fn from_sums(tasks: &[TaskSums], level: f64) -> Self {
        if tasks.iter().any(|task| task.inexact > 0) {
            return Self { ratio: Estimate::UNDEFINED, p: None };
        }
        let costs: Vec<CostSums> = tasks.iter().map(|task| task.cost).filter(|cost| cost.n > 0).collect();
        let (ratio, p) = cost_of_success(&costs, level);
        Self { ratio, p }
    }

    /// The end of a sentence, such as `; a success costs 21 % less (12–30)`. Empty if the ratio is undefined.
    pub fn sentence(&self) -> String {
        let Some(ratio) = self.ratio.value else { return String::new() };
        let percent = |ratio: f64| format!("{:.0}", ((ratio - 1.0) * 100.0).abs());
        let interval = match self.ratio.interval {
            Some(i) if i.high < 1.0 => format!(" ({}–{})", percent(i.high), percent(i.low)),
            Some(i) if i.low > 1.0 => format!(" ({}–{})", percent(i.low), percent(i.high)),
            Some(_) => ", which may be chance".to_owned(),
            None => String::new(),
        };
        let word = if ratio < 1.0 { "less" } else { "more" };
        format!("; a success costs {} % {word}{interval}", percent(ratio))
    }
}
