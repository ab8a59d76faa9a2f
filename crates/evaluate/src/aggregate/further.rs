//! Follow-up questions about a comparison: how much of the best stack's lead is luck, what bound holds in every suite
//! at once, what is saved at another failure rate, how close a stack comes to the oracle, and how early it stops
//! failures.

use std::collections::BTreeSet;

use super::savings::Unit;
use super::ship::{Candidate, ShipTerms, decide};
use super::task_sums::{by_task, cost_at_worst, killed_of_all, killed_rate, saved_at_worst};
use super::tasks::Tasks;
use super::{Group, LEVEL, Label, Over, RowView, RunEffect, TaskSums, useful_parts};
use crate::parallel;
use crate::stats::gaffke::{is_bound, upper_bound};
use crate::stats::split::{Part, split_tasks};
use crate::stats::{ClusterSums, Estimate, ratio_estimate};
use crate::transcript::Outcome;

/// How often the tasks are halved to see what a choice is worth on other tasks.
const HALVINGS: u32 = 10;
/// Minimum tasks in a half to choose on.
const MIN_TASKS: usize = 8;

/// The best of many stacks, rated on the tasks it was chosen on and on others.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenElsewhere {
    /// The stack chosen on all tasks.
    pub stack: Label,
    /// Its rate of false early stops and its useful saving on all tasks.
    pub seen: (f64, f64),
    /// The same numbers on one half of the tasks for the stack chosen on the other half; mean over 20 halves. `None`
    /// if no stack qualifies in any half.
    pub elsewhere: Option<(f64, f64)>,
    /// Number of halves, out of 20, in which some stack qualified.
    pub halves: u32,
}

/// Rates the stack to ship, and estimates what such a choice is worth on tasks it was not made on: [`decide`] on one
/// half of the tasks, without looking at ties. Every unknown counts at its worst. `None` if no stack qualifies.
///
/// Cawley & Talbot (2010), On over-fitting in model selection, JMLR 11.
pub fn chosen_elsewhere(
    groups: &[Group<'_>],
    ship: Option<usize>,
    unit: Unit,
    terms: ShipTerms,
) -> Option<ChosenElsewhere> {
    let first = groups.first()?;
    let present: BTreeSet<usize> = first.rows().map(RowView::task).collect();
    if present.len() < 2 * MIN_TASKS {
        return None;
    }
    let halves = halves(first, &present);
    let is_in = |half: &Half, task: usize| half.tasks.get(task) == Some(&Some(half.part));
    // Each thread holds the sums of one stack at a time: those of all stacks would take more memory than the rows.
    let everything = groups.get(ship?)?;
    let seen = values(StackSums::from_group(everything, unit).estimates(|_| true))?;
    let level = 1.0 - (1.0 - LEVEL) / groups.len().max(1) as f64;
    let candidates_of = |group: &Group<'_>| -> Vec<Candidate> {
        let sums = StackSums::from_group(group, unit);
        halves.iter().map(|half| sums.candidate(|task| is_in(half, task), level)).collect()
    };
    let candidates: Vec<Vec<Candidate>> = parallel::map(groups, candidates_of);
    let best_of = (0..halves.len()).map(|half| {
        let of_half: Vec<Candidate> = candidates.iter().map(|of_stack| of_stack[half]).collect();
        decide(&of_half, terms, |_, _| false).ship
    });
    let best_of: Vec<Option<usize>> = best_of.collect();
    drop(candidates);
    let mut elsewhere: Vec<Option<(f64, f64)>> = vec![None; halves.len()];
    let chosen: BTreeSet<usize> = best_of.iter().copied().flatten().collect();
    for at in chosen {
        let Some(group) = groups.get(at) else { continue };
        let sums = StackSums::from_group(group, unit);
        for ((values_of, best), half) in elsewhere.iter_mut().zip(&best_of).zip(&halves) {
            if *best == Some(at) {
                *values_of = values(sums.estimates(|task| !is_in(half, task)));
            }
        }
    }
    let (mut killed, mut saved, mut halves) = (0.0, 0.0, 0);
    for values in elsewhere.into_iter().flatten() {
        killed += values.0;
        saved += values.1;
        halves += 1;
    }
    let mean = |sum: f64| sum / f64::from(halves);
    Some(ChosenElsewhere {
        stack: everything.stack.clone(),
        seen,
        elsewhere: if halves > 0 { Some((mean(killed), mean(saved))) } else { None },
        halves,
    })
}

