//! Savings as shares with intervals, clustered by task, and the cost of a success.

use super::tasks::Tasks;
use super::{Contribution, Group, RowView, Totals, Unit};
use crate::stats::{ClusterSums, CostSums, Estimate, RangeEstimate, WorthSums, cost_of_success, worth};
use crate::transcript::Outcome;

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
    /// Computes all ratios of `group` in `unit`.
    pub(super) fn of(group: &Group<'_>, tasks: &Tasks, unit: Unit, level: f64) -> Self {
        let runs = MeasuredRun::of(group, tasks, unit);
        Self {
            unit,
            saved: saved_share(&runs, tasks, |run| (!run.unread).then_some(run.saved), level),
            useful: saved_share(&runs, tasks, |run| run.useful, level),
            per_success: per_success(&runs, tasks, level),
            cost_of_success: CostOfSuccess::of(group, tasks, unit, level),
            break_even: break_even(&runs, tasks, level),
        }
    }
}

/// One run of a group that records a unit: what several ratios are sums of.
struct MeasuredRun {
    /// The index of the task.
    task: usize,
    /// The amount of the whole recording.
    recorded: f64,
    /// The amount spent under the stack, at least and at most; `None` if nothing limits it.
    spent: (f64, Option<f64>),
    saved: AmountRange,
    /// See [`useful_range`].
    useful: Option<AmountRange>,
    unread: bool,
    judged: bool,
    /// At least and at most.
    killed: (u8, u8),
    /// At least and at most.
    kept: (f64, f64),
}

impl MeasuredRun {
    /// The runs of `group`, in order; `tasks` are its tasks.
    fn of(group: &Group<'_>, tasks: &Tasks, unit: Unit) -> Vec<Self> {
        let run = |(row, task): (RowView<'_>, usize)| {
            Some(Self {
                task,
                recorded: unit.recorded(row)?,
                spent: unit.spent_range(row)?,
                saved: unit.saved_range(row)?,
                useful: useful_range(row, unit),
                unread: row.unknown().unread,
                judged: row.is_judged(),
                killed: (row.killed_low(), row.killed_high()),
                kept: kept(row),
            })
        };
        group.rows().zip(tasks.places()).filter_map(run).collect()
    }
}

/// Sums by task, in name order, over the runs for which `parts` is `Some`. Tasks without any part are left out.
fn sums<T: Default, P>(
    runs: &[MeasuredRun],
    tasks: &Tasks,
    parts: impl Fn(&MeasuredRun) -> Option<P>,
    add: impl Fn(&mut T, P),
) -> Vec<T> {
    tasks.sums_of(runs.iter().map(|run| (run.task, parts(run))), add)
}

/// (lowest, highest); a lowest of `None` is unlimited, because what follows a warning may cost any amount.
pub(super) type AmountRange = (Option<f64>, f64);

/// What was saved on a failure or after a success; what a killed success would still have spent is not a saving.
/// `None` for a run that is left out: ungraded, without a recorded amount, or with a rule that could not be evaluated.
pub(super) fn useful_range(row: RowView<'_>, unit: Unit) -> Option<AmountRange> {
    let (low, high) = unit.saved_range(row).filter(|_| row.is_judged())?;
    Some(match (row.outcome(), row.killed_low(), row.killed_high()) {
        (Outcome::Success, 1, _) => (Some(0.0), 0.0),
        (Outcome::Success, _, 1) => (low.map(|low| low.min(0.0)), high.max(0.0)),
        _ => (low, high),
    })
}

/// A share of the recorded amount, over the runs for which `saved` gives a range.
fn saved_share(
    runs: &[MeasuredRun],
    tasks: &Tasks,
    saved: impl Fn(&MeasuredRun) -> Option<AmountRange>,
    level: f64,
) -> RangeEstimate {
    let shares = |parts: &dyn Fn(&MeasuredRun) -> Option<f64>| {
        sums(
            runs,
            tasks,
            |run| Some((parts(run)?, run.recorded)),
            |sums: &mut ClusterSums, (part, whole)| {
                sums.add(part, whole);
            },
        )
    };
    let limited = runs.iter().filter_map(&saved).all(|(low, _)| low.is_some());
    let low = limited.then(|| shares(&|run| saved(run)?.0));
    RangeEstimate::of(low.as_deref(), Some(&shares(&|run| Some(saved(run)?.1))), level)
}

