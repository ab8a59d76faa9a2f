//! Runs sorted into cells, and what makes two recordings comparable.

use std::collections::{BTreeMap, BTreeSet};

use super::NotComparable;
use super::by_step::StepCounts;

/// Which of the two recordings a run is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Without the limit.
    Before,
    /// With the limit.
    After,
}

/// One graded run, as the comparison sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt<'a> {
    /// The task.
    pub task: &'a str,
    /// The model; empty if it is not recorded.
    pub model: &'a str,
    /// The suite; empty if there is none.
    pub suite: &'a str,
    /// Whether the run succeeded.
    pub is_success: bool,
    /// Whether the run got as far as the notice of the limit (the stop itself if there is no notice).
    pub is_reached: bool,
    /// Whether the run goes on where the limit ends it. Implies `is_reached`.
    pub is_cut: bool,
    /// Its steps.
    pub steps: u64,
    /// What the run spent, in the unit of the comparison; `None` if it is not recorded.
    pub spent: Option<f64>,
    /// What it would have spent under the limit.
    pub spent_under_limit: Option<f64>,
}

/// Means over the runs of one side of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Means {
    /// How many runs.
    pub(super) runs: usize,
    /// The share that succeeded.
    pub(super) success: f64,
    /// The share that succeeded before they reached the notice.
    pub(super) success_before_notice: f64,
    /// The share that succeeded having reached the notice.
    pub(super) at_risk: f64,
    /// The share that succeeded and that the limit cuts.
    pub(super) killed: f64,
    /// The share that reached the notice.
    pub(super) reached: f64,
    /// The share that reached the notice and succeeded within the limit.
    pub(super) reached_success: f64,
    /// What a run spent; `None` if it is unknown for a run.
    pub(super) spent: Option<f64>,
    /// What a run would have spent under the limit.
    pub(super) spent_under_limit: Option<f64>,
    /// Variances over the runs of (reached, reached_success, success), and their covariances, for the noise of repeated
    /// trials; `None` with a single run.
    pub(super) spread: Option<TrialSpread>,
}

/// Sample variances and covariances of three values of a run: success within the limit having reached the notice (x),
/// reached (r), success (b).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct TrialSpread {
    values: [[f64; 3]; 3],
}

impl TrialSpread {
    /// The variance of `weights[0]`·x + `weights[1]`·r + `weights[2]`·b of one run.
    pub(super) fn variance_of_sum(&self, weights: [f64; 3]) -> f64 {
        let mut sum = 0.0;
        for (row, weight) in self.values.iter().zip(weights) {
            for (value, other) in row.iter().zip(weights) {
                sum += weight * other * value;
            }
        }
        sum
    }
}

/// One task as one model of one suite works on it, on both sides.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PairedCell {
    /// The number of the task.
    pub(super) task: usize,
    /// Without the limit.
    pub(super) before: Means,
    /// With the limit.
    pub(super) after: Means,
}

/// The cells that both sides have.
#[derive(Clone, Debug)]
pub(super) struct PairedCells {
    pub(super) shared: Vec<PairedCell>,
    pub(super) n_tasks: usize,
    pub(super) by_step: StepCounts,
    n_after: usize,
    n_over: usize,
    successes: [usize; 2],
}

/// The least share of a side's tasks that the other side has to have, too.
const LEAST_SHARED: f64 = 0.8;
/// The least number of shared tasks.
const LEAST_TASKS: usize = 8;
/// The least number of successes that reached the notice, both sides together: with fewer, intervals by the normal
/// distribution miss the truth in more than 7 % of simulated pairs where they may in 5.
const LEAST_EVENTS: usize = 10;

impl PairedCells {
    pub(super) fn n_runs(&self, side: Side) -> usize {
        self.shared.iter().map(|cell| cell.side(side).runs).sum()
    }

    pub(super) fn n_successes(&self, side: Side) -> usize {
        self.successes[side as usize]
    }

    /// The share of the AFTER runs that do not go on where the limit ends them.
    pub(super) fn in_force(&self) -> f64 {
        1.0 - self.n_over as f64 / self.n_after as f64
    }
}

impl PairedCell {
    pub(super) fn side(&self, side: Side) -> &Means {
        match side {
            Side::Before => &self.before,
            Side::After => &self.after,
        }
    }
}

/// Task, model and suite.
type Key<'a> = (&'a str, &'a str, &'a str);

