//! adaptive: the iterations of a scientific workflow (call, experiment, observation), which two checks (documented) or
//! a reviewer (published) may end early.

pub mod config;
pub mod iterations;
mod replay;
pub mod review;
#[cfg(test)]
mod tests;
mod traps;

use super::described;
use crate::framework::{Build, Framework, params};

params! {
    MAX_ITERATIONS: "max_iterations" = 5, "iterations at most; goes before the configuration's";
    ROUND: "round" = "step", "what an iteration is: step, prompt, or a number of steps";
    STRATEGIES: "strategies" = [1, 3],
        "the design note's checks by number: 1 conclusion tag, 2 task status, 3 completion words, 4 successes in a row";
    CONSECUTIVE_SUCCESSES: "consecutive_successes" = 2,
        "experiments in a row that did not fail, for the fourth check; set alone, it adds that check";
    JUDGE: "judge" = "recorded", off "none",
        "the reviewer of `published`: recorded, none, or { sensitivity = 0.9, specificity = 0.95, seed = 1 }";
}

/// The framework as registered.
pub(super) fn framework() -> Framework {
    Framework {
        parameters: param::ALL,
        traps: traps::traps,
        build: Build::Strategy(replay::build),
        ..described("adaptive", include_str!("framework.toml"), include_str!("manual.md"))
    }
}
