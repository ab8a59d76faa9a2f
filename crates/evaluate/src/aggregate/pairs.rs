//! Paired comparison of every stack with a baseline, on the same runs.

use std::collections::BTreeMap;

use super::outcomes::interval_of;
use super::tasks::resample_tasks;
use super::{Group, LEVEL, Label, RunEffect, Unit, killed_parts, useful_parts};
use crate::parallel;
use crate::stats::bounds::{Dominance, difference_bounds, dominance};
use crate::stats::difference::RatioDifference;
use crate::stats::paired::sign_flip;
use crate::stats::{
    Adjustment, BoundSums, DifferenceEstimate, PairedCounts, PairedSums, RangeEstimate, Resamples, SweepTest,
    adjust_sweep, bound_difference, ratio_difference,
};

/// Seed of the resamples; part of every result that used them.
pub const SEED: u64 = 20_260_101;

/// A difference from the baseline, one of a family of tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The difference with its interval and its own p-value.
    pub comparison: DifferenceEstimate,
    /// The p-value adjusted for the number of tests in the family.
    pub p_adjusted: Option<f64>,
    /// How it was adjusted.
    pub adjusted_by: Adjustment,
}

/// One stack against the baseline.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The stack.
    pub stack: Label,
    /// The baseline.
    pub baseline: Label,
    /// Number of stacks compared with the baseline, which is the number of tests in each family.
    pub stacks_compared: u64,
    /// Successful runs compared.
    pub successes: u64,
    /// Successes killed by the stack only.
    pub killed_here: u64,
    /// Successes killed by the baseline only.
    pub killed_there: u64,
    /// Rate of false early stops, stack minus baseline.
    pub fes_rate: Difference,
    /// P-value of the sign-flip test over tasks, as a check; `None` if the difference has no p-value.
    pub fes_sign_flip_p: Option<f64>,
    /// The unit of the saving.
    pub unit: Unit,
    /// Useful saving (on failures and after success) over recorded, stack minus baseline.
    pub saved_ratio: Difference,
    /// Bounds on the difference in success, stack minus baseline; 0 on runs where both acted alike.
    pub success: RangeEstimate,
    /// Whether the stack is better whatever the unknown outcomes were.
    pub dominance: Dominance,
}

