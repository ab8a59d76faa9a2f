//! `tune --grid FILE --walk-forward`: which stack of the grid the past would have shipped, period by period.

use super::recordings::GridRecordings;
use super::{Args, CommandFailure, GridFile, GridQuestion, Output, Plan, ProgramExit, Sweep, grid_of};
use crate::aggregate::PeriodLength;
use crate::cli::tune::forward::{Dated, ForwardWalk};
use crate::sweep::engine::Runs;

/// Walks the grid once for each period, on the runs before it.
pub(super) fn run(
    args: &Args,
    by: PeriodLength,
    (question, file): (&GridQuestion, &GridFile),
    plan: &Plan,
    recordings: GridRecordings,
    output: &Output,
) -> Result<ProgramExit, CommandFailure> {
    // What is wrong with the grid is wrong whatever the period.
    grid_of(question, file, plan, &recordings)?;
    let unit = Runs::unit_of(&recordings.reported);
    let dated = Dated::new(recordings.reported.into_iter().map(|on| (on.shared().facts().started_at(), on)), by)?;
    let mut walk = ForwardWalk::new(args, by, &dated, unit);
    let mut past = GridRecordings { reported: Vec::new(), chosen_on: None };
    for (period, runs) in dated.periods {
        let mut stack = None;
        if !past.reported.is_empty() {
            let grid = grid_of(question, file, plan, &past)?;
            let sweep = Sweep { question, split: &args.own.split, grid: &grid, plan, recordings: &past, output };
            let walked = sweep.walk(None).map_err(|error| CommandFailure::internal(&error))?;
            if walked.interrupted {
                return Ok(ProgramExit::Interrupted);
            }
            let judged = sweep.judge(&walked);
            stack = judged.shipped(&walked).map(|(find, _)| grid.stack(find.index));
            walk.why = judged.verdict;
        }
        walk.step(period, stack, &runs, plan);
        past.reported.extend(runs);
    }
    walk.finish(args, output)
}
