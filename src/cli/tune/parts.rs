//! A search of the catalogue in parts: each holds what the search needs of its runs, and the rows of the strategies shown
//! for comparison. Put together, they give the answer of one search.

use std::path::Path;

use super::answer::{Recordings, answer};
use super::files::write_answer;
use super::words::Words;
use super::{Answered, Args, asked, families, show, values};
use crate::cli::Exit;
use crate::cli::compare::EmbedText;
use crate::cli::compare::shard::{Extent, tell_part, write_runs};
use crate::cli::failure::Failure;
use crate::cli::output::{Format, Output};
use crate::compare::Comparison;
use crate::diagnostic::{Diagnostic, Location};
use crate::report::{Division, Manifest, Merge, Search, Shard, write_folder};
use crate::sweep::engine::Extract;
use crate::transcript::Run;
use crate::tune::{Study, StudyRun};
use crate::verdict::Assumptions;

/// Writes one part.
pub(super) fn write(args: &Args, shard: Shard, out: &Path, output: &Output) -> Result<Exit, Failure> {
    let extent = Extent { shard, division: Division::Tasks, names: Vec::new() };
    let n_runs = write_part_of(args, &extent, out, output)?;
    tell_part(shard, n_runs, out, output);
    Ok(Exit::Done)
}

/// Writes one part of the given extent. Returns the number of its runs.
pub(in crate::cli) fn write_part_of(args: &Args, extent: &Extent, out: &Path, output: &Output) -> Result<u64, Failure> {
    let (strategies, question) = asked(args)?;
    let comparison = Comparison::new(&strategies, Assumptions::default());
    let plan = Study::plan(&families(&question));
    write_runs(
        &args.corpus.runs(),
        extent,
        out,
        output,
        |run: &Run| {
            let on = Extract::from_run(run, &plan, Assumptions::default());
            (on.kept().ok_or_else(|| run.header.run_id.clone()), comparison.rows_of(run).0)
        },
        |part, (run, rows)| match run {
            Ok(run) => part.searched_run(&run, &rows),
            Err(run) => Err(unfit(&run)),
        },
        |about, report| {
            about.comparison = Manifest::new(comparison.infos().to_vec());
            if matches!(args.embed_text, EmbedText::None) {
                about.found = std::mem::take(&mut about.found).without_values();
            }
            about.search = Some(Search { question: question.clone(), labels: report.label_draw });
            Ok(())
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
    search: Search,
    format: Format,
    out: Option<&Path>,
    output: &Output,
) -> Result<Exit, Failure> {
    with_answer(merge, search, out, output, |words| show(words, format, output).map(|()| words.exit()))?
}

/// The same as values, for a program that embeds whenstop.
pub(in crate::cli) fn answered_parts(
    merge: &Merge,
    search: Search,
    out: Option<&Path>,
    output: &Output,
) -> Result<Answered, Failure> {
    with_answer(merge, search, out, output, values)
}

/// Calls `take` with the answer, and writes the requested folder.
fn with_answer<T>(
    merge: &Merge,
    search: Search,
    out: Option<&Path>,
    output: &Output,
    take: impl FnOnce(&Words<'_>) -> T,
) -> Result<T, Failure> {
    let question = search.question;
    let families = families(&question);
    let plan = Study::plan(&families);
    let mut runs = Vec::new();
    merge
        .searched_runs(|kept| {
            let on = kept.restored(&plan, Assumptions::default())?;
            runs.push(StudyRun::from_extract(&on, &families, &plan, question.kept()));
            Some(())
        })
        .map_err(Failure::input)?;
    if runs.is_empty() {
        return Err(Failure::nothing("the parts hold no run", "search recordings that have some"));
    }
    let (rows, _) = merge.rows().map_err(Failure::input)?;
    let recordings = Recordings { study: Study::new(runs, families), rows, labels: search.labels };
    let answer = answer(&question, &recordings);
    let words = Words { study: &recordings.study, answer: &answer, question: &question };
    let taken = take(&words);
    if let Some(out) = out {
        write_folder(out, output.csv_style(), |folder| write_answer(&words, folder)).map_err(Failure::input)?;
        output.note(&format!("written to {}; {}", out.display(), words.to_ship(out)));
    }
    Ok(taken)
}
