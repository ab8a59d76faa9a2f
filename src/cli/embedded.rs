//! Commands for programs that embed whenstop, such as the Python package. They take and return values and print nothing.
//! Options, their defaults and the code are those of the command line, so that files are the same byte for byte.

mod values;

use std::sync::Arc;

pub use super::tune::TuneResult;
pub use values::{KeywordArguments, OptionValue};

use super::compare::shard::{ShardScope, write};
use super::failure::CommandFailure;
use super::inputs::WRITE_EVENT;
use super::output::Output;
use super::{CliCommand, compare, corpus, report, tune};
use crate::answers::CompareAnswer;
use crate::decision::{Program, Strategy};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::guard::{Guard, Opener};
use crate::reader::CorpusReport;
use crate::report::{CsvStyle, Division, Publication, Shard};

/// A guard of the embedding program.
pub struct EmbeddedGuard {
    /// Its name in tables.
    pub name: String,
    /// What the manifest says about it.
    pub program: Program,
    /// Makes a link to it; called once per thread.
    pub open: Box<Opener>,
}

impl EmbeddedGuard {
    fn into_strategy(self) -> Arc<dyn Strategy> {
        Arc::new(Guard::new(&self.name, self.program, self.open, WRITE_EVENT))
    }
}

/// The result of a comparison.
pub struct Compared {
    /// Its rows, firings, tables and figures.
    pub publication: Publication,
    /// The answer.
    pub answer: CompareAnswer,
    /// What was read, and what could not be read.
    pub report: CorpusReport,
    /// The messages that the command line would print to stderr.
    pub messages: Vec<String>,
}

/// `whenstop compare`, with guards that are compared besides. Writes a folder if there is an option `out`.
///
/// # Errors
/// Every error that would end the command.
pub fn compare(values: KeywordArguments, guards: Vec<EmbeddedGuard>) -> Result<Compared, Diagnostics> {
    let CliCommand::Compare(mut args) = values.read("compare")? else { return Err(unexpected()) };
    args.stacks.guards.embedded.0.extend(guards.into_iter().map(EmbeddedGuard::into_strategy));
    let output = Output::keeping();
    let compare::Published { publication, report, .. } =
        compare::answered(&args, &args.runs(), &output).map_err(told)?;
    if let Some(out) = &args.out {
        publication.write(out, args.folder_format(CsvStyle::Plain))?;
    }
    let answer = publication.answer();
    Ok(Compared { publication, answer, report, messages: output.into_kept() })
}

/// Computes one part of a comparison divided by file and writes it to the folder `out`. The options are those of `compare`;
/// the paths belong to this part alone. `names`: names of these files that are the same for everyone, in the
/// order they are read. Returns the number of runs.
///
/// # Errors
/// Every error that would end `compare`.
pub fn part(values: KeywordArguments, shard: Shard, names: Vec<String>) -> Result<u64, Diagnostics> {
    let CliCommand::Compare(args) = values.read("compare")? else { return Err(unexpected()) };
    let Some(out) = &args.out else { return Err(unexpected()) };
    let runs = args.runs();
    write(&args, &runs, &ShardScope { shard, division: Division::Files, names }, out, &Output::keeping()).map_err(told)
}

/// `whenstop report` of parts, which are the paths; `out` is the folder for the whole.
///
/// # Errors
/// Parts that are missing, duplicated or damaged; nothing is written then.
pub fn merge(values: KeywordArguments) -> Result<Publication, Diagnostics> {
    let CliCommand::Report(args) = values.read("report")? else { return Err(unexpected()) };
    report::written(&args, &Output::keeping()).map_err(told)
}

/// `whenstop tune`, with guards whose numbers limits are sought for. Writes a folder if there is an option `out`.
///
/// # Errors
/// Every error that would end the command; a refusal is not an error but an answer.
pub fn tune(values: KeywordArguments, guards: Vec<EmbeddedGuard>) -> Result<TuneResult, Diagnostics> {
    let CliCommand::Tune(mut args) = values.read("tune")? else { return Err(unexpected()) };
    args.guards.embedded.0.extend(guards.into_iter().map(EmbeddedGuard::into_strategy));
    tune::answered(&args, &Output::keeping()).map_err(told)
}

/// Computes one part of a search of the catalogue divided by file, as [`part`] does it for a comparison. The options are
/// those of `tune`.
///
/// # Errors
/// Every error that would end `tune`.
pub fn tune_part(values: KeywordArguments, shard: Shard, names: Vec<String>) -> Result<u64, Diagnostics> {
    let CliCommand::Tune(args) = values.read("tune")? else { return Err(unexpected()) };
    let Some(out) = &args.out else { return Err(unexpected()) };
    let extent = ShardScope { shard, division: Division::Files, names };
    tune::write_embedded(&args, &extent, out, &Output::keeping()).map_err(told)
}

/// `whenstop report` of the parts of a search, which are the paths; `out` is the folder for the answer.
///
/// # Errors
/// Parts that are missing, duplicated or damaged; nothing is written then. A refusal is not an error but an answer.
pub fn tuned(values: KeywordArguments) -> Result<TuneResult, Diagnostics> {
    let CliCommand::Report(args) = values.read("report")? else { return Err(unexpected()) };
    report::searched(&args, &Output::keeping()).map_err(told)
}

/// `whenstop corpus`. The report has an entry for every run.
///
/// # Errors
/// Every error that would end the command, except files without a run.
pub fn corpus(values: KeywordArguments) -> Result<CorpusReport, Diagnostics> {
    let CliCommand::Corpus(args) = values.read("corpus")? else { return Err(unexpected()) };
    corpus::listed(&args).map_err(told)
}

fn told(failure: CommandFailure) -> Diagnostics {
    failure.diagnostics
}

fn unexpected() -> Diagnostics {
    let help = "this is a defect of whenstop: please report it";
    Diagnostic::new(Location::default(), "these are the options of another command", help).into()
}
