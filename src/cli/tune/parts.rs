//! The answer of a search from its parts.

use std::path::Path;

use super::answer::Recordings;
use super::beside::answer;
use super::files::write_answer;
use super::part_runs::restored;
use super::words::TuneSentences;
use super::{TuneResult, by, decided, families, for_the_command_line, grid, refuse_others, show, values};
use crate::aggregate::Label;
use crate::cli::ProgramExit;
use crate::cli::failure::CommandFailure;
use crate::cli::output::{Output, TableFormat};
use crate::reader::LabelDraw;
use crate::report::{Merge, PartSearch, SearchQuestion, write_folder};
use crate::tune::{Study, StudyRun, TuneQuestion};

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
