//! The unit that savings are told in. Where some runs do not record one, a share over the others is a share over all only
//! if those runs are like the others; if they are not, it is told in another unit, and in that one not at all.

use super::{Group, MIN_KNOWN, RecordedRun, RowView, Rows, RunRows, Unit, by_stack};
use crate::stats::cluster_key;
use crate::stats::distribution::normal_quantile;
use crate::transcript::Outcome;
use crate::verdict::Amounts;

/// The chance that runs are found to be unlike the others although they were drawn at random. The price of a false alarm
/// is that savings are told in steps.
const CHANCE: f64 = 0.05;
/// The number of facts in which they may differ.
const FACTS: f64 = 4.0;

/// What a run tells about the choice of a unit.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredRun {
    task: u64,
    log_steps: f64,
    outcome: Outcome,
    has_tokens: bool,
    has_cost: bool,
}

/// The unit that suits a corpus best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestUnit {
    /// The unit.
    pub unit: Unit,
    /// A better one that nearly all runs record, and in which the others differ.
    pub passed_over: Option<PassedOver>,
}

/// A unit in which nothing is told, though nearly all runs record it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassedOver {
    unit: Unit,
    instead: Unit,
    missing: usize,
    runs: usize,
    /// The words for how the runs that do not record it differ from the others.
    difference: &'static str,
}

impl MeasuredRun {
    /// A run of the task with this key, and what all of it spent.
    pub fn new(task: u64, outcome: Outcome, whole: Amounts) -> Self {
        Self {
            task,
            log_steps: (whole.steps as f64).ln_1p(),
            outcome,
            has_tokens: whole.tokens.is_some(),
            has_cost: whole.cost.is_some(),
        }
    }

    /// A run with this said about it, and what all of it spent.
    pub fn from_facts(run: &RecordedRun, whole: Amounts) -> Self {
        let (suite, task) = run.cluster();
        Self::new(cluster_key(&format!("{suite}\u{0}{task}")), run.outcome(), whole)
    }

    /// A run with what all its rows share.
    pub fn from_run(run: &RunRows) -> Self {
        Self::from_facts(run.facts(), run.ledger().whole())
    }

    fn records(&self, unit: Unit) -> bool {
        match unit {
            Unit::Steps => true,
            Unit::Tokens => self.has_tokens,
            Unit::CostUsd => self.has_cost,
        }
    }
}

impl BestUnit {
    /// Dollars where nearly all runs have a cost, else tokens where nearly all have them, else steps: an answer needs what
    /// it counts in to be known on [`MIN_KNOWN`] of the runs, and the others to be like these.
    pub fn from_runs(runs: &[MeasuredRun]) -> Self {
        let mut passed_over = None;
        for unit in [Unit::CostUsd, Unit::Tokens] {
            let known = runs.iter().filter(|run| run.records(unit)).count();
            if (known as f64) < MIN_KNOWN * runs.len() as f64 || runs.is_empty() {
                continue;
            }
            let Some(difference) = difference_beyond_chance(runs, unit) else {
                return Self { unit, passed_over }.named();
            };
            let missing = runs.len() - known;
            let this = PassedOver { unit, instead: Unit::Steps, missing, runs: runs.len(), difference };
            passed_over = passed_over.or(Some(this));
        }
        Self { unit: Unit::Steps, passed_over }
    }

    fn named(mut self) -> Self {
        if let Some(passed_over) = &mut self.passed_over {
            passed_over.instead = self.unit;
        }
        self
    }

    /// The same of the runs of a comparison, from the groups of its stacks.
    pub fn from_groups(groups: &[Group<'_>]) -> Self {
        Self::from_runs(&groups.first().map(measured_runs).unwrap_or_default())
    }
}

/// The unit that suits the runs of a comparison best.
pub fn unit_of(rows: &Rows) -> Unit {
    BestUnit::from_groups(&by_stack(rows)).unit
}

impl PassedOver {
    /// Why, in one sentence.
    pub fn sentence(&self) -> String {
        let Self { missing, runs, difference, .. } = self;
        let (without, instead) = (self.unit.noun(), self.instead.noun());
        format!("Savings are in {instead}: the {missing} of {runs} runs without {without} {difference}, beyond chance.")
    }
}

/// True if the runs of a group that do not record a unit are not like the others, so that a share over the others is none
/// of the group.
pub(super) fn is_misleading(group: &Group<'_>, unit: Unit) -> bool {
    let is_recorded = |row: RowView<'_>| unit.recorded(row).is_some();
    !group.rows().all(is_recorded)
        && group.rows().any(is_recorded)
        && difference_beyond_chance(&measured_runs(group), unit).is_some()
}

fn measured_runs(group: &Group<'_>) -> Vec<MeasuredRun> {
    let run = |row: RowView<'_>| MeasuredRun {
        task: row.task() as u64,
        log_steps: (row.steps_recorded() as f64).ln_1p(),
        outcome: row.outcome(),
        has_tokens: row.tokens_recorded().is_some(),
        has_cost: row.cost_usd_recorded().is_some(),
    };
    group.rows().map(run).collect()
}

