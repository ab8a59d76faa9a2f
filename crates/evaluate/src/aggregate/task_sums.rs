//! What a stack does to the runs of each task, summed up: every share, cost and worth of a stack is made from these.

use super::tasks::Tasks;
use super::{Ends, Group, RunEffect, Unit};
use crate::stats::{
    ClusterSums, CostSums, Estimate, RangeEstimate, WorthSums, cost_estimate, loss_rate, ratio_estimate,
};
use crate::transcript::Outcome;

/// Level of every printed interval. A gate over several stacks uses a higher one.
pub const LEVEL: f64 = 0.95;

/// Which runs are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Those that can be judged: graded, with every rule evaluated.
    Judged,
    /// All. A run that cannot be judged saves nothing, or costs more.
    All,
}

/// Runs with a property, of all that may have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Those that have it.
    pub hits: u64,
    /// All of them.
    pub of: u64,
}

impl Share {
    pub(super) fn add(&mut self, is_hit: bool) {
        self.hits += u64::from(is_hit);
        self.of += 1;
    }

    fn merge(&mut self, part: Self) {
        self.hits += part.hits;
        self.of += part.of;
    }

    /// The share, from 0 to 1; `None` of nothing.
    pub fn value(self) -> Option<f64> {
        if self.of == 0 { None } else { Some(self.hits as f64 / self.of as f64) }
    }

    /// As a part of a ratio of sums.
    pub fn sums(self) -> ClusterSums {
        ClusterSums::from_counts(self.hits, self.of)
    }
}

/// The sums of one task under one stack, in one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TaskSums {
    /// Runs.
    pub runs: u64,
    /// Those on which nothing is in doubt, or only what follows a warning, within bounds.
    pub certain: u64,
    /// Those that record what is spent.
    pub measured: u64,
    /// Killed, of the successes: over all runs, whichever are summed up. A run without an outcome is a success where that
    /// is worse (at the high end: if it may have been killed) or better (at the low end), and a success on which a rule
    /// could not be evaluated is lost or not.
    pub killed: Ends<Share>,
    /// Runs that were certainly ended early.
    pub stops: u64,
    /// Failed runs among them.
    pub stopped_failures: u64,
    /// Not spent, over recorded: all runs whose rules could be evaluated, graded or not.
    pub saved: Ends<ClusterSums>,
    /// Not spent on failures and after success, over recorded.
    pub useful: Ends<ClusterSums>,
    /// Spent, over successes kept.
    pub per_success: Ends<ClusterSums>,
    /// Spent and successes, with the stack and without, every unknown at its worst.
    pub cost: CostSums,
    /// Not spent, and successes killed, by run: at the low end least saved and most killed.
    pub worth: Ends<WorthSums>,
    /// What an oracle would save.
    pub possible: f64,
    /// Recorded on the runs of which that is known.
    pub possible_of: f64,
    /// Runs of which nothing limits what is spent; and those that only `saved` counts.
    pub unlimited: u64,
    /// The same of all runs whose rules could be evaluated.
    pub unlimited_saved: u64,
    /// Runs whose spending or success is known only within bounds.
    pub inexact: u64,
}

impl TaskSums {
    /// Adds a run, if it is one of those that are summed up.
    pub fn add(&mut self, effect: &RunEffect, over: Over) {
        let success = effect.success();
        if success.low {
            self.killed.low.add(effect.killed.low);
        }
        if success.high {
            self.killed.high.add(effect.killed.high);
        }
        if let Some(spending) = effect.spending.filter(|_| !effect.doubts.unread) {
            let saving = spending.saving();
            self.saved.high.add(saving.most, spending.recorded);
            match saving.least {
                Some(least) => self.saved.low.add(least, spending.recorded),
                None => self.unlimited_saved += 1,
            }
        }
        if over == Over::Judged && !effect.is_judged() {
            return;
        }
        self.runs += 1;
        self.certain += u64::from(effect.is_bounded());
        self.measured += u64::from(effect.spending.is_some());
        self.stops += u64::from(effect.stopped.low);
        self.stopped_failures += u64::from(effect.stopped.low && effect.outcome == Outcome::Failure);
        self.add_spending(effect, success.high);
    }

    fn add_spending(&mut self, effect: &RunEffect, is_success: bool) {
        let Some(spending) = effect.spending else { return };
        let saving = spending.saving();
        let useful = effect.useful().unwrap_or_else(|| saving.with_nothing());
        self.useful.high.add(useful.most, spending.recorded);
        self.worth.high.add(saving.most, effect.killed.low);
        self.per_success.low.add_either(spending.least_spent, number(effect.kept.high));
        if let (Some(least_useful), Some(least_saved), Some(most_spent)) =
            (useful.least, saving.least, spending.most_spent)
        {
            self.useful.low.add(least_useful, spending.recorded);
            self.worth.low.add(least_saved, effect.killed.high);
            self.per_success.high.add_either(most_spent, number(effect.kept.low));
            self.cost.add(most_spent, number(effect.kept.low), spending.recorded, is_success);
        } else {
            self.unlimited += 1;
        }
        self.inexact += u64::from(!effect.is_exact());
        if let Some(possible) = spending.possible {
            self.possible += possible;
            self.possible_of += spending.recorded;
        }
    }

