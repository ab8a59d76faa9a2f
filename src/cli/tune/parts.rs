//! The answer of a search from its parts.

use std::path::Path;

use super::answer::Recordings;
use super::beside::answer;
use super::files::write_answer;
use super::part_runs::restored;
use super::words::TuneSentences;
use super::{TuneResult, by, decided, families, for_the_command_line, grid, refuse_others};
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
        SearchQuestion::Classes { question, by } => {
            let runs = studied(merge, question)?;
            by::show(question, by, runs, search.labels, format == TableFormat::Json, out, output)
        }
        SearchQuestion::Own(_) | SearchQuestion::Catalogue(_) => {
            Ok(answered_parts(merge, search, format, out, output)?.1)
        }
    }
}

/// The same, with the answer as values; for a program that embeds whenstop, too.
pub(in crate::cli) fn answered_parts(
    merge: &Merge,
    search: &PartSearch,
    format: TableFormat,
    out: Option<&Path>,
    output: &Output,
) -> Result<(TuneResult, ProgramExit), CommandFailure> {
    if let Some(out) = out {
        refuse_others(out)?;
    }
    match &search.question {
        SearchQuestion::Grid(_) | SearchQuestion::Classes { .. } => Err(for_the_command_line()),
        SearchQuestion::Own(shippable) => decided::answered_parts(merge, shippable, format, out, output),
        SearchQuestion::Catalogue(question) => answered_catalogue(merge, question, search.labels, format, out, output),
    }
}

/// The runs of the parts, each with its class.
fn studied(merge: &Merge, question: &TuneQuestion) -> Result<Vec<(Option<Label>, StudyRun)>, CommandFailure> {
    let families = families(question);
    let plan = Study::plan(&families);
    restored(merge, &plan, |_, class, on| (class, StudyRun::from_extract(&on, &families, &plan, question.kept())))
}

fn answered_catalogue(
    merge: &Merge,
    question: &TuneQuestion,
    labels: LabelDraw,
    format: TableFormat,
    out: Option<&Path>,
    output: &Output,
) -> Result<(TuneResult, ProgramExit), CommandFailure> {
    let runs = studied(merge, question)?.into_iter().map(|(_, run)| run).collect();
    let (rows, _) = merge.rows().map_err(CommandFailure::input)?;
    let recordings = Recordings { study: Study::new(runs, families(question)), rows, labels };
    let answer = answer(question, &recordings);
    let words = TuneSentences { study: &recordings.study, answer: &answer, question };
    let result = TuneResult::from_sentences(&words);
    result.show(format, output)?;
    if let Some(out) = out {
        write_folder(out, output.csv, |folder| write_answer(&words, folder)).map_err(CommandFailure::input)?;
        output.note(&format!("written to {}; {}", out.display(), words.to_ship(out)));
    }
    Ok((result, words.exit()))
}
