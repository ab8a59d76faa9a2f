//! The answer of a search through a grid of rules, from its parts: each holds what the stacks read of its runs.

use std::path::Path;

use super::recordings::Recordings;
use super::{Exit, Failure, Format, GridFile, GridQuestion, Output, Plan, SplitArgs, Sweep, grid_of};
use crate::report::{Merge, refuse_foreign};
use crate::stack::Guards;
use crate::sweep::engine::Extract;
use crate::verdict::Assumptions;

/// Answers the search whose parts these are, as one search would.
pub(in crate::cli::tune) fn show_parts(
    merge: &Merge,
    question: &GridQuestion,
    format: Format,
    out: Option<&Path>,
    output: &Output,
) -> Result<Exit, Failure> {
    if let Some(out) = out {
        refuse_foreign(out, super::FILES.into_iter()).map_err(Failure::input)?;
    }
    let file = GridFile::parse(&question.path, &question.text, &Guards::default()).map_err(Failure::usage)?;
    let mut plan = Plan::default();
    file.plan(&mut plan);
    let mut placed: Vec<(u64, Extract)> = Vec::new();
    merge
        .searched_runs(|place, run| {
            placed.push((place, run.extract.restored(&plan, Assumptions::default())?));
            Some(())
        })
        .map_err(Failure::input)?;
    if placed.is_empty() {
        return Err(Failure::nothing("the parts hold no run", "search recordings that have some"));
    }
    placed.sort_by_key(|(place, _)| *place);
    let searched = placed.into_iter().map(|(_, on)| on).collect();
    let recordings = Recordings { searched, reported: None };
    let grid = grid_of(question, &file, &plan, &recordings)?;
    let split = &SplitArgs::default();
    Sweep { question, split, grid: &grid, plan: &plan, recordings: &recordings, output }.answer(format, out)
}
