//! Success by budget when some runs fail on their own and others are cut off by their own cap.
//!
//! A failure is a competing event, not censoring: 1 - Kaplan-Meier would treat failed runs as if they might still
//! succeed. [`cumulative_incidence`] assumes that being cut off says nothing about a run's prospects, which holds for
//! a fixed cap on the same axis but not for a person who gave up on the run; [`incidence_bounds`] assumes nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::estimate::{MIN_CLUSTERS_FOR_INTERVAL, rate_interval};
use super::interval::Interval;
use super::residual::{ResidualPart, Residuals};

/// Maximum groups in the jackknife: up to this many tasks are left out one by one, more in this many groups.
const MOST_GROUPS: usize = 400;

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

/// How one run ended on the budget axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ending {
    /// The budget used when it ended, in any unit, at least 0.
    pub at: f64,
    /// How it ended.
    pub end: End,
}

/// One step of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IncidenceStep {
    /// Budget.
    pub at: f64,
    /// Share of runs with success by this budget.
    pub incidence: f64,
    /// Runs (or their total weight) still going just before.
    pub at_risk: f64,
}

/// A cumulative incidence curve: constant between steps, 0 before the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Incidence {
    /// The budgets at which some run ended, ascending.
    pub steps: Vec<IncidenceStep>,
    /// Largest budget with a known incidence; beyond it runs were cut off. `None` if no run was cut off.
    pub known_to: Option<f64>,
}

impl Incidence {
    /// The share of runs with success by `budget`; `None` beyond the known range or without runs.
    pub fn by(&self, budget: f64) -> Option<f64> {
        if self.steps.is_empty() || self.known_to.is_some_and(|known_to| budget > known_to) {
            return None;
        }
        Some(self.reached(budget))
    }

    /// As [`Self::by`], but extends the last known value beyond the known range; 0 without runs.
    fn reached(&self, budget: f64) -> f64 {
        let steps = self.steps.partition_point(|step| step.at <= budget);
        steps.checked_sub(1).and_then(|last| self.steps.get(last)).map_or(0.0, |step| step.incidence)
    }

    /// The area under the curve up to `cap`, relative to immediate success of every run: in [0, 1]. `None` if `cap` is
    /// not positive or beyond the known range.
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
/// Kaplan-Meier curve of ending on its own, in success or failure. At ties, runs that were cut off count as still
/// going.
///
/// Aalen & Johansen (1978), Scandinavian J. Statistics 5.
pub fn cumulative_incidence(runs: &[Ending]) -> Incidence {
    let order = ascending(runs);
    curve(order.iter().map(|at| (runs[*at], 1.0)), runs.len() as f64)
}

/// The lowest and highest curve the recordings allow. A run cut off while others went on may have been picked for its
/// prospects (a person gave up on it, or its cap is on another axis), so it counts as failed in one curve and as about
/// to succeed in the other. Runs cut off where no run goes on were cut off by a cap on this axis and need no
/// assumption: the curve just ends there. Without runs of the first kind both are [`cumulative_incidence`].
///
/// Manski (2003), Partial identification of probability distributions.
pub fn incidence_bounds(runs: &[Ending]) -> (Incidence, Incidence) {
    let last = runs.iter().map(|run| run.at).fold(f64::NEG_INFINITY, f64::max);
    let counted_as = |end: End| {
        let count = |run: &Ending| if run.end == End::CutOff && run.at < last { Ending { end, ..*run } } else { *run };
        cumulative_incidence(&runs.iter().map(count).collect::<Vec<_>>())
    };
    (counted_as(End::Failure), counted_as(End::Success))
}

/// Number of runs cut off while others went on, see [`incidence_bounds`].
pub fn informative_cuts(runs: &[Ending]) -> usize {
    let last = runs.iter().map(|run| run.at).fold(f64::NEG_INFINITY, f64::max);
    runs.iter().filter(|run| run.end == End::CutOff && run.at < last).count()
}

/// Pointwise band at `budgets` that covers both [`incidence_bounds`]: Wilson's interval on the effective number of
/// runs, with the jackknife variance over tasks, as for a rate.
///
/// `task_of[i]` is the task of run i. `None` below 8 tasks and beyond the known range. With more than 400 tasks the
/// jackknife leaves out 400 groups of tasks.
pub fn incidence_band(runs: &[Ending], task_of: &[usize], budgets: &[f64], level: f64) -> Vec<Option<Interval>> {
    let tasks: BTreeMap<usize, usize> = task_of.iter().copied().collect::<BTreeSet<_>>().into_iter().zip(0..).collect();
    if (tasks.len() as u64) < MIN_CLUSTERS_FOR_INTERVAL || runs.len() != task_of.len() {
        return vec![None; budgets.len()];
    }
    let groups = tasks.len().min(MOST_GROUPS);
    let group_of: Vec<usize> = task_of.iter().map(|task| tasks.get(task).map_or(0, |rank| rank % groups)).collect();
    let last = runs.iter().map(|run| run.at).fold(f64::NEG_INFINITY, f64::max);
    let of = |end: End| {
        let count = |run: &Ending| if run.end == End::CutOff && run.at < last { Ending { end, ..*run } } else { *run };
        band_of_curve(&runs.iter().map(count).collect::<Vec<_>>(), &group_of, groups, budgets, level)
    };
    let lowest = of(End::Failure);
    if informative_cuts(runs) == 0 {
        return lowest;
    }
    let both = lowest.into_iter().zip(of(End::Success));
    both.map(|(low, high)| Some(low?.hull(high?))).collect()
}

fn band_of_curve(
    runs: &[Ending],
    group_of: &[usize],
    groups: usize,
    budgets: &[f64],
    level: f64,
) -> Vec<Option<Interval>> {
    let order = ascending(runs);
    let mut sizes = vec![0_u64; groups];
    for group in group_of {
        sizes[*group] += 1;
    }
    let total = runs.len() as f64;
    let whole = cumulative_incidence(runs);
    // Keeps only each curve's values at the budgets: hundreds of whole curves would take more memory than the runs.
    let without: Vec<Vec<f64>> = (0..groups)
        .map(|left_out| {
            let kept = order.iter().map(|at| (runs[*at], if group_of[*at] == left_out { 0.0 } else { 1.0 }));
            let curve = curve(kept, total - sizes[left_out] as f64);
            budgets.iter().map(|budget| curve.reached(*budget)).collect()
        })
        .collect();
    let interval = |(at, budget): (usize, &f64)| {
        let share = whole.by(*budget)?;
        let part = |(reached, size): (&Vec<f64>, &u64)| {
            let part = *size as f64 / total;
            let change = share - reached[at];
            ResidualPart {
                residual: change * (1.0 - part),
                left_out: change * (1.0 - 1.0 / groups as f64),
                share: part,
            }
        };
        let parts: Vec<ResidualPart> = without.iter().zip(&sizes).map(part).collect();
        let residuals = Residuals::of_parts(&parts, groups as u64);
        let binomial = share * (1.0 - share);
        rate_interval(share, &residuals, level, |variance| {
            let effective = binomial / variance.max(binomial / total);
            (effective.is_finite() && effective > 0.0).then_some(effective)
        })
    };
    budgets.iter().enumerate().map(interval).collect()
}

/// The runs in ascending order of budget; ties are ordered by how the runs ended, cut-off runs last.
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
        result.steps.push(IncidenceStep { at: first.at, incidence, at_risk });
        at_risk -= success + failure + cut_off;
        last_cut_off = cut_off > 0.0;
    }
    if last_cut_off {
        result.known_to = result.steps.last().map(|step| step.at);
    }
    result
}
