//! Grids with caps that the agent is told of. What such a cap kills is known only within bounds, so that the grid cannot be
//! walked: its stacks are compared as `compare` does it.

use super::Args;
use super::decided::OwnStacks;
use super::limits::shippable;
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::StackArgs;
use crate::sweep::GridFile;
use crate::sweep::engine::Plan;
use crate::words::grouped;

/// The most stacks of such a grid.
const MOST: u64 = 10_000;

/// The stacks of the grid, read as from a stack file.
pub(super) fn stacks(args: &Args, file: &GridFile) -> Result<OwnStacks, CommandFailure> {
    let grid = file.grid(&[], &Plan::default()).map_err(CommandFailure::usage)?;
    let most = args.grid.most.min(MOST);
    if grid.len() > most {
        let what = format!("{} stacks with caps that the agent is told of; the most are {most}", grouped(grid.len()));
        let help = "shorten the lists: each of these stacks is replayed on its own";
        return Err(CommandFailure::arguments(what, help));
    }
    let text: Vec<String> = (0..grid.len()).map(|index| grid.written(index)).collect();
    let stacks = StackArgs { stacks: vec![text.join("\n")], guards: args.guards.clone() }.load()?;
    let shippable = stacks.own().map(|stack| shippable(stack)).collect();
    Ok(OwnStacks { stacks, shippable, today: None })
}