/// One half of the tasks: those assigned to `part`.
struct Half {
    /// The part of each task, by task index.
    tasks: Vec<Option<Part>>,
    part: Part,
}

fn halves(group: &Group<'_>, present: &BTreeSet<usize>) -> Vec<Half> {
    let all = group.all_rows().tasks();
    let names: Vec<(&str, &str)> =
        all.enumerate().filter(|(task, _)| present.contains(task)).map(|(_, name)| name).collect();
    let n_tasks = group.all_rows().tasks().len();
    let split = |salt: u32| {
        let mut tasks = vec![None; n_tasks];
        for (task, part) in present.iter().zip(split_tasks(&names, &salt.to_string(), 0.5)) {
            tasks[*task] = Some(part);
        }
        [Part::Dev, Part::Test].map(|part| Half { tasks: tasks.clone(), part })
    };
    (0..HALVINGS).flat_map(split).collect()
}

/// Sums of one stack over all runs of each task, with task indices in name order; only tasks that have a row.
struct StackSums(Vec<(usize, TaskSums)>);

impl StackSums {
    fn from_group(group: &Group<'_>, unit: Unit) -> Self {
        let mut tasks: Vec<Option<TaskSums>> = vec![None; group.all_rows().tasks().len()];
        for row in group.rows() {
            tasks[row.task()].get_or_insert_default().add(&RunEffect::from_row(row, unit), Over::All);
        }
        let present = tasks.into_iter().enumerate();
        Self(present.filter_map(|(task, sums)| Some((task, sums?))).collect())
    }

    fn on(&self, is_in: impl Fn(usize) -> bool) -> Vec<&TaskSums> {
        self.0.iter().filter(|(task, _)| is_in(*task)).map(|(_, sums)| sums).collect()
    }

    /// The rate of kills and the useful saving.
    fn estimates(&self, is_in: impl Fn(usize) -> bool) -> (Estimate, Estimate) {
        let tasks = self.on(is_in);
        (killed_rate(&tasks, LEVEL).high, saved_at_worst(&tasks))
    }

    /// The stack as a candidate on some of the tasks, with the bound on what it kills at `level`.
    fn candidate(&self, is_in: impl Fn(usize) -> bool, level: f64) -> Candidate {
        let tasks = self.on(is_in);
        let killed = killed_rate(&tasks, level).high;
        Candidate {
            acted: true,
            known: 1.0,
            killed_at_most: killed.high(),
            killed: killed.value,
            killed_of_all: killed_of_all(&tasks).high.value(),
            saved: saved_at_worst(&tasks),
            cost: cost_at_worst(&tasks),
            worth: None,
            hosts: 0,
            rules: 0,
        }
    }
}

fn values((killed, saved): (Estimate, Estimate)) -> Option<(f64, f64)> {
    killed.value.zip(saved.value)
}

/// A bound that holds in every suite and model at once.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstStratum {
    /// Number of strata (suite and model) with a success.
    pub strata: usize,
    /// With 95 % confidence, the rate of false early stops, averaged over tasks, is at most this in every stratum.
    pub bound: f64,
    /// The suite of the stratum that sets the bound.
    pub suite: Option<Label>,
    /// The model of that stratum.
    pub model: Option<Label>,
    /// Tasks with a success in that stratum.
    pub tasks: usize,
}

