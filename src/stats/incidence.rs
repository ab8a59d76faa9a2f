//! Success by budget when some runs fail by themselves and others are cut off by their own cap.
//!
//! Failing by itself is a competing event, not censoring: 1 - Kaplan-Meier would treat such runs as if they might
//! still succeed. Assumes that being cut off says nothing about a run's prospects, which holds for a fixed cap on the
//! same axis and not for a human who gave up on it.

use std::collections::BTreeSet;

use super::bootstrap::{Replicates, Resamples};
use super::distribution::t_quantile;
use super::estimate::MIN_CLUSTERS_FOR_INTERVAL;
use super::interval::{Interval, wilson_effective};

/// Fewer defined replicates give no interval.
const MIN_REPLICATES: usize = 100;

/// How a run ended on the budget axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// It succeeded.
    Success,
    /// It ended without success and could not have succeeded later.
    Failure,
    /// It was cut off: what would have followed is unknown.
    CutOff,
}

/// A run on the budget axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ending {
    /// The budget used when it ended, in any unit, at least 0.
    pub at: f64,
    /// How it ended.
    pub end: End,
}

/// One step of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Budget.
    pub at: f64,
    /// Share of runs with success by this budget.
    pub incidence: f64,
    /// Runs (or their weights) still going just before.
    pub at_risk: f64,
}

/// A cumulative incidence curve: constant between steps, 0 before the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Incidence {
    /// The budgets at which some run ended, ascending.
    pub steps: Vec<Step>,
    /// Beyond this budget nothing is known, because runs were cut off there; `None` if no run was left undecided.
    pub known_to: Option<f64>,
}

impl Incidence {
    /// The share of runs with success by `budget`; `None` beyond what is known or without runs.
    pub fn by(&self, budget: f64) -> Option<f64> {
        if self.steps.is_empty() || self.known_to.is_some_and(|known_to| budget > known_to) {
            return None;
        }
        let steps = self.steps.partition_point(|step| step.at <= budget);
        Some(steps.checked_sub(1).and_then(|last| self.steps.get(last)).map_or(0.0, |step| step.incidence))
    }

    /// The area under the curve to `cap`, as a share of the area of certain success at once: in [0, 1].
    /// `None` if `cap` is not positive or lies beyond what is known.
    pub fn area(&self, cap: f64) -> Option<f64> {
        let total = self.by(cap)?;
        let mut before = 0.0;
        let mut area = total;
        for step in self.steps.iter().take_while(|step| step.at <= cap) {
            area -= (step.incidence - before) * step.at / cap;
            before = step.incidence;
        }
        (cap > 0.0).then_some(area)
    }
}

/// The Aalen-Johansen estimate of success by budget: `F(b) = sum over c <= b of S(c-) d(c) / n(c)`, with `S` the
/// Kaplan-Meier curve of ending by itself, either way. At ties, runs that were cut off were still going.
///
/// Aalen & Johansen (1978), Scandinavian J. Statistics 5.
pub fn cumulative_incidence(runs: &[Ending]) -> Incidence {
    let order = ascending(runs);
    curve(order.iter().map(|at| (runs[*at], 1.0)), runs.len() as f64)
}

/// Pointwise band of the curve at `budgets`: Wilson's interval on the effective number of runs, from the standard error over
/// resampled tasks, with t quantiles. The percentile interval of the same resamples is too short below some 100 tasks.
///
/// `task_of[i]` is the position of run i's task among the keys given to `resamples`. `None` below 8 tasks, beyond what is
/// known, and where fewer than 100 replicates are defined.
pub fn incidence_band(
    runs: &[Ending],
    task_of: &[usize],
    resamples: &Resamples,
    budgets: &[f64],
    level: f64,
) -> Vec<Option<Interval>> {
    let tasks = task_of.iter().collect::<BTreeSet<_>>().len();
    if (tasks as u64) < MIN_CLUSTERS_FOR_INTERVAL {
        return vec![None; budgets.len()];
    }
    let order = ascending(runs);
    let rank = resamples.ranks();
    let position: Vec<Option<usize>> =
        order.iter().map(|run| task_of.get(*run).and_then(|task| rank.get(*task)).copied()).collect();
    let mut values: Vec<Vec<Option<f64>>> = vec![Vec::with_capacity(resamples.replicates()); budgets.len()];
    resamples.for_each(|weights| {
        let weight = |at: Option<usize>| at.and_then(|at| weights.get(at)).map_or(0.0, |weight| f64::from(*weight));
        let total: f64 = position.iter().map(|at| weight(*at)).sum();
        let drawn = curve(order.iter().zip(&position).map(|(run, at)| (runs[*run], weight(*at))), total);
        for (values, budget) in values.iter_mut().zip(budgets) {
            values.push(drawn.by(*budget));
        }
    });
    let curve = cumulative_incidence(runs);
    let quantile = t_quantile(0.5 + 0.5 * level, tasks as f64 - 1.0);
    budgets
        .iter()
        .zip(values)
        .map(|(budget, values)| {
            let share = curve.by(*budget)?;
            let replicates: Replicates = values.into_iter().collect();
            let error = replicates.standard_error().filter(|_| replicates.values.len() >= MIN_REPLICATES)?;
            let n_effective = share * (1.0 - share) / (error * error);
            // Where all runs agree there is no spread to estimate, and a task counts as one run: the worst case.
            let n_effective = if n_effective.is_finite() && n_effective > 0.0 { n_effective } else { tasks as f64 };
            wilson_effective(share, n_effective, quantile)
        })
        .collect()
}

/// The runs by budget; at ties by how they ended, cut-off runs last.
fn ascending(runs: &[Ending]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|a, b| runs[*a].at.total_cmp(&runs[*b].at).then(runs[*a].end.cmp(&runs[*b].end)));
    order
}

fn curve(sorted: impl Iterator<Item = (Ending, f64)>, total: f64) -> Incidence {
    let mut sorted = sorted.filter(|(_, weight)| *weight > 0.0).peekable();
    let mut result = Incidence::default();
    let (mut at_risk, mut undecided, mut incidence) = (total, 1.0, 0.0);
    let mut last_cut_off = false;
    while let Some((first, weight)) = sorted.next() {
        let (mut success, mut failure, mut cut_off) = (0.0, 0.0, 0.0);
        let mut count = |end: End, weight: f64| match end {
            End::Success => success += weight,
            End::Failure => failure += weight,
            End::CutOff => cut_off += weight,
        };
        count(first.end, weight);
        while let Some((tied, weight)) = sorted.next_if(|(next, _)| next.at.total_cmp(&first.at).is_eq()) {
            count(tied.end, weight);
        }
        incidence += undecided * success / at_risk;
        undecided *= 1.0 - (success + failure) / at_risk;
        result.steps.push(Step { at: first.at, incidence, at_risk });
        at_risk -= success + failure + cut_off;
        last_cut_off = cut_off > 0.0;
    }
    if last_cut_off {
        result.known_to = result.steps.last().map(|step| step.at);
    }
    result
}
