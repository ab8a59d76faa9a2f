//! The stacks of a comparison as candidates for [`decide`].

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::chains::{ChainPlace, KillBound, bounds_together};
use super::ratios::net_benefit;
use super::ship::{Candidate, ShipDecision, ShipTerms, decide, is_open};
use super::task_sums::{by_task, cost_at_worst, killed_of_all, known_share, saved_at_worst};
use super::tasks::Tasks;
use super::{Group, LEVEL, LostSuccess, Over, RunEffect, TaskSums, Unit, corrected_fes_rate};
use crate::parallel;
use crate::stats::estimate::free_ratio_estimate;
use crate::stats::gaffke::{Surpluses, is_bound, upper_bound};
use crate::stats::labels::ErrorRates;
use crate::stats::{ClusterSums, CostSums, error_at, worth_at_cost};

/// What a contest is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Premises {
    /// How labels err; `None` if they are exact.
    pub errors: Option<ErrorRates>,
    /// The unit of the savings.
    pub unit: Unit,
    /// What a lost success costs, if it has a price.
    pub price: Option<LostSuccess>,
    /// The confidence of the bounds on what is killed, inside (0, 1).
    pub confidence: f64,
}

impl Premises {
    /// Exact labels, no price, and a confidence of 95 %.
    pub fn new(unit: Unit) -> Self {
        Self { errors: None, unit, price: None, confidence: LEVEL }
    }

    /// The probability that a stack is certified that kills more than is tolerated.
    fn delta(&self) -> f64 {
        error_at(self.confidence)
    }
}

/// What is known of a stack before it is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Entrant {
    /// The number of frameworks that have a setting for it.
    pub hosts: usize,
    /// The number of its rules.
    pub rules: usize,
    /// Its place among all stacks; one without is a chain of its own.
    pub place: Option<ChainPlace>,
}

/// What is known about the stacks of a comparison, without their rows.
#[derive(Clone, Debug)]
pub struct Rated {
    candidates: Vec<Candidate>,
    places: Vec<ChainPlace>,
    /// How many chains the bounds allow for.
    chains: u64,
    tried: u64,
}

/// All stacks that were tried, if only the best of them are compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole {
    /// How many there are.
    pub stacks: u64,
    /// How many chains of nested stacks they form, each with a weight of 1.
    pub chains: u64,
}

/// The stacks of a comparison, rated once for decisions under any terms.
pub struct Contest<'r> {
    groups: Vec<Group<'r>>,
    premises: Premises,
    rated: Rated,
    /// Which pairs are equal within chance, as far as anybody asked.
    equal: RefCell<BTreeMap<(usize, usize), bool>>,
}

/// A stack that may kill more than is tolerated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refused {
    /// The bound on what it kills, had it been tried alone.
    pub alone: Option<f64>,
    /// The number of further tasks like these that would show it to be safe, as far as they are enough.
    pub tasks_missing: Option<u64>,
}

impl<'r> Contest<'r> {
    /// Rates `groups`, one per stack over the same runs. `entrants` are in their order; what they lack counts as nothing.
    /// The bound on what a stack kills allows for all of them; or for `whole`, if these are the best of more.
    pub fn new(groups: Vec<Group<'r>>, premises: Premises, entrants: &[Entrant], whole: Option<Whole>) -> Self {
        let rate = |at: usize| candidate(&groups[at], premises, entrants.get(at).copied().unwrap_or_default());
        let rated = parallel::map_range(0..groups.len(), rate);
        let (mut candidates, kills): (Vec<Candidate>, Vec<WorstKills<'_, '_>>) = rated.into_iter().unzip();
        let places = places(entrants, groups.len());
        let whole = whole.unwrap_or_default();
        let others = (whole.chains as f64 - n_chains(&places) as f64).max(0.0);
        for (candidate, most) in candidates.iter_mut().zip(bounds_together(&kills, &places, others, premises.delta())) {
            candidate.killed_at_most = most;
        }
        drop(kills);
        let acted = candidates.iter().filter(|candidate| candidate.acted).count() as u64;
        let chains = whole.chains.max(n_chains(&places));
        let rated = Rated { candidates, places, chains, tried: whole.stacks.max(acted) };
        Self::from_rated(groups, premises, rated)
    }

    /// The same stacks again.
    pub fn from_rated(groups: Vec<Group<'r>>, premises: Premises, rated: Rated) -> Self {
        Self { groups, premises, rated, equal: RefCell::default() }
    }

    /// What is known about the stacks.
    pub fn into_rated(self) -> Rated {
        self.rated
    }

    /// The same for stacks that were chosen on other tasks: the bounds allow for one stack.
    #[must_use]
    pub fn chosen_elsewhere(mut self) -> Self {
        for (candidate, group) in self.rated.candidates.iter_mut().zip(&self.groups) {
            candidate.killed_at_most =
                WorstKills::from_group(group, self.premises.errors).at_most(self.premises.delta());
        }
        self.rated.tried = 1;
        self.rated.chains = 1;
        self
    }

    /// The confidence of the bounds.
    pub fn confidence(&self) -> f64 {
        self.premises.confidence
    }

    /// How many stacks were tried.
    pub fn tried(&self) -> u64 {
        self.rated.tried
    }

    /// How many chains of nested stacks the bounds allow for.
    pub fn chains(&self) -> u64 {
        self.rated.chains
    }