/// For the rows of one stack, the largest of the strata's upper bounds, holding jointly at 95 % confidence (Bonferroni
/// over strata, Gaffke within). `None` with fewer than two strata, or if one of
/// them has fewer than 20 tasks with a success: it alone would set the bound. Every unknown counts as killed.
pub fn worst_stratum(group: &Group<'_>) -> Option<WorstStratum> {
    let mut strata = Vec::new();
    for stratum in group.strata() {
        let sums = by_task(&stratum, &Tasks::from_group(&stratum), Unit::Steps, Over::Judged);
        let losses: Vec<f64> = sums.iter().filter_map(TaskSums::killed_rate).collect();
        if !losses.is_empty() {
            strata.push((stratum, losses));
        }
    }
    if strata.len() < 2 || strata.iter().any(|(_, losses)| (losses.len() as u64) < super::strata::MIN_TASKS) {
        return None;
    }
    let delta = (1.0 - LEVEL) / strata.len() as f64;
    let mut worst: Option<(f64, &(Group<'_>, Vec<f64>))> = None;
    // On ties the last stratum wins. Computing a bound takes many tests, and one test tells whether it would be the
    // largest.
    for stratum in strata.iter().rev() {
        if worst.is_none_or(|(bound, _)| !is_bound(&stratum.1, bound, delta)) {
            worst = Some((upper_bound(&stratum.1, delta), stratum));
        }
    }
    let (bound, (stratum, losses)) = worst?;
    Some(WorstStratum {
        strata: strata.len(),
        bound,
        suite: stratum.suite.clone(),
        model: stratum.model.clone(),
        tasks: losses.len(),
    })
}

/// The useful saving of one stack if `failure_rate` of the runs failed, everything else alike: runs are reweighted by
/// outcome to reach that share. The share of successes killed and of failures stopped does not depend on it. Undefined
/// unless there are both failures and successes.
///
/// The weights are taken as known. Cole & Stuart (2010), Generalizing evidence from randomized clinical trials, Am. J.
/// Epidemiology 172.
pub fn saved_at(group: &Group<'_>, unit: Unit, failure_rate: f64) -> Estimate {
    let useful = |row: RowView<'_>| useful_parts(&RunEffect::from_row(row, unit));
    let known = || group.rows().filter(|row| useful(*row).is_some());
    let count = |outcome: Outcome| known().filter(|row| row.outcome() == outcome).count() as f64;
    let (failures, successes) = (count(Outcome::Failure), count(Outcome::Success));
    if failures == 0.0 || successes == 0.0 {
        return Estimate::UNDEFINED;
    }
    let weigh = |row: RowView<'_>| match row.outcome() {
        Outcome::Failure => failure_rate / failures,
        Outcome::Success => (1.0 - failure_rate) / successes,
        Outcome::Unknown => 0.0,
    };
    let tasks = Tasks::from_group(group);
    let parts = |row: RowView<'_>| useful(row).map(|(saved, all)| (saved * weigh(row), all * weigh(row)));
    let sums = tasks.sums(group, parts, |sums: &mut ClusterSums, (saved, all)| sums.add(saved, all));
    ratio_estimate(&sums, LEVEL)
}

/// How close a stack comes to an oracle that knows each run's outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OracleShare {
    /// Its useful saving over the oracle's, which saves all of every failure and everything after a success was
    /// secured.
    pub reached: Estimate,
    /// What the oracle saves, over what was recorded.
    pub oracle: Option<f64>,
}

/// The useful saving of one stack over that of the oracle; the regret is 1 minus it. The oracle stops a failure before
/// its first request, which no rule can do, so 1 is out of reach. On a success with no known secured point the oracle
/// saves nothing.
pub fn oracle_share(group: &Group<'_>, unit: Unit) -> OracleShare {
    let tasks = Tasks::from_group(group);
    let parts = |row: RowView<'_>| {
        let effect = RunEffect::from_row(row, unit);
        Some((effect.useful()?.least?, effect.spending?.possible?))
    };
    let reached = tasks.sums(group, parts, |sums: &mut ClusterSums, (useful, possible)| {
        sums.add_either(useful, possible);
    });
    let mut all = TaskSums::default();
    for task in &by_task(group, &tasks, unit, Over::Judged) {
        all.merge(task);
    }
    OracleShare { reached: ratio_estimate(&reached, LEVEL), oracle: all.oracle_ratio() }
}

/// The shares of one stack's failures that were certainly stopped by a quarter, a half and three quarters of what they
/// spent, and at all. `None` without failures that record `unit`.
pub fn stopped_by(group: &Group<'_>, unit: Unit) -> Option<[f64; 4]> {
    let failures = group.rows().filter(|row| row.is_judged() && row.outcome() == Outcome::Failure);
    let mut spent: Vec<Option<f64>> = Vec::new();
    for row in failures {
        let (Some(at_stop), Some(recorded)) = (unit.at_stop(row), unit.recorded(row)) else { continue };
        let share = at_stop / recorded;
        spent.push(if row.was_stopped() && share.is_finite() { Some(share) } else { None });
    }
    if spent.is_empty() {
        return None;
    }
    let by = |share: f64| {
        let stopped = spent.iter().flatten().filter(|spent| **spent <= share).count();
        stopped as f64 / spent.len() as f64
    };
    Some([by(0.25), by(0.5), by(0.75), by(f64::INFINITY)])
}
