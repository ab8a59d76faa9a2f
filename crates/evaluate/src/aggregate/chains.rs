//! The bound on what a stack kills, as one of many that are tried.
//!
//! Stacks that are nested by their definitions form a chain, from cautious to bold. Each chain has a share of the 5 %; the
//! stack at its head is certified at a tolerance if its p-value there is at most the chain's share, and then the next one is
//! asked. A chain whose stacks are all certified leaves its share to the others (Holm's method on chains). The order comes
//! from the definitions and never from the data, so the first false stack of a chain is fixed beforehand: at the first false
//! certification no chain with a false stack has ended, and the shares of such chains sum to at most the 5 %.
//!
//! A stack's bound is the least tolerance at which it is certified. At a tolerance that was chosen beforehand all stacks
//! certified are below it together, in at least 95 % of all samples. Of the bounds themselves no more is promised.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::stack::{Stack, StopClauses};

/// The place of a stack among all that are tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChainPlace {
    /// The number of its chain.
    pub chain: usize,
    /// Its place in the chain, from cautious to bold.
    pub place: usize,
    /// The weight of the chain: its share of the error against those of the others.
    pub weight: f64,
}

/// A stack that is tried.
#[derive(Clone, Copy, Debug)]
pub struct Tried<'s> {
    /// Its definition; `None` for a program, of which nothing is known.
    pub definition: Option<&'s Stack>,
    /// What it came with, such as a file. Each source has the same weight in all, however many stacks it holds.
    pub source: usize,
}

/// The places of these stacks, in their order: each joins the first chain whose boldest stack it is bolder than.
pub fn chain_places(stacks: &[Tried<'_>]) -> Vec<ChainPlace> {
    let clauses: Vec<Option<StopClauses>> =
        stacks.iter().map(|stack| stack.definition.and_then(StopClauses::from_stack)).collect();
    let mut chains: Vec<Vec<usize>> = Vec::new();
    for at in from_cautious(&clauses) {
        let follows = |chain: &&mut Vec<usize>| chain.last().is_some_and(|last| is_within(&clauses, *last, at));
        match chains.iter_mut().find(follows) {
            Some(chain) => chain.push(at),
            None => chains.push(vec![at]),
        }
    }
    let weights = weights(stacks, &chains);
    let mut places = vec![ChainPlace { chain: 0, place: 0, weight: 1.0 }; stacks.len()];
    for (nth, (chain, weight)) in chains.iter().zip(weights).enumerate() {
        for (place, at) in chain.iter().enumerate() {
            places[*at] = ChainPlace { chain: nth, place, weight };
        }
    }
    places
}

fn is_within(stacks: &[Option<StopClauses>], cautious: usize, bolder: usize) -> bool {
    match (&stacks[cautious], &stacks[bolder]) {
        (Some(cautious), Some(bolder)) => cautious.is_within(bolder),
        _ => false,
    }
}

/// The stacks in an order in which a bolder one never stands before a more cautious one; else as they are given.
fn from_cautious(stacks: &[Option<StopClauses>]) -> Vec<usize> {
    let n_more_cautious = |at: &usize| {
        let is_more_cautious =
            |other: &usize| other != at && is_within(stacks, *other, *at) && !is_within(stacks, *at, *other);
        (0..stacks.len()).filter(is_more_cautious).count()
    };
    let mut order: Vec<usize> = (0..stacks.len()).collect();
    order.sort_by_cached_key(n_more_cautious);
    order
}

/// The weight of each chain: every source gives the same in all, divided equally among the chains it has a stack in.
fn weights(stacks: &[Tried<'_>], chains: &[Vec<usize>]) -> Vec<f64> {
    let mut chains_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (nth, chain) in chains.iter().enumerate() {
        for at in chain {
            let of_source = chains_of.entry(stacks[*at].source).or_default();
            if of_source.last() != Some(&nth) {
                of_source.push(nth);
            }
        }
    }
    let mut weights = vec![0.0; chains.len()];
    for of_source in chains_of.values() {
        for nth in of_source {
            weights[*nth] += 1.0 / of_source.len() as f64;
        }
    }
    weights
}

/// A bound on what one stack kills, at any probability of error.
pub trait KillBound {
    /// The upper bound that is wrong with a probability of at most `delta`; `None` if nothing is known. It never falls as
    /// `delta` does.
    fn at_most(&self, delta: f64) -> Option<f64>;

    /// Whether that bound is at most `share`: cheaper than to compute it.
    fn is_at_most(&self, share: f64, delta: f64) -> bool {
        matches!(self.at_most(delta), Some(most) if most <= share)
    }
}

/// A chain on its way to its boldest stack.
struct Chain {
    /// Indices of stacks, from cautious to bold.
    stacks: Vec<usize>,
    next: usize,
    weight: f64,
    /// The bound of the next stack with this share of the error.
    known: Option<(f64, f64)>,
}

/// The bound of each stack as one of all that are tried, `delta` being the probability of error of the whole. `others`: the
/// weight of stacks that were tried, too, and are not among these.
pub fn bounds_together<B: KillBound>(stacks: &[B], places: &[ChainPlace], others: f64, delta: f64) -> Vec<Option<f64>> {
    let mut bounds = vec![None; stacks.len()];
    let mut chains = chains(places);
    let mut reached = 0.0_f64;
    loop {
        let weight: f64 = others + chains.iter().map(|chain| chain.weight).sum::<f64>();
        let Some((nth, bound)) = least(&mut chains, stacks, delta / weight) else { return bounds };
        let chain = &mut chains[nth];
        reached = reached.max(bound);
        bounds[chain.stacks[chain.next]] = Some(reached);
        chain.next += 1;
        chain.known = None;
        if chain.next == chain.stacks.len() {
            chains.remove(nth);
        }
    }
}

fn chains(places: &[ChainPlace]) -> Vec<Chain> {
    let mut stacks: Vec<usize> = (0..places.len()).collect();
    stacks.sort_by_key(|at| (places[*at].chain, places[*at].place));
    let mut chains: Vec<Chain> = Vec::new();
    for at in stacks {
        match chains.last_mut() {
            Some(chain) if places[chain.stacks[0]].chain == places[at].chain => chain.stacks.push(at),
            _ => chains.push(Chain { stacks: vec![at], next: 0, weight: places[at].weight, known: None }),
        }
    }
    chains
}

/// The chain whose next stack has the least bound, and that bound; `None` if nothing is known of any. `each`: the
/// probability of error for a weight of 1.
fn least<B: KillBound>(chains: &mut [Chain], stacks: &[B], each: f64) -> Option<(usize, f64)> {
    let mut least: Option<(usize, f64)> = None;
    for (nth, chain) in chains.iter_mut().enumerate() {
        let (stack, delta) = (&stacks[chain.stacks[chain.next]], each * chain.weight);
        let known = chain.known.filter(|(of, _)| of.to_bits() == delta.to_bits()).map(|(_, bound)| bound);
        if known.is_none() && least.is_some_and(|(_, least)| !stack.is_at_most(least, delta)) {
            continue;
        }
        let Some(bound) = known.or_else(|| stack.at_most(delta)) else { continue };
        chain.known = Some((delta, bound));
        if least.is_none_or(|(_, least)| bound < least) {
            least = Some((nth, bound));
        }
    }
    least
}

#[cfg(test)]
mod tests;