/// Two sums by task over the judged runs: least saved with most killed, and most saved with least killed. The first is
/// `None` if what follows a warning may cost any amount.
fn worth_sums(runs: &[MeasuredRun], tasks: &Tasks) -> (Option<Vec<WorthSums>>, Vec<WorthSums>) {
    let worth = |parts: &dyn Fn(&MeasuredRun) -> Option<(f64, u8)>| {
        let parts = |run: &MeasuredRun| run.judged.then(|| parts(run)).flatten();
        sums(runs, tasks, parts, |sums: &mut WorthSums, (saved, killed)| sums.add(saved, killed == 1))
    };
    let limited = runs.iter().all(|run| !run.judged || run.saved.0.is_some());
    let least = limited.then(|| worth(&|run| Some((run.saved.0?, run.killed.1))));
    (least, worth(&|run| Some((run.saved.1, run.killed.0))))
}

fn break_even(runs: &[MeasuredRun], tasks: &Tasks, level: f64) -> RangeEstimate {
    let (least, most) = worth_sums(runs, tasks);
    RangeEstimate::by(least.as_deref(), Some(&most), |tasks| worth::break_even(tasks, level))
}

/// Net benefit of stopping per run when a lost success costs `price` (in `unit`): what was not spent, less the price
/// of the successes killed. Over the judged runs.
pub(super) fn net_benefit(group: &Group<'_>, tasks: &Tasks, unit: Unit, price: f64, level: f64) -> RangeEstimate {
    let (least, most) = worth_sums(&MeasuredRun::of(group, tasks, unit), tasks);
    RangeEstimate::by(least.as_deref(), Some(&most), |tasks| worth::net_worth(tasks, price, level))
}

fn per_success(runs: &[MeasuredRun], tasks: &Tasks, level: f64) -> RangeEstimate {
    let limited = runs.iter().all(|run| !run.judged || run.spent.1.is_some());
    // The cost of failed runs is part of the cost of a success, so runs count even if no success was kept.
    let costs = |parts: &dyn Fn(&MeasuredRun) -> Option<(f64, f64)>| {
        let parts = |run: &MeasuredRun| run.judged.then(|| parts(run)).flatten();
        sums(runs, tasks, parts, |sums: &mut ClusterSums, (spent, kept)| sums.add_either(spent, kept))
    };
    let least = costs(&|run| Some((run.spent.0, run.kept.1)));
    let most = limited.then(|| costs(&|run| Some((run.spent.1?, run.kept.0))));
    RangeEstimate::of_positive(Some(&least), most.as_deref(), level)
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
    fn of(group: &Group<'_>, tasks: &Tasks, unit: Unit, level: f64) -> Self {
        let parts = |row: RowView<'_>| Contribution::of_row(row, unit).filter(|run| run.amounts.is_some());
        let sums: Vec<Totals> = tasks.sums(group, parts, |sums: &mut Totals, run| sums.add(&run));
        if sums.iter().any(|task| task.inexact > 0) {
            return Self { ratio: Estimate::UNDEFINED, p: None };
        }
        let sums: Vec<CostSums> = sums.into_iter().map(|task| task.cost).collect();
        let (ratio, p) = cost_of_success(&sums, level);
        Self { ratio, p }
    }

    /// The end of a sentence, such as `; a success costs 21 % less (12–30)`. Empty if the ratio is undefined.
    pub fn sentence(&self) -> String {
        let Some(ratio) = self.ratio.value else { return String::new() };
        let percent = |ratio: f64| format!("{:.0}", ((ratio - 1.0) * 100.0).abs());
        let interval = self.ratio.interval.filter(|i| i.high < 1.0 || i.low > 1.0).map_or_else(
            || if self.ratio.interval.is_some() { ", which may be chance".to_owned() } else { String::new() },
            |i| {
                let (a, b) = if i.high < 1.0 { (i.high, i.low) } else { (i.low, i.high) };
                format!(" ({}–{})", percent(a), percent(b))
            },
        );
        let word = if ratio < 1.0 { "less" } else { "more" };
        format!("; a success costs {} % {word}{interval}", percent(ratio))
    }
}

/// Whether the run is a success in the end (kept, or rescued by the stop), at least and at most.
pub(super) fn kept(row: RowView<'_>) -> (f64, f64) {
    if row.outcome() == Outcome::Success {
        return (f64::from(1 - row.killed_high().min(1)), f64::from(1 - row.killed_low().min(1)));
    }
    let rescued = f64::from(u8::from(row.verdict() == crate::verdict::Verdict::Rescued));
    (if row.unknown().is_none() { rescued } else { 0.0 }, rescued)
}
