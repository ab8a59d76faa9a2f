//! Grids with caps that the agent is told of. What such a cap kills is known only within bounds, so that the grid cannot be
//! walked: its stacks are compared as `compare` does it.

use super::Args;
use super::decided::{OwnStacks, decide};
use super::limits::shippable;
use crate::cli::ProgramExit;
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{LoadedStacks, StackArgs};
use crate::cli::output::Output;
use crate::sweep::engine::Plan;
use crate::sweep::{GridFile, WideGrid};
use crate::words::grouped;

/// The most stacks of such a grid.
const MOST: u64 = 10_000;

/// Compares the stacks of the grid, and writes the one to ship.
pub(super) fn run_grid(args: &Args, file: &GridFile, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let grid = file.grid(&[], &Plan::default()).map_err(CommandFailure::usage)?;
    let most = args.grid.most.min(MOST);
    if grid.len() > most {
        let what = format!("{} stacks with caps that the agent is told of; the most are {most}", grouped(grid.len()));
        let help = "shorten the lists: each of these stacks is replayed on its own";
        return Err(CommandFailure::arguments(what, help));
    }
    let stacks = stacks_of(&grid, args)?;
    let shippable = stacks.own_stacks().iter().map(|stack| shippable(stack)).collect();
    decide(args, &OwnStacks { stacks, shippable, today: None }, output)
}

/// The stacks of the grid, read as from a stack file.
fn stacks_of(grid: &WideGrid, args: &Args) -> Result<LoadedStacks, CommandFailure> {
    let text: Vec<String> = (0..grid.len()).map(|index| grid.written(index)).collect();
    StackArgs { stacks: vec![text.join("\n")], guards: args.guards.clone() }.load()
}
