//! adaptive: the iterations of a scientific workflow (call, experiment, observation), which two checks (documented) or
//! a reviewer (published) may end early.

pub mod config;
pub mod iterations;
mod replay;
pub mod review;
#[cfg(test)]
mod tests;
mod traps;

use crate::framework::{Build, FrameworkCode, params};

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

/// What of the system is code.
pub(super) const CODE: FrameworkCode =
    FrameworkCode { parameters: param::ALL, traps: traps::traps, build: Build::Strategy(replay::build) };
