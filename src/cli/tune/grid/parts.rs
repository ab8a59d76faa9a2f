//! The answer of a search through a grid of rules, from its parts: each holds what the stacks read of its runs.

use std::path::Path;

use super::recordings::GridRecordings;
use super::{
    CommandFailure, GridFile, GridQuestion, Output, Plan, ProgramExit, SplitArgs, Sweep, TableFormat, grid_of,
};
use crate::cli::tune::part_runs::restored;
use crate::report::{Merge, refuse_foreign};
use crate::stack::Guards;
use crate::sweep::engine::Extract;

/// Answers the search whose parts these are, as one search would.
pub(in crate::cli::tune) fn show_parts(
    merge: &Merge,
    question: &GridQuestion,
    format: TableFormat,
    out: Option<&Path>,
    output: &Output,
) -> Result<ProgramExit, CommandFailure> {
    if let Some(out) = out {
        refuse_foreign(out, super::FILES.into_iter()).map_err(CommandFailure::input)?;
    }
    let file = GridFile::parse(&question.path, &question.text, &Guards::default()).map_err(CommandFailure::usage)?;
    let mut plan = Plan::default();
    file.plan(&mut plan);
    let mut placed: Vec<(u64, Extract)> = restored(merge, &plan, |place, _, on| (place, on))?;
    placed.sort_by_key(|(place, _)| *place);
    let reported = placed.into_iter().map(|(_, on)| on).collect();
    let recordings = GridRecordings { reported, chosen_on: None };
    let grid = grid_of(question, &file, &plan, &recordings)?;
    let split = &SplitArgs::default();
    Sweep { question, split, grid: &grid, plan: &plan, recordings: &recordings, output }.answer(format, out)
}