/// Compares every group with the one named `baseline`; all groups hold the same runs in the same order.
/// An empty list when there is no such group.
pub fn pairs(groups: &[Group<'_>], baseline: &str, unit: Unit) -> Vec<Pair> {
    let Some(base) = groups.iter().find(|group| &*group.stack == baseline) else { return Vec::new() };
    let others: Vec<&Group<'_>> = groups.iter().filter(|group| group.stack != base.stack).collect();
    let resamples = resample_tasks(std::slice::from_ref(base), SEED);
    let fes_rates = differences(others.iter().map(|group| paired(group, base, unit, killed_parts)), &resamples);
    let saved_ratios = differences(others.iter().map(|group| paired(group, base, unit, useful_parts)), &resamples);
    let sign_flip_p = |tasks: &[PairedCounts]| {
        sign_flip(&tasks.iter().map(|task| task.only_a as f64 - task.only_b as f64).collect::<Vec<f64>>(), SEED)
    };
    let pair = |at: usize| {
        let group = others[at];
        let counts = discordant(group, base);
        let success = success_difference(group, base);
        let sum = |of: fn(&PairedCounts) -> u64| counts.iter().map(of).sum();
        Pair {
            stack: group.stack.clone(),
            baseline: base.stack.clone(),
            stacks_compared: others.len() as u64,
            successes: sum(|task| task.n),
            killed_here: sum(|task| task.only_a),
            killed_there: sum(|task| task.only_b),
            fes_rate: fes_rates[at],
            fes_sign_flip_p: fes_rates[at].comparison.p.map(|_| sign_flip_p(&counts)),
            unit,
            saved_ratio: saved_ratios[at],
            dominance: dominance(&success),
            success,
        }
    };
    parallel::map_range(0..others.len(), pair)
}

/// One family of tests: for each item of `sums`, the difference of two ratios by task, with its p-value adjusted for
/// the size of the family. Tasks must be in the order of `resamples`.
pub fn differences(sums: impl IntoIterator<Item = Vec<PairedSums>>, resamples: &Resamples) -> Vec<Difference> {
    let test = |tasks: Vec<PairedSums>| {
        let test = match RatioDifference::new(&tasks) {
            Some(difference) => difference.into_test(),
            None => SweepTest::default(),
        };
        (ratio_difference(&tasks, LEVEL), test)
    };
    // Keeps only the results: the sums of all comparisons at once would take more memory than the rows.
    let (mut comparisons, mut tests): (Vec<DifferenceEstimate>, Vec<SweepTest>) = sums.into_iter().map(test).unzip();
    // The p-values that are shown are those that are adjusted. One alone needs no such care in its tail.
    if let ([comparison], [test]) = (&comparisons[..], &mut tests[..]) {
        test.p = comparison.p;
    }
    for (comparison, test) in comparisons.iter_mut().zip(&tests) {
        comparison.p = test.p;
    }
    let (adjusted, adjusted_by) = adjust_sweep(&tests, resamples);
    comparisons
        .into_iter()
        .zip(adjusted)
        .map(|(comparison, p_adjusted)| Difference { comparison, p_adjusted, adjusted_by })
        .collect()
}

/// Sums of both groups by task, in task order, over the runs for which `parts` is `Some` in both. The groups must hold
/// the same runs in the same order. Empty if a stack left the recorded path: a value known only within bounds has no
/// difference.
pub fn paired(
    a: &Group<'_>,
    b: &Group<'_>,
    unit: Unit,
    parts: impl Fn(&RunEffect) -> Option<(f64, f64)>,
) -> Vec<PairedSums> {
    let mut tasks: BTreeMap<usize, PairedSums> = BTreeMap::new();
    for (row_a, row_b) in a.rows().zip(b.rows()) {
        // Every task gets an entry, so that all comparisons of a family have the same tasks.
        let task = tasks.entry(row_a.task()).or_default();
        let (effect_a, effect_b) = (RunEffect::from_row(row_a, unit), RunEffect::from_row(row_b, unit));
        if !effect_a.is_judged() || !effect_b.is_judged() {
            continue;
        }
        if effect_a.doubts.diverged || effect_b.doubts.diverged {
            return Vec::new();
        }
        if let (Some(part_a), Some(part_b)) = (parts(&effect_a), parts(&effect_b)) {
            task.a.add(part_a.0, part_a.1);
            task.b.add(part_b.0, part_b.1);
        }
    }
    tasks.into_values().collect()
}

/// Discordant successful runs, by task. Empty if a stack left the recorded path.
fn discordant(a: &Group<'_>, b: &Group<'_>) -> Vec<PairedCounts> {
    let mut tasks: BTreeMap<usize, PairedCounts> = BTreeMap::new();
    for (row_a, row_b) in a.rows().zip(b.rows()) {
        let (effect_a, effect_b) = (RunEffect::from_row(row_a, Unit::Steps), RunEffect::from_row(row_b, Unit::Steps));
        if !effect_a.is_success() || !effect_a.is_judged() || !effect_b.is_judged() {
            continue;
        }
        if effect_a.doubts.diverged || effect_b.doubts.diverged {
            return Vec::new();
        }
        let task = tasks.entry(row_a.task()).or_default();
        task.n += 1;
        task.only_a += u64::from(effect_a.killed.high && !effect_b.killed.high);
        task.only_b += u64::from(!effect_a.killed.high && effect_b.killed.high);
    }
    tasks.into_values().collect()
}

/// Bounds on the difference in success, run by run: 0 where both ended the run at the same point.
fn success_difference(a: &Group<'_>, b: &Group<'_>) -> RangeEstimate {
    let mut tasks: BTreeMap<usize, BoundSums> = BTreeMap::new();
    for (row_a, row_b) in a.rows().zip(b.rows()) {
        let alike = row_a.stop_point() == row_b.stop_point()
            && row_a.action() == row_b.action()
            && [row_a, row_b].iter().all(|row| !row.unknown().diverged && !row.unknown().unread);
        let difference = difference_bounds(interval_of(row_a), interval_of(row_b), alike);
        tasks.entry(row_a.task()).or_default().add(difference, 1.0);
    }
    bound_difference(&tasks.into_values().collect::<Vec<_>>(), LEVEL)
}
