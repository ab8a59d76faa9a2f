//! Generates seeded synthetic runs whose true outcome is known.
//!
//! A run is a [`Behaviour`] played with the tools and words of a [`Suite`]. The plot determines the truth: the outcome,
//! why the recording ends, and for most successes the step that secured them, given as a label or as checkpoints. The
//! behaviour's name is in `meta.behaviour`. The same seed gives the same runs on every machine: nothing depends on the
//! clock or on addresses, and all arithmetic is on integers.
//!
//! Trials of one task are alike: each task has a behaviour that half of its trials show; the others are drawn from the
//! common mixture, in which the smaller model fails more often. Token counts are those of the full results, before they
//! were abridged to the few recorded words.
//!
//! This module knows nothing of rules: what a strategy does on these runs is found only by replaying them.

mod behaviour;
mod dice;
mod plot;
mod scene;
mod script;
mod stage;

use crate::transcript::{Run, named};

pub use behaviour::Behaviour;
use dice::Dice;
use scene::{Casting, Scene};
use script::TokenPrice;

named! {
    /// A family of tasks with its own tools and words.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Suite {
        /// Small repairs in a codebase.
        Code = "code",
        /// A help desk: rounds with a customer.
        Service = "service",
        /// Small experiments with metrics.
        Research = "research",
    }
}

/// What to generate.
#[derive(Clone, Debug)]
pub struct Synthesis {
    /// The suite to play in.
    pub suite: Suite,
    /// The seed. The same seed gives the same runs, and asking for more runs does not change the first ones.
    pub seed: u64,
    /// Trials per task; 0 counts as 1.
    pub trials: usize,
    /// Use only these behaviours; if empty, the common mixture.
    pub kinds: Vec<Behaviour>,
}

/// The two models, with prices. The larger one runs the first half of a task's trials.
const MODELS: [(&str, TokenPrice); 2] = [
    ("quill-large", TokenPrice { input: 2_500, cached: 250, output: 12_500 }),
    ("quill-small", TokenPrice { input: 250, cached: 25, output: 2_000 }),
];

/// Out of a hundred trials, how many show the behaviour of their task.
const LIKENESS: u64 = 50;

impl Synthesis {
    /// The common mixture of `suite`, with four trials per task.
    pub fn new(suite: Suite, seed: u64) -> Self {
        Self { suite, seed, trials: 4, kinds: Vec::new() }
    }

    /// Generates the first `runs` runs.
    pub fn runs(&self, runs: usize) -> impl Iterator<Item = Run> + '_ {
        (0..runs).map(|index| self.run(index))
    }

    /// Generates run number `index`, from 0.
    pub fn run(&self, index: usize) -> Run {
        let trials = self.trials.max(1);
        let (task, trial) = (index / trials, index % trials);
        let name = format!("{}-{task:03}", self.suite);
        let small = trial * 2 >= trials && trials > 1;
        let mut dice = Dice::named(self.seed, &format!("{name}/{trial}"));
        let behaviour = self.behaviour(task, small, &mut dice);
        let (model, price) = MODELS[usize::from(small)];
        let casting = Casting { task: &name, trial, model, price, seed: self.seed, number: index, behaviour };
        let scene = Scene::set(self.suite.stage(), self.suite, casting, dice);
        plot::play(scene, behaviour)
    }

    /// The behaviour of a trial: that of its task, or one drawn from the mixture.
    fn behaviour(&self, task: usize, small: bool, dice: &mut Dice) -> Behaviour {
        let known: Vec<Behaviour> = if self.kinds.is_empty() {
            Behaviour::ALL.iter().copied().filter(|behaviour| behaviour.occurs_in(self.suite)).collect()
        } else {
            self.kinds.clone()
        };
        let mut deck = Dice::named(self.seed, &format!("{}/deck", self.suite)).shuffled(known.clone());
        let of_task = deck.swap_remove(task % deck.len());
        if dice.chance(LIKENESS) {
            return of_task;
        }
        let weight = |behaviour: Behaviour| match behaviour.succeeds() {
            Some(false) if small => 2 * behaviour.share(),
            _ => behaviour.share(),
        };
        let mut mixture = Vec::new();
        for behaviour in known {
            let share = if self.kinds.is_empty() { weight(behaviour) } else { 1 };
            mixture.extend(std::iter::repeat_n(behaviour, share));
        }
        mixture[dice.place(mixture.len())]
    }
}
