//! Seeded synthetic runs with known truth.
//!
//! A run is a [`Behaviour`] played on the tools and words of a [`Suite`]. Its truth is known because the plot
//! makes it: the outcome, why the recording ends, and for most successes the step that secured them, as a label
//! or as checkpoints; the behaviour's name stands in `meta.behaviour`. The same seed gives the same runs on
//! every machine: no clock, no hashing of addresses, integers only.
//!
//! Trials of one task are alike: each task has a behaviour of its own, which half of its trials show; the
//! others are drawn from the common mixture, in which the smaller model fails more often. Token counts are
//! those of results before they were abridged to the few words that are recorded.
//!
//! It knows nothing of rules: what a strategy makes of these runs must be found out by replaying them.

mod behaviour;
mod dice;
mod plot;
mod scene;
mod script;
mod stage;

use std::fmt;
use std::str::FromStr;

use crate::transcript::Run;

pub use behaviour::Behaviour;
use dice::Dice;
use scene::{Casting, Scene};
use script::Price;

/// A family of tasks with its own tools and words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Suite {
    /// Small repairs in a code base.
    Code,
    /// A help desk: rounds with a customer.
    Service,
    /// Small experiments with metrics.
    Research,
}

impl Suite {
    /// All suites.
    pub const ALL: [Self; 3] = [Self::Code, Self::Service, Self::Research];

    /// The name in traces and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Service => "service",
            Self::Research => "research",
        }
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Suite {
    type Err = ();
    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|suite| suite.name() == name).ok_or(())
    }
}

/// What to generate.
#[derive(Clone, Debug)]
pub struct Synthesis {
    /// The family of tasks.
    pub suite: Suite,
    /// The same seed gives the same runs; the first runs do not change when more are asked for.
    pub seed: u64,
    /// Runs of each task; 0 counts as 1.
    pub trials: usize,
    /// Only these behaviours; empty for the common mixture.
    pub kinds: Vec<Behaviour>,
}

/// The two models that take turns: the larger one runs the first half of a task's trials.
const MODELS: [(&str, Price); 2] = [
    ("quill-large", Price { input: 2_500, cached: 250, output: 12_500 }),
    ("quill-small", Price { input: 250, cached: 25, output: 2_000 }),
];

/// How many of a hundred trials show the behaviour of their task.
const LIKENESS: u64 = 50;

impl Synthesis {
    /// The common mixture of `suite`, four trials a task.
    pub fn new(suite: Suite, seed: u64) -> Self {
        Self { suite, seed, trials: 4, kinds: Vec::new() }
    }

    /// The first `runs` runs.
    pub fn runs(&self, runs: usize) -> impl Iterator<Item = Run> + '_ {
        (0..runs).map(|index| self.run(index))
    }

    /// Run number `index`, from 0.
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

    /// The behaviour of a trial: its task's own, or one of the mixture.
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
