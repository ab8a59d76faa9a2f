//! The stacks of a comparison as candidates for [`decide`].

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher as _;

use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3Default;

use super::ratios::net_benefit;
use super::ship::{Candidate, ShipDecision, ShipTerms, decide, is_open};
use super::task_sums::{by_task, cost_at_worst, known_share, saved_at_worst};
use super::tasks::Tasks;
use super::{Group, LEVEL, LostSuccess, Over, RunEffect, TaskSums, Unit, corrected_fes_rate};
use crate::stats::estimate::free_ratio_estimate;
use crate::stats::label_certificate::ErrorRates;
use crate::stats::{ClusterSums, CostSums, cost_estimate, ratio_estimate};

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
            let sums = by_task(group, &Tasks::of(group), Unit::Steps, Over::All);
            let sums: Vec<&TaskSums> = sums.iter().collect();
            candidate.killed_at_most = killed_of(group, &sums, errors, LEVEL).0;
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
    let sums = by_task(group, &tasks, unit, Over::All);
    let sums: Vec<&TaskSums> = sums.iter().collect();
    let (killed_at_most, killed) = killed_of(group, &sums, errors, level);
    Candidate {
        acted: has_acted(group),
        known: known_share(&sums),
        killed_at_most,
        killed,
        saved: saved_at_worst(&sums),
        cost: cost_at_worst(&sums),
        worth: price.map(|price| net_benefit(group, &tasks, price.unit, price.costs, LEVEL).low),
        hosts: ease.hosts,
        rules: ease.rules,
    }
}

/// The end of the bound on the killed share, at `level`, and the share as counted: both with every unknown at its worst,
/// so that what nobody knows is never in a stack's favour.
fn killed_of(
    group: &Group<'_>,
    tasks: &[&TaskSums],
    errors: Option<ErrorRates>,
    level: f64,
) -> (Option<f64>, Option<f64>) {
    if let Some(errors) = errors {
        let corrected = corrected_fes_rate(group, errors, level).estimate;
        return (corrected.high(), corrected.value);
    }
    let killed: Vec<ClusterSums> = tasks.iter().map(|task| task.killed.high.sums()).collect();
    let rate = ratio_estimate(&killed, level);
    (rate.high(), rate.value)
}

/// Whether the data leave open which of two stacks makes successes cheaper, or is worth more at a price: a comparison
/// paired by run, over the runs both could be judged on, clustered by task.
fn is_equal(a: &Group<'_>, b: &Group<'_>, unit: Unit, price: Option<LostSuccess>) -> bool {
    let tasks = Tasks::of(a);
    let unit = price.map_or(unit, |price| price.unit);
    let mut worths = vec![ClusterSums::default(); tasks.len()];
    let mut costs = vec![CostSums::default(); tasks.len()];
    for ((row_a, row_b), task) in a.rows().zip(b.rows()).zip(tasks.places()) {
        let (a, b) = (RunEffect::from_row(row_a, unit), RunEffect::from_row(row_b, unit));
        let (Some(spent_a), Some(spent_b)) = (most_spent(&a), most_spent(&b)) else { continue };
        if !a.is_judged() || !b.is_judged() {
            continue;
        }
        if let Some(price) = price {
            let lost = f64::from(u8::from(a.killed.high)) - f64::from(u8::from(b.killed.high));
            worths[task].add(spent_b - spent_a - price.costs * lost, 1.0);
        } else {
            costs[task].add_pair((spent_a, a.kept.low), (spent_b, b.kept.low));
        }
    }
    if price.is_some() {
        return is_open(&free_ratio_estimate(&worths, LEVEL), 0.0);
    }
    costs.retain(|task| task.n > 0);
    is_open(&cost_estimate(&costs, LEVEL), 1.0)
}

fn most_spent(effect: &RunEffect) -> Option<f64> {
    effect.spending?.most_spent
}

#[cfg(test)]
mod tests;