    /// Adds the runs of another part.
    pub fn merge(&mut self, part: &Self) {
        self.runs += part.runs;
        self.certain += part.certain;
        self.measured += part.measured;
        self.killed.low.merge(part.killed.low);
        self.killed.high.merge(part.killed.high);
        self.stops += part.stops;
        self.stopped_failures += part.stopped_failures;
        for (sums, part) in [
            (&mut self.saved, &part.saved),
            (&mut self.useful, &part.useful),
            (&mut self.per_success, &part.per_success),
        ] {
            sums.low.merge(&part.low);
            sums.high.merge(&part.high);
        }
        self.cost = self.cost.plus(&part.cost);
        self.worth.low.merge(&part.worth.low);
        self.worth.high.merge(&part.worth.high);
        self.possible += part.possible;
        self.possible_of += part.possible_of;
        self.unlimited += part.unlimited;
        self.unlimited_saved += part.unlimited_saved;
        self.inexact += part.inexact;
    }

    /// The share of its successes killed, every unknown at its worst; `None` without a success.
    pub fn killed_rate(&self) -> Option<f64> {
        self.killed.high.value()
    }

    /// Usefully saved over recorded, every unknown at its worst; `None` if nothing limits what some run spends.
    pub fn saved_ratio(&self) -> Option<f64> {
        let ClusterSums { numerator, denominator, .. } = self.useful.low;
        if denominator > 0.0 && self.unlimited == 0 { Some(numerator / denominator) } else { None }
    }

    /// Spending per success in the end over recorded spending per success; `None` if it is known only within bounds, no
    /// success is left or nothing was spent.
    pub fn cost_of_success(&self) -> Option<f64> {
        self.cost.ratio().filter(|_| self.inexact == 0)
    }

    /// What an oracle would save, over what was recorded.
    pub fn oracle_ratio(&self) -> Option<f64> {
        if self.possible_of > 0.0 { Some(self.possible / self.possible_of) } else { None }
    }
}

fn number(is: bool) -> f64 {
    f64::from(u8::from(is))
}

/// The sums of a group by task, in name order; `tasks` are the group's.
pub(super) fn by_task(group: &Group<'_>, tasks: &Tasks, unit: Unit, over: Over) -> Vec<TaskSums> {
    let mut sums = vec![TaskSums::default(); tasks.len()];
    for (row, task) in group.rows().zip(tasks.places()) {
        sums[task].add(&RunEffect::from_row(row, unit), over);
    }
    sums
}

/// The mean over tasks of the share of their successes killed; see [`loss_rate`].
pub fn killed_rate(tasks: &[&TaskSums], level: f64) -> RangeEstimate {
    let low: Vec<ClusterSums> = tasks.iter().map(|task| task.killed.low.sums()).collect();
    let high: Vec<ClusterSums> = tasks.iter().map(|task| task.killed.high.sums()).collect();
    RangeEstimate::by(Some(&low[..]), Some(&high[..]), |tasks| loss_rate(tasks, level))
}

/// The successes killed, of all successes of all tasks.
pub fn killed_of_all(tasks: &[&TaskSums]) -> Ends<Share> {
    let mut all = Ends::<Share>::default();
    for task in tasks {
        all.low.merge(task.killed.low);
        all.high.merge(task.killed.high);
    }
    all
}

/// The share of the runs on which kills are known or bounded, or savings are, whichever is smaller; 0 without runs.
pub fn known_share(tasks: &[&TaskSums]) -> f64 {
    let runs: u64 = tasks.iter().map(|task| task.runs).sum();
    let certain: u64 = tasks.iter().map(|task| task.certain).sum();
    let measured: u64 = tasks.iter().map(|task| task.measured).sum();
    certain.min(measured) as f64 / runs.max(1) as f64
}

/// The useful saving over recorded, every unknown at its worst. Undefined if nothing limits what some run spends.
pub fn saved_at_worst(tasks: &[&TaskSums]) -> Estimate {
    if tasks.iter().any(|task| task.unlimited > 0) {
        return Estimate::UNDEFINED;
    }
    ratio_estimate(&tasks.iter().map(|task| task.useful.low).collect::<Vec<_>>(), LEVEL)
}

/// The cost of a success against no stopping, every unknown at its worst. Undefined if nothing limits what some run
/// spends.
pub fn cost_at_worst(tasks: &[&TaskSums]) -> Estimate {
    if tasks.iter().any(|task| task.unlimited > 0) {
        return Estimate::UNDEFINED;
    }
    let costs = tasks.iter().map(|task| task.cost).filter(|cost| cost.n > 0);
    cost_estimate(&costs.collect::<Vec<_>>(), LEVEL)
}
