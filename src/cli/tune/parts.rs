//! A search in parts: each holds what the search needs of its runs, and the rows of the strategies shown for comparison. Put
//! together, they give the answer of one search.

use std::path::Path;

use super::answer::Recordings;
use super::beside::answer;
use super::files::write_answer;
use super::words::TuneSentences;
use super::{Args, TuneResult, asked, by, decided, families, for_the_command_line, grid, refuse_others, show, values};
use crate::aggregate::Label;
use crate::catalog::Strategies;
use crate::cli::ProgramExit;
use crate::cli::compare::EmbedText;
use crate::cli::compare::shard::{ShardScope, run_shard, write_runs};
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::ByArg;
use crate::cli::output::{Output, TableFormat};
use crate::compare::{Comparison, KeptStories};
use crate::diagnostic::{Diagnostic, Location};
use crate::explain::Texts;
use crate::reader::LabelDraw;
use crate::report::{Manifest, Merge, PartSearch, SearchQuestion, SearchedRun, Shard, write_folder};
use crate::sweep::GridQuestion;
use crate::sweep::engine::{Extract, Plan};
use crate::transcript::Run;
use crate::tune::{Study, StudyRun, TuneQuestion};
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
            if matches!(args.embed_text, EmbedText::None) {
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

/// Answers the search whose parts these are, and shows the answer in a format.
pub(in crate::cli) fn show_parts(
    merge: &Merge,
    search: &PartSearch,
    format: TableFormat,
    out: Option<&Path>,
    output: &Output,
) -> Result<ProgramExit, CommandFailure> {
    if let Some(out) = out {
        refuse_others(out)?;
    }
    match &search.question {
        SearchQuestion::Grid(question) => grid::show_parts(merge, question, format, out, output),
        SearchQuestion::Own(shippable) => {
            decided::from_parts(merge, shippable, out, |decided| decided.answer(format, out, output))
        }
        SearchQuestion::Classes { question, by } => {
            let runs = studied(merge, question)?;
            by::show(question, by, runs, search.labels, format == TableFormat::Json, out, output)
        }
        SearchQuestion::Catalogue(question) => {
            let shown = |words: &TuneSentences<'_>| show(words, format, output).map(|()| words.exit());
            with_answer(merge, question, search.labels, out, output, shown)?
        }
    }
}

/// The same as values, for a program that embeds whenstop.
pub(in crate::cli) fn answered_parts(
    merge: &Merge,
    search: &PartSearch,
    out: Option<&Path>,
    output: &Output,
) -> Result<TuneResult, CommandFailure> {
    if let Some(out) = out {
        refuse_others(out)?;
    }
    match &search.question {
        SearchQuestion::Grid(_) | SearchQuestion::Classes { .. } => Err(for_the_command_line()),
        SearchQuestion::Own(shippable) => {
            decided::from_parts(merge, shippable, out, |decided| decided.answered(out, output))
        }
        SearchQuestion::Catalogue(question) => with_answer(merge, question, search.labels, out, output, values),
    }
}

/// The runs of the parts, each with its class.
fn studied(merge: &Merge, question: &TuneQuestion) -> Result<Vec<(Option<Label>, StudyRun)>, CommandFailure> {
    let families = families(question);
    let plan = Study::plan(&families);
    restored(merge, &plan, |_, class, on| (class, StudyRun::from_extract(&on, &families, &plan, question.kept())))
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

/// Calls `take` with the answer, and writes the requested folder.
fn with_answer<T>(
    merge: &Merge,
    question: &TuneQuestion,
    labels: LabelDraw,
    out: Option<&Path>,
    output: &Output,
    take: impl FnOnce(&TuneSentences<'_>) -> T,
) -> Result<T, CommandFailure> {
    let runs = studied(merge, question)?.into_iter().map(|(_, run)| run).collect();
    let (rows, _) = merge.rows().map_err(CommandFailure::input)?;
    let recordings = Recordings { study: Study::new(runs, families(question)), rows, labels };
    let answer = answer(question, &recordings);
    let words = TuneSentences { study: &recordings.study, answer: &answer, question };
    let taken = take(&words);
    if let Some(out) = out {
        write_folder(out, output.csv, |folder| write_answer(&words, folder)).map_err(CommandFailure::input)?;
        output.note(&format!("written to {}; {}", out.display(), words.to_ship(out)));
    }
    Ok(taken)
}
