//! A search in parts: each holds what the search needs of its runs, and the rows of the strategies shown for comparison. Put
//! together, they give the answer of one search.

use std::path::Path;

use super::{Args, asked, families};
use crate::aggregate::Label;
use crate::catalog::Strategies;
use crate::cli::ProgramExit;
use crate::cli::compare::shard::{ShardScope, run_shard, write_runs};
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::ByArg;
use crate::cli::output::Output;
use crate::compare::{Comparison, KeptStories};
use crate::diagnostic::{Diagnostic, Location};
use crate::explain::Texts;
use crate::report::{Manifest, Merge, PartSearch, SearchQuestion, SearchedRun, Shard};
use crate::sweep::GridQuestion;
use crate::sweep::engine::{Extract, Plan};
use crate::transcript::Run;
use crate::tune::Study;
use crate::verdict::Assumptions;

/// Writes one part of a search of the catalogue, of the given extent. Returns the number of its runs.
pub(super) fn write_catalogue(
    args: &Args,
    extent: &ShardScope,
    out: &Path,
    output: &Output,
) -> Result<u64, CommandFailure> {
    if let Some(by) = &args.by {
        let question = args.question(0);
        let plan = Study::plan(&families(&question));
        let question = SearchQuestion::Classes { question, by: by.noun() };
        return write_searched(args, question, &plan, &Strategies::new(), extent, out, output);
    }
    let (strategies, question) = asked(args)?;
    let plan = Study::plan(&families(&question));
    write_searched(args, SearchQuestion::Catalogue(question), &plan, &strategies, extent, out, output)
}

/// Writes one part of a search through a grid, whose rules read what `plan` says.
pub(super) fn write_grid(
    args: &Args,
    question: GridQuestion,
    plan: &Plan,
    shard: Shard,
    out: &Path,
    output: &Output,
) -> Result<ProgramExit, CommandFailure> {
    if !args.guards.is_empty() {
        let what = "a grid with the number of a guard is not divided: whoever puts the parts together has no guard";
        let help = "compare its limits in parts: `--signal guard:NAME.score --limits 0.5..0.9`";
        return Err(CommandFailure::arguments(what, help));
    }
    let question = SearchQuestion::Grid(question);
    run_shard(shard, out, output, |extent| {
        write_searched(args, question, plan, &Strategies::new(), extent, out, output)
    })
}

/// Writes one part of a search for what `plan` reads, with the rows of `strategies`. Returns the number of its runs.
fn write_searched(
    args: &Args,
    question: SearchQuestion,
    plan: &Plan,
    strategies: &Strategies,
    extent: &ShardScope,
    out: &Path,
    output: &Output,
) -> Result<u64, CommandFailure> {
    let comparison = Comparison::new(strategies, Assumptions::default());
    write_runs(
        &args.corpus.classed(args.by.as_ref()).runs(),
        extent,
        out,
        output,
        |run: &Run| {
            let on = Extract::from_run(run, plan, Assumptions::default());
            let class = args.by.as_ref().and_then(|by| ByArg::by(Some(by)).label(run));
            (on.kept().ok_or_else(|| run.header.run_id.clone()), class, comparison.rows_of(run).0)
        },
        |part, (extract, class, rows)| match extract {
            Ok(extract) => part.searched_run(&SearchedRun { extract, class }, &rows),
            Err(run) => Err(unfit(&run)),
        },
        |about, report| {
            about.comparison = Manifest::new(comparison.infos().to_vec());
            if args.embed_text == Texts::None {
                about.found = std::mem::take(&mut about.found).without_values();
            }
            about.search = Some(PartSearch { question, labels: report.label_draw });
            Ok(KeptStories::new(Texts::None))
        },
    )
}

fn unfit(run: &str) -> Diagnostic {
    let what = format!("run `{run}` cannot be written to a part: one of its numbers is infinite");
    Diagnostic::new(Location::default(), what, "search without `--shard`, or leave the run out")
}

/// What `take` makes of each run of the parts: its place among all, its class, and what `plan` reads of it.
pub(super) fn restored<T>(
    merge: &Merge,
    plan: &Plan,
    take: impl Fn(u64, Option<Label>, Extract) -> T,
) -> Result<Vec<T>, CommandFailure> {
    let mut runs = Vec::new();
    merge
        .searched_runs(|place, run| {
            runs.push(take(place, run.class, run.extract.restored(plan, Assumptions::default())?));
            Some(())
        })
        .map_err(CommandFailure::input)?;
    if runs.is_empty() {
        return Err(CommandFailure::nothing("the parts hold no run", "search recordings that have some"));
    }
    Ok(runs)
}
