//! The bounds of many stacks, held against the procedure they invert.

use proptest::prelude::*;

use super::*;
use crate::stack::StackFile;
use crate::stats::gaffke::{Surpluses, is_bound, upper_bound};

const DELTA: f64 = 0.05;

/// The share of its successes that each task loses.
#[derive(Debug, Clone)]
struct Losses(Vec<f64>);

impl KillBound for Losses {
    fn at_most(&self, delta: f64) -> Option<f64> {
        (!self.0.is_empty()).then(|| upper_bound(&self.0, delta))
    }

    fn is_at_most(&self, share: f64, delta: f64) -> bool {
        is_bound(&self.0, share, delta)
    }
}

fn tasks(clean: usize, killed: &[f64]) -> Losses {
    Losses([vec![0.0; clean], killed.to_vec()].concat())
}

fn alone(nth: usize) -> ChainPlace {
    ChainPlace { chain: nth, place: 0, weight: 1.0 }
}

/// The procedure as it is described: certifies at one tolerance, chain by chain.
fn certified(stacks: &[Losses], places: &[ChainPlace], tolerance: f64) -> Vec<bool> {
    let mut certified = vec![false; stacks.len()];
    loop {
        let next = |chain: usize| {
            let open = (0..stacks.len()).filter(|at| places[*at].chain == chain && !certified[*at]);
            open.min_by_key(|at| places[*at].place)
        };
        let chains: std::collections::BTreeSet<usize> = places.iter().map(|place| place.chain).collect();
        let open: Vec<usize> = chains.into_iter().filter_map(next).collect();
        let weight: f64 = open.iter().map(|at| places[*at].weight).sum();
        let passes = |at: &&usize| {
            let p = Surpluses::from_losses(stacks[**at].0.iter().copied(), tolerance).gaffke();
            p <= DELTA * places[**at].weight / weight
        };
        match open.iter().find(passes) {
            Some(at) => certified[*at] = true,
            None => return certified,
        }
    }
}

#[test]
fn sixty_four_tasks_of_four_successes_have_the_bounds_of_the_binomial_and_gaffke() {
    let bounds = (0..6_u32).map(|kills| {
        let killed = vec![0.25; kills as usize];
        bounds_together(&[tasks(64 - killed.len(), &killed)], &[alone(0)], 0.0, DELTA)[0].unwrap()
    });
    for (bound, expected) in bounds.zip([4.573, 5.001, 5.427, 5.851, 6.273, 6.693]) {
        assert!((100.0 * bound - expected).abs() < 6e-4, "{bound} {expected}");
    }
}

#[test]
fn a_more_cautious_stack_of_the_chain_costs_nothing_and_a_bad_one_beside_it_its_share() {
    let good = || tasks(96, &[1.0, 1.0]);
    let by_itself = bounds_together(&[good()], &[alone(0)], 0.0, DELTA)[0];
    let chain = [ChainPlace { chain: 0, place: 0, weight: 1.0 }, ChainPlace { chain: 0, place: 1, weight: 1.0 }];
    assert_eq!(bounds_together(&[tasks(98, &[]), good()], &chain, 0.0, DELTA)[1], by_itself);
    let harmless = bounds_together(&[tasks(98, &[]), good()], &[alone(0), alone(1)], 0.0, DELTA);
    assert_eq!(harmless[1], by_itself);
    let bad = bounds_together(&[tasks(48, &[1.0; 50]), good()], &[alone(0), alone(1)], 0.0, DELTA);
    assert_eq!(bad[1], Some(upper_bound(&good().0, DELTA / 2.0)));
    let worst = bounds_together(&[tasks(0, &[1.0; 98]), good()], &[alone(0), alone(1)], 0.0, DELTA);
    assert_eq!((worst[0], worst[1]), (Some(1.0), bad[1]), "one that kills everything is as bad as any");
    assert!(bad[1] > by_itself && bounds_together(&[tasks(0, &[])], &[alone(0)], 0.0, DELTA) == [None]);
}

#[test]
fn chains_come_from_definitions_and_every_source_has_the_same_weight() {
    let text = "[[stack]]\nname = \"s75\"\nany = [{ signal = \"steps\", at_least = 75 }]\n\
                [[stack]]\nname = \"calls\"\nany = [{ signal = \"call.count\", at_least = 4 }]\n\
                [[stack]]\nname = \"s90\"\ncap = { steps = 90 }\n";
    let file = StackFile::parse("stacks.toml", text).unwrap();
    let stacks = ["s75", "calls", "s90"].map(|name| file.stack(name).unwrap());
    let mut tried: Vec<Tried<'_>> = stacks.iter().map(|stack| Tried { definition: Some(stack), source: 0 }).collect();
    tried.push(Tried { definition: None, source: 1 });
    let places = chain_places(&tried);
    let told: Vec<(usize, usize)> =
        places.iter().map(|place| (places[2].chain.abs_diff(place.chain), place.place)).collect();
    assert_eq!((told[0], told[2]), ((0, 1), (0, 0)), "75 steps come after 90");
    assert!(told[1].0 > 0 && told[3].0 > 0 && places[1].chain != places[3].chain);
    let weights: Vec<f64> = places.iter().map(|place| place.weight).collect();
    assert_eq!(weights, [0.5, 0.5, 0.5, 1.0], "two chains share what one program has");
}

fn losses() -> impl Strategy<Value = Losses> {
    (10_usize..120, prop::collection::vec(prop::sample::select(vec![0.25, 1.0 / 3.0, 0.5, 1.0]), 0..12))
        .prop_map(|(clean, killed)| tasks(clean, &killed))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Certified at a tolerance, if and only if the bound is at most that: in any chains, at any weights.
    #[test]
    fn a_bound_is_the_least_tolerance_at_which_the_stack_is_certified(
        stacks in prop::collection::vec(losses(), 1..7),
        chains in prop::collection::vec(0_usize..3, 7),
        weights in prop::collection::vec(0.1_f64..2.0, 3),
        tolerance in 0.01_f64..0.3,
    ) {
        let mut lengths = [0; 3];
        let places: Vec<ChainPlace> = stacks.iter().zip(&chains).map(|(_, chain)| {
            lengths[*chain] += 1;
            ChainPlace { chain: *chain, place: lengths[*chain], weight: weights[*chain] }
        }).collect();
        let bounds = bounds_together(&stacks, &places, 0.0, DELTA);
        for (certified, bound) in certified(&stacks, &places, tolerance).into_iter().zip(bounds) {
            let bound = bound.unwrap();
            prop_assert!((bound - tolerance).abs() < 1e-8 || certified == (bound <= tolerance), "{bound} {tolerance}");
        }
    }

    /// The bound never falls with a further kill, and never rises with a further clean task.
    #[test]
    fn a_kill_never_lowers_the_bound_and_a_clean_task_never_raises_it(
        stack in losses(), at in 0_usize..10, clean in 1_usize..5,
    ) {
        let bound = |losses: Vec<f64>| bounds_together(&[Losses(losses)], &[alone(0)], 0.0, DELTA)[0].unwrap();
        let before = bound(stack.0.clone());
        let mut worse = stack.0.clone();
        worse[at] = (worse[at] + 0.25).min(1.0);
        prop_assert!(bound(worse) >= before - 1e-9);
        prop_assert!(bound([stack.0, vec![0.0; clean]].concat()) <= before + 1e-9);
    }
}
