//! The stacks of a comparison as candidates for [`decide`].

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher as _;

use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3Default;

use super::estimates::sums_over;
use super::ratios::{kept, net_benefit, useful_range};
use super::ship::{Candidate, ShipDecision, ShipTerms, decide, is_open};
use super::tasks::Tasks;
use super::{Group, LEVEL, LostSuccess, RowView, Unit, corrected_fes_rate};
use crate::stats::estimate::free_ratio_estimate;
use crate::stats::label_certificate::ErrorRates;
use crate::stats::{ClusterSums, CostSums, Estimate, cost_estimate, ratio_estimate};
use crate::transcript::Outcome;

/// What decides between stacks that are equal within chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ease {
    /// The number of frameworks that have a setting for it.
    pub hosts: usize,
    /// The number of its rules.
    pub rules: usize,
}

/// What is known about the stacks of a comparison, without their rows.
#[derive(Clone, Debug)]
pub struct Rated {
    candidates: Vec<Candidate>,
    tried: u64,
}

/// The stacks of a comparison, rated once for decisions under any terms.
pub struct Contest<'r> {
    groups: Vec<Group<'r>>,
    unit: Unit,
    price: Option<LostSuccess>,
    rated: Rated,
    /// Which pairs are equal within chance, as far as anybody asked.
    equal: RefCell<BTreeMap<(usize, usize), bool>>,
}

impl<'r> Contest<'r> {
    /// Rates `groups`, one per stack over the same runs. `ease` is in their order; what it lacks counts as nothing.
    /// The bound on what a stack kills allows for all stacks tried, counting those that kill the same runs once; or
    /// for `tried`, if these are the best of more.
    pub fn of(
        groups: Vec<Group<'r>>,
        errors: Option<ErrorRates>,
        unit: Unit,
        price: Option<LostSuccess>,
        ease: &[Ease],
        tried: Option<u64>,
    ) -> Self {
        let acted = groups.iter().filter(|group| has_acted(group));
        let distinct = acted.map(kill_column).collect::<BTreeSet<u64>>().len() as u64;
        let tried = tried.unwrap_or(0).max(distinct).max(1);
        let level = 1.0 - (1.0 - LEVEL) / tried as f64;
        let rate = |(at, group): (usize, &Group<'_>)| {
            candidate(group, errors, unit, price, level, ease.get(at).copied().unwrap_or_default())
        };
        let candidates = groups.par_iter().enumerate().map(rate).collect();
        Self::rated(groups, unit, price, Rated { candidates, tried })
    }

    /// The same stacks again.
    pub fn rated(groups: Vec<Group<'r>>, unit: Unit, price: Option<LostSuccess>, rated: Rated) -> Self {
        Self { groups, unit, price, rated, equal: RefCell::default() }
    }

    /// What is known about the stacks.
    pub fn into_rated(self) -> Rated {
        self.rated
    }

    /// The same for stacks that were chosen on other tasks: the bounds allow for one stack.
    #[must_use]
    pub fn chosen_elsewhere(mut self, errors: Option<ErrorRates>) -> Self {
        for (candidate, group) in self.rated.candidates.iter_mut().zip(&self.groups) {
            candidate.killed_at_most = killed_of(group, &Tasks::of(group), errors, LEVEL).0;
        }
        self.rated.tried = 1;
        self
    }

    /// How many stacks were tried that kill different runs: the bounds hold for all of them at once.
    pub fn tried(&self) -> u64 {
        self.rated.tried
    }

    /// The stacks, in the order given.
    pub fn groups(&self) -> &[Group<'r>] {
        &self.groups
    }

    /// The candidates, in the order of the stacks.
    pub fn candidates(&self) -> &[Candidate] {
        &self.rated.candidates
    }

    /// Which stack to ship.
    pub fn decide(&self, terms: ShipTerms) -> ShipDecision {
        decide(&self.rated.candidates, terms, |a, b| self.are_equal(a, b))
    }

    fn are_equal(&self, a: usize, b: usize) -> bool {
        let known = self.equal.borrow().get(&(a, b)).copied();
        known.unwrap_or_else(|| {
            let pair = self.groups.get(a).zip(self.groups.get(b));
            let equal = pair.is_some_and(|(a, b)| is_equal(a, b, self.unit, self.price));
            self.equal.borrow_mut().insert((a, b), equal);
            equal
        })
    }
}

fn has_acted(group: &Group<'_>) -> bool {
    group.rows().any(|row| row.is_stop() || row.unknown().diverged)
}

/// A hash of the runs whose success a stack kills, or stops where labels may be wrong.
fn kill_column(group: &Group<'_>) -> u64 {
    let mut hasher = Xxh3Default::new();
    for (at, row) in group.rows().enumerate().filter(|(_, row)| row.killed_high() == 1) {
        hasher.write_usize(at);
        hasher.write_u8(u8::from(row.is_judged()));
    }
    hasher.finish()
}