    /// What a stack lacks that may kill more than `max_killed`.
    pub fn refused(&self, at: usize, max_killed: f64) -> Refused {
        let nothing = Refused { alone: None, tasks_missing: None };
        let (Some(group), Some(place)) = (self.groups.get(at), self.rated.places.get(at)) else { return nothing };
        let kills = WorstKills::from_group(group, self.premises.errors);
        let delta = self.premises.delta();
        let mut weights: BTreeMap<usize, f64> = BTreeMap::new();
        weights.extend(self.rated.places.iter().map(|place| (place.chain, place.weight)));
        let share = if self.rated.tried < 2 { 1.0 } else { place.weight / weights.values().sum::<f64>() };
        Refused { alone: kills.at_most(delta), tasks_missing: kills.tasks_missing(max_killed, delta * share) }
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
            let equal = match (self.groups.get(a), self.groups.get(b)) {
                (Some(a), Some(b)) => is_equal(a, b, self.premises.unit, self.premises.price),
                _ => false,
            };
            self.equal.borrow_mut().insert((a, b), equal);
            equal
        })
    }
}

fn n_chains(places: &[ChainPlace]) -> u64 {
    let chains: BTreeSet<usize> = places.iter().map(|place| place.chain).collect();
    chains.len() as u64
}

fn has_acted(group: &Group<'_>) -> bool {
    group.rows().any(|row| row.is_stop() || row.unknown().diverged)
}

/// The places of `n` stacks; one without is a chain of its own.
fn places(entrants: &[Entrant], n: usize) -> Vec<ChainPlace> {
    let place = |at: usize| entrants.get(at)?.place;
    let named = (0..n).filter_map(|at| Some(place(at)?.chain + 1)).max().unwrap_or(0);
    (0..n).map(|at| place(at).unwrap_or(ChainPlace { chain: named + at, place: 0, weight: 1.0 })).collect()
}

/// A stack as a candidate, but for its bound, and what it kills.
fn candidate<'g, 'r>(group: &'g Group<'r>, premises: Premises, entrant: Entrant) -> (Candidate, WorstKills<'g, 'r>) {
    let Premises { errors, unit, price, .. } = premises;
    let tasks = Tasks::from_group(group);
    let sums = by_task(group, &tasks, unit, Over::All);
    let sums: Vec<&TaskSums> = sums.iter().collect();
    let kills = WorstKills::new(group, &sums, errors);
    let (killed, of_all) = match errors {
        None => (kills.mean(), killed_of_all(&sums).high.value()),
        Some(errors) => {
            let corrected = corrected_fes_rate(group, errors, LEVEL).estimate.value;
            (corrected, corrected)
        }
    };
    let candidate = Candidate {
        acted: has_acted(group),
        known: known_share(&sums),
        killed_at_most: None,
        killed,
        killed_of_all: of_all,
        saved: saved_at_worst(&sums),
        cost: cost_at_worst(&sums),
        worth: price.map(|price| net_benefit(group, &tasks, price.unit, price.costs, LEVEL).low),
        hosts: entrant.hosts,
        rules: entrant.rules,
    };
    (candidate, kills)
}

/// What a stack kills, every unknown at its worst, so that what nobody knows is never in its favour.
enum WorstKills<'g, 'r> {
    /// The share of each task's successes.
    ByTask(Vec<f64>),
    /// Where the labels have errors, only the share of all successes can be told.
    Labelled(&'g Group<'r>, ErrorRates),
}

impl<'g, 'r> WorstKills<'g, 'r> {
    fn new(group: &'g Group<'r>, sums: &[&TaskSums], errors: Option<ErrorRates>) -> Self {
        match errors {
            Some(errors) => Self::Labelled(group, errors),
            None => Self::ByTask(sums.iter().filter_map(|task| task.killed_rate()).collect()),
        }
    }

    fn from_group(group: &'g Group<'r>, errors: Option<ErrorRates>) -> Self {
        let sums = by_task(group, &Tasks::from_group(group), Unit::Steps, Over::All);
        Self::new(group, &sums.iter().collect::<Vec<_>>(), errors)
    }

    fn mean(&self) -> Option<f64> {
        match self {
            Self::ByTask(losses) if !losses.is_empty() => Some(losses.iter().sum::<f64>() / losses.len() as f64),
            _ => None,
        }
    }

    /// The number of further tasks like these with which the bound would be at most `max_killed`.
    fn tasks_missing(&self, max_killed: f64, delta: f64) -> Option<u64> {
        let Self::ByTask(losses) = self else { return None };
        let all = Surpluses::from_losses(losses.iter().copied(), max_killed).tasks_at_this_rate(delta)?;
        Some(all.saturating_sub(losses.len() as u64).max(1))
    }
}

impl KillBound for WorstKills<'_, '_> {
    fn at_most(&self, delta: f64) -> Option<f64> {
        match self {
            Self::ByTask(losses) if losses.is_empty() => None,
            Self::ByTask(losses) => Some(upper_bound(losses, delta)),
            Self::Labelled(group, errors) => corrected_fes_rate(group, *errors, 1.0 - delta).estimate.high(),
        }
    }

    fn is_at_most(&self, share: f64, delta: f64) -> bool {
        match self {
            Self::ByTask(losses) => is_bound(losses, share, delta),
            Self::Labelled(..) => matches!(self.at_most(delta), Some(most) if most <= share),
        }
    }
}

/// Whether the data leave open which of two stacks makes successes cheaper, or is worth more at a price: a comparison
/// paired by run, over the runs both could be judged on, clustered by task.
fn is_equal(a: &Group<'_>, b: &Group<'_>, unit: Unit, price: Option<LostSuccess>) -> bool {
    let tasks = Tasks::from_group(a);
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
    is_open(&worth_at_cost(&costs, LEVEL), 0.0)
}

fn most_spent(effect: &RunEffect) -> Option<f64> {
    effect.spending?.most_spent
}

#[cfg(test)]
mod tests;
