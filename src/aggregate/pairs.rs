//! Every stack against a baseline, on the same runs.

use std::collections::BTreeMap;

use super::outcomes::interval_of;
use super::{Group, LEVEL, Label, Row, Unit};
use crate::stats::bootstrap::REPLICATES;
use crate::stats::bounds::{Dominance, difference_bounds, dominance};
use crate::stats::difference::RatioDifference;
use crate::stats::paired::sign_flip;
use crate::stats::{
    Adjustment, BoundEstimate, BoundSums, Comparison, PairedCounts, PairedSums, PairedTest, Resamples, SweepTest,
    adjust_sweep, bound_difference, cluster_key, paired_test,
};
use crate::transcript::Outcome;
use crate::verdict::Verdict;

/// Seed of the resamples; part of every result that used them.
pub const SEED: u64 = 20_260_101;

/// One stack against the baseline.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The stack.
    pub stack: Label,
    /// The baseline.
    pub baseline: Label,
    /// Successful runs compared.
    pub successes: u64,
    /// Successes killed by the stack only.
    pub killed_here: u64,
    /// Successes killed by the baseline only.
    pub killed_there: u64,
    /// Rate of false early stops, stack minus baseline.
    pub fes_rate: Comparison,
    /// The test on the successes only one of the two killed.
    pub fes_test: PairedTest,
    /// Its p-value adjusted for the number of stacks compared.
    pub fes_p_adjusted: Option<f64>,
    /// How it was adjusted.
    pub adjusted_by: Adjustment,
    /// P-value of the sign-flip check over tasks; `None` where the test has none.
    pub fes_sign_flip_p: Option<f64>,
    /// The unit of the saving.
    pub unit: Unit,
    /// Saved on failures and after success over recorded, stack minus baseline.
    pub saved_ratio: Comparison,
    /// Bounds on the difference in success, stack minus baseline; 0 where both acted alike.
    pub success: BoundEstimate,
    /// Is the stack better whatever the unknown outcomes were?
    pub dominance: Dominance,
}

/// Compares every group with the one named `baseline`; all groups hold the same runs in the same order.
/// An empty list when there is no such group.
pub fn pairs(groups: &[Group<'_>], baseline: &str, unit: Unit) -> Vec<Pair> {
    let Some(base) = groups.iter().find(|group| &*group.stack == baseline) else { return Vec::new() };
    let others: Vec<&Group<'_>> = groups.iter().filter(|group| group.stack != base.stack).collect();
    let clusters: std::collections::BTreeSet<(&str, &str)> = base.rows.iter().map(|row| row.cluster()).collect();
    let keys: Vec<u64> = clusters.iter().map(|(suite, task)| cluster_key(&format!("{suite}\u{0}{task}"))).collect();
    let mut pairs: Vec<Pair> = others.iter().map(|group| pair(group, base, unit)).collect();
    let contrasts = others.iter().map(|group| RatioDifference::new(&paired(group, base, fes_parts)));
    let tests: Vec<SweepTest> = pairs
        .iter()
        .zip(contrasts)
        .map(|(pair, difference)| SweepTest {
            p: pair.fes_test.p,
            contrast: difference.map(RatioDifference::into_contrast),
        })
        .collect();
    let (adjusted, method) = adjust_sweep(&tests, &Resamples::new(&keys, REPLICATES, SEED));
    for (pair, p_adjusted) in pairs.iter_mut().zip(adjusted) {
        pair.fes_p_adjusted = p_adjusted;
        pair.adjusted_by = method;
    }
    pairs
}

fn pair(group: &Group<'_>, base: &Group<'_>, unit: Unit) -> Pair {
    let counts = discordant(group, base);
    let test = paired_test(&counts);
    let fes = paired(group, base, fes_parts);
    let per_task: Vec<f64> = counts.iter().map(|task| task.only_a as f64 - task.only_b as f64).collect();
    let success = success_difference(group, base);
    Pair {
        stack: group.stack.clone(),
        baseline: base.stack.clone(),
        successes: counts.iter().map(|task| task.n).sum(),
        killed_here: counts.iter().map(|task| task.only_a).sum(),
        killed_there: counts.iter().map(|task| task.only_b).sum(),
        fes_rate: crate::stats::ratio_difference(&fes, LEVEL),
        fes_test: test,
        fes_p_adjusted: None,
        adjusted_by: Adjustment::None,
        fes_sign_flip_p: test.p.map(|_| sign_flip(&per_task, SEED)),
        unit,
        saved_ratio: crate::stats::ratio_difference(&paired(group, base, |row| useful_parts(row, unit)), LEVEL),
        dominance: dominance(&success),
        success,
    }
}

/// Numerator and denominator of the rate of false early stops; `None` for a run that is no success.
pub fn fes_parts(row: &Row) -> Option<(f64, f64)> {
    (row.outcome == Outcome::Success).then(|| (f64::from(u8::from(row.verdict.is_fes())), 1.0))
}

/// Numerator and denominator of the useful saving: what was saved on failures and after success, over what was
/// recorded; `None` when the recording does not tell.
pub fn useful_parts(row: &Row, unit: Unit) -> Option<(f64, f64)> {
    let useful = matches!(row.verdict, Verdict::GoodTrim | Verdict::TrueStop | Verdict::Rescued);
    let saved = unit.saved(row)?;
    Some((if useful { saved } else { 0.0 }, unit.recorded(row)?))
}

/// Sums of both groups by task, in task order.
fn paired(a: &Group<'_>, b: &Group<'_>, parts: impl Fn(&Row) -> Option<(f64, f64)>) -> Vec<PairedSums> {
    let mut tasks: BTreeMap<(&str, &str), PairedSums> = BTreeMap::new();
    for (row_a, row_b) in a.rows.iter().zip(&b.rows) {
        let task = tasks.entry(row_a.cluster()).or_default();
        if let Some((numerator, denominator)) = parts(row_a) {
            task.a.add(numerator, denominator);
        }
        if let Some((numerator, denominator)) = parts(row_b) {
            task.b.add(numerator, denominator);
        }
    }
    tasks.into_values().collect()
}

/// Successful runs treated differently, by task.
fn discordant(a: &Group<'_>, b: &Group<'_>) -> Vec<PairedCounts> {
    let mut tasks: BTreeMap<(&str, &str), PairedCounts> = BTreeMap::new();
    for (row_a, row_b) in a.rows.iter().zip(&b.rows).filter(|(row, _)| row.outcome == Outcome::Success) {
        let task = tasks.entry(row_a.cluster()).or_default();
        task.n += 1;
        task.only_a += u64::from(row_a.verdict.is_fes() && !row_b.verdict.is_fes());
        task.only_b += u64::from(!row_a.verdict.is_fes() && row_b.verdict.is_fes());
    }
    tasks.into_values().collect()
}

/// Bounds on the difference in success, run by run: 0 where both ended the run at the same point.
fn success_difference(a: &Group<'_>, b: &Group<'_>) -> BoundEstimate {
    let mut tasks: BTreeMap<(&str, &str), BoundSums> = BTreeMap::new();
    for (row_a, row_b) in a.rows.iter().zip(&b.rows) {
        let alike = row_a.stop_point == row_b.stop_point
            && row_a.action == row_b.action
            && row_a.diverged_at.is_none()
            && row_b.diverged_at.is_none();
        let difference = difference_bounds(interval_of(row_a), interval_of(row_b), alike);
        tasks.entry(row_a.cluster()).or_default().add(difference, 1.0);
    }
    bound_difference(&tasks.into_values().collect::<Vec<_>>(), LEVEL)
}