fn candidate(
    group: &Group<'_>,
    errors: Option<ErrorRates>,
    unit: Unit,
    price: Option<LostSuccess>,
    level: f64,
    ease: Ease,
) -> Candidate {
    let tasks = Tasks::of(group);
    let share = |of: &dyn Fn(RowView<'_>) -> bool| {
        group.rows().filter(|row| of(*row)).count() as f64 / group.len().max(1) as f64
    };
    let known = share(&|row| row.unknown().is_none()).min(share(&|row| unit.recorded(row).is_some()));
    let (killed_at_most, killed) = killed_of(group, &tasks, errors, level);
    Candidate {
        acted: has_acted(group),
        known,
        killed_at_most,
        killed,
        saved: saved_at_worst(group, &tasks, unit),
        cost: cost_at_worst(group, &tasks, unit),
        worth: price.map(|price| net_benefit(group, &tasks, price.unit, price.costs, LEVEL).low),
        hosts: ease.hosts,
        rules: ease.rules,
    }
}

/// The end of the bound on the killed share, at `level`, and the share as counted: both with every unknown at its worst,
/// so that what nobody knows is never in a stack's favour.
fn killed_of(group: &Group<'_>, tasks: &Tasks, errors: Option<ErrorRates>, level: f64) -> (Option<f64>, Option<f64>) {
    if let Some(errors) = errors {
        let corrected = corrected_fes_rate(group, errors, level).estimate;
        return (corrected.high(), corrected.value);
    }
    let rate = ratio_estimate(&sums_over(group, tasks, killed_at_worst), level);
    (rate.high(), rate.value)
}

/// Killed over successes, over all runs: an ungraded run that may have been killed is a success.
fn killed_at_worst(row: RowView<'_>) -> Option<(f64, f64)> {
    match row.outcome() {
        Outcome::Success => Some((f64::from(row.killed_high()), 1.0)),
        Outcome::Failure => None,
        Outcome::Unknown => (row.killed_high() == 1).then_some((1.0, 1.0)),
    }
}

/// The useful saving over all runs that record `unit`: a run that cannot be judged saves nothing, or costs more.
/// Undefined if nothing limits what the stack may cost.
fn saved_at_worst(group: &Group<'_>, tasks: &Tasks, unit: Unit) -> Estimate {
    // The outer option: whether the run counts. The inner: whether its cost is limited.
    let least = |row: RowView<'_>| -> Option<Option<f64>> {
        let (low, _) = unit.saved_range(row)?;
        Some(if row.is_judged() { useful_range(row, unit)?.0 } else { low.map(|low| low.min(0.0)) })
    };
    if group.rows().any(|row| least(row) == Some(None)) {
        return Estimate::UNDEFINED;
    }
    let parts = |row: RowView<'_>| Some((least(row)??, unit.recorded(row)?));
    ratio_estimate(&sums_over(group, tasks, parts), LEVEL)
}

/// The cost of a success against no stopping, over all runs that record `unit`, at its highest. Undefined if nothing
/// limits what the stack may cost.
fn cost_at_worst(group: &Group<'_>, tasks: &Tasks, unit: Unit) -> Estimate {
    if group.rows().any(|row| unit.spent_range(row).is_some_and(|(_, most)| most.is_none())) {
        return Estimate::UNDEFINED;
    }
    cost_estimate(
        &tasks.sums(group, |row| cost_parts(row, unit), |sums: &mut CostSums, part| *sums = sums.plus(&part)),
        LEVEL,
    )
}

/// What one run contributes to the cost of a success, at its highest: an ungraded run that may have been killed is a
/// success. `None` if it does not record `unit`, or nothing limits what it may cost.
pub(super) fn cost_parts(row: RowView<'_>, unit: Unit) -> Option<CostSums> {
    let (successes_with, successes_without) = match row.outcome() {
        Outcome::Success => (kept(row).0, 1.0),
        Outcome::Failure => (kept(row).0, 0.0),
        Outcome::Unknown => (0.0, f64::from(row.killed_high())),
    };
    let spent_with = unit.spent_range(row)?.1?;
    Some(CostSums { spent_with, successes_with, spent_without: unit.recorded(row)?, successes_without, n: 1 })
}

/// Whether the data leave open which of two stacks makes successes cheaper, or is worth more at a price: a comparison
/// paired by run, over the runs both could be judged on, clustered by task.
fn is_equal(a: &Group<'_>, b: &Group<'_>, unit: Unit, price: Option<LostSuccess>) -> bool {
    let tasks = Tasks::of(a);
    let judged = a.rows().zip(b.rows()).zip(tasks.places()).filter(|((a, b), _)| a.is_judged() && b.is_judged());
    if let Some(price) = price {
        let worth = |row: RowView<'_>| {
            let (low, _) = price.unit.saved_range(row)?;
            Some(low? - price.costs * f64::from(row.killed_high()))
        };
        let mut sums = vec![ClusterSums::default(); tasks.len()];
        for ((a, b), place) in judged {
            if let (Some(a), Some(b)) = (worth(a), worth(b)) {
                sums[place].add(a - b, 1.0);
            }
        }
        return is_open(&free_ratio_estimate(&sums, LEVEL), 0.0);
    }
    let cost = |row: RowView<'_>| Some((unit.spent_range(row)?.1?, kept(row).0));
    let mut sums = vec![CostSums::default(); tasks.len()];
    for ((a, b), place) in judged {
        if let (Some((spent_with, successes_with)), Some((spent_without, successes_without))) = (cost(a), cost(b)) {
            sums[place] =
                sums[place].plus(&CostSums { spent_with, successes_with, spent_without, successes_without, n: 1 });
        }
    }
    sums.retain(|task| task.n > 0);
    is_open(&cost_estimate(&sums, LEVEL), 1.0)
}

#[cfg(test)]
mod tests;