/// Sorts both sides into cells and keeps those that both have.
pub(super) fn shared_cells<'a>(before: &[Attempt<'a>], after: &[Attempt<'a>]) -> Result<PairedCells, NotComparable> {
    let sides = [by_cell(before), by_cell(after)];
    one_sided(&sides, "model", |key| key.1)?;
    one_sided(&sides, "suite", |key| key.2)?;
    let tasks = |side: usize| sides[side].keys().map(|key| (key.2, key.0)).collect::<BTreeSet<_>>();
    let (tasks_before, tasks_after) = (tasks(0), tasks(1));
    let shared_tasks: BTreeMap<_, usize> =
        tasks_before.intersection(&tasks_after).enumerate().map(|(place, task)| (*task, place)).collect();
    let n_tasks = shared_tasks.len();
    if n_tasks == 0 {
        return Err(NotComparable::NoSharedTask { before: tasks_before.len(), after: tasks_after.len() });
    }
    let most = tasks_before.len().max(tasks_after.len());
    if (n_tasks as f64) < LEAST_SHARED * most as f64 {
        return Err(NotComparable::FewShared { shared: n_tasks, before: tasks_before.len(), after: tasks_after.len() });
    }
    if n_tasks < LEAST_TASKS {
        return Err(NotComparable::FewTasks { shared: n_tasks, least: LEAST_TASKS });
    }
    let mut cells = PairedCells {
        shared: Vec::new(),
        n_tasks,
        by_step: StepCounts::default(),
        n_after: 0,
        n_over: 0,
        successes: [0, 0],
    };
    let mut n_events = 0;
    for (key, runs) in &sides[0] {
        let Some(runs_after) = sides[1].get(key) else { continue };
        let task = shared_tasks[&(key.2, key.0)];
        cells.shared.push(PairedCell { task, before: means(runs), after: means(runs_after) });
        cells.by_step.add_cell([runs, runs_after]);
        cells.n_after += runs_after.len();
        cells.n_over += runs_after.iter().filter(|run| run.is_cut).count();
        for (side, runs) in [runs, runs_after].into_iter().enumerate() {
            cells.successes[side] += runs.iter().filter(|run| run.is_success).count();
            n_events += runs.iter().filter(|run| run.is_success && run.is_reached).count();
        }
    }
    if cells.n_successes(Side::Before) == 0 {
        return Err(NotComparable::NoSuccessBefore);
    }
    if n_events < LEAST_EVENTS {
        return Err(NotComparable::FewEvents { events: n_events, least: LEAST_EVENTS });
    }
    Ok(cells)
}

fn by_cell<'a>(runs: &[Attempt<'a>]) -> BTreeMap<Key<'a>, Vec<Attempt<'a>>> {
    let mut cells: BTreeMap<Key<'a>, Vec<Attempt<'a>>> = BTreeMap::new();
    for run in runs {
        cells.entry((run.task, run.model, run.suite)).or_default().push(*run);
    }
    cells
}

/// Refuses a model or a suite that only one side has.
fn one_sided<'a, V>(
    sides: &[BTreeMap<Key<'a>, V>; 2],
    what: &'static str,
    name: impl Fn(&Key<'a>) -> &'a str,
) -> Result<(), NotComparable> {
    let [before, after] = sides.each_ref().map(|side| side.keys().map(&name).collect::<BTreeSet<_>>());
    for (side, own, other) in [(Side::Before, &before, &after), (Side::After, &after, &before)] {
        let names: Vec<String> = own.difference(other).map(|name| (*name).to_owned()).collect();
        if !names.is_empty() {
            return Err(NotComparable::OneSided { what, side, names });
        }
    }
    Ok(())
}

fn means(runs: &[Attempt<'_>]) -> Means {
    Means {
        runs: runs.len(),
        success: share(runs, |run| run.is_success),
        success_before_notice: share(runs, |run| run.is_success && !run.is_reached),
        at_risk: share(runs, |run| run.is_success && run.is_reached),
        killed: share(runs, |run| run.is_success && run.is_cut),
        reached: share(runs, |run| run.is_reached),
        reached_success: share(runs, |run| run.is_success && run.is_reached && !run.is_cut),
        spent: mean_if_all_known(runs, |run| run.spent),
        spent_under_limit: mean_if_all_known(runs, |run| run.spent_under_limit),
        spread: spread(runs),
    }
}

fn share(runs: &[Attempt<'_>], is: impl Fn(&Attempt<'_>) -> bool) -> f64 {
    runs.iter().filter(|run| is(run)).count() as f64 / runs.len() as f64
}

fn mean_if_all_known(runs: &[Attempt<'_>], amount: impl Fn(&Attempt<'_>) -> Option<f64>) -> Option<f64> {
    let mut sum = 0.0;
    for run in runs {
        sum += amount(run)?;
    }
    Some(sum / runs.len() as f64)
}

fn spread(runs: &[Attempt<'_>]) -> Option<TrialSpread> {
    if runs.len() < 2 {
        return None;
    }
    let n = runs.len() as f64;
    let values: Vec<[f64; 3]> = runs
        .iter()
        .map(|run| {
            let within = run.is_success && run.is_reached && !run.is_cut;
            [within, run.is_reached, run.is_success].map(|is| if is { 1.0 } else { 0.0 })
        })
        .collect();
    let mut spread = TrialSpread::default();
    for i in 0..3 {
        for j in 0..3 {
            let mean_i = values.iter().map(|value| value[i]).sum::<f64>() / n;
            let mean_j = values.iter().map(|value| value[j]).sum::<f64>() / n;
            let products: f64 = values.iter().map(|value| (value[i] - mean_i) * (value[j] - mean_j)).sum();
            spread.values[i][j] = products / (n - 1.0);
        }
    }
    Some(spread)
}