/// The words for the largest difference between the runs without `unit` and the others, if one is beyond chance: in
/// length, among all, the successes or the failures; and in success.
fn difference_beyond_chance(runs: &[MeasuredRun], unit: Unit) -> Option<&'static str> {
    let limit = normal_quantile(1.0 - 0.5 * CHANCE / FACTS);
    let z = |is_in: fn(Outcome) -> bool, value: fn(&MeasuredRun) -> f64| {
        let of = runs.iter().filter(|run| is_in(run.outcome));
        score(of.map(|run| (run.task, !run.records(unit), value(run))))
    };
    let is_success = |outcome| outcome == Outcome::Success;
    let is_failure = |outcome| outcome == Outcome::Failure;
    let facts = [
        (z(|_| true, |run| run.log_steps), "are longer than the others", "are shorter than the others"),
        (
            z(is_success, |run| run.log_steps),
            "are longer than the others where they succeed",
            "are shorter than the others where they succeed",
        ),
        (
            z(is_failure, |run| run.log_steps),
            "are longer than the others where they fail",
            "are shorter than the others where they fail",
        ),
        (
            z(|outcome| outcome != Outcome::Unknown, |run| f64::from(u8::from(run.outcome == Outcome::Success))),
            "succeed more often than the others",
            "succeed less often than the others",
        ),
    ];
    let (z, more, less) =
        facts.into_iter().reduce(|best, next| if next.0.abs() > best.0.abs() { next } else { best })?;
    if z.abs() > limit { Some(if z > 0.0 { more } else { less }) } else { None }
}

/// What one task adds to [`score`].
#[derive(Clone, Copy, Default)]
struct TaskPart {
    n: f64,
    marked: f64,
    values: f64,
}

/// The covariance of a mark with a value over its standard error if the marked runs were drawn at random, singly or by
/// whole tasks; 0 if there is nothing to compare. Runs are (task, is marked, value).
///
/// The variance is that of the values, within tasks and between them (analysis of variance). Unlike the clustered variance
/// of a score test, as in [`Picked`](super::Picked), it does not grow with the difference that is looked for: a few marked
/// runs would never be noticed.
fn score(runs: impl Iterator<Item = (u64, bool, f64)>) -> f64 {
    let mut runs: Vec<(u64, bool, f64)> = runs.collect();
    runs.sort_by_key(|(task, ..)| *task);
    let (mut tasks, mut all, mut squares, mut product) = (Vec::new(), TaskPart::default(), 0.0, 0.0);
    for of_task in runs.chunk_by(|(one, ..), (other, ..)| one == other) {
        let mut sums = TaskPart::default();
        for (_, is_marked, value) in of_task {
            let marked = f64::from(u8::from(*is_marked));
            for part in [&mut sums, &mut all] {
                part.n += 1.0;
                part.marked += marked;
                part.values += value;
            }
            squares += value * value;
            product += marked * value;
        }
        tasks.push(sums);
    }
    let (share, mean) = (all.marked / all.n, all.values / all.n);
    let sum = product - share * all.values;
    let n_tasks = tasks.len() as f64;
    let (mut between, mut sizes, mut unevenness) = (0.0, 0.0, 0.0);
    for task in &tasks {
        between += (task.values - task.n * mean).powi(2) / task.n;
        sizes += task.n * task.n;
        unevenness += (task.marked - task.n * share).powi(2);
    }
    let whole = (squares - all.n * mean * mean).max(0.0);
    let ratio = |of: f64, by: f64| if by > 0.0 { of / by } else { 0.0 };
    let within = ratio((whole - between).max(0.0), all.n - n_tasks);
    let usual_size = ratio(all.n - sizes / all.n, n_tasks - 1.0);
    let of_tasks = ratio((ratio(between, n_tasks - 1.0) - within).max(0.0), usual_size);
    let variance = within * all.marked * (1.0 - share) + of_tasks * unevenness;
    if variance > 0.0 && sum.is_finite() { sum / variance.sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests;
