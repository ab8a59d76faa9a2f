//! Commands for programs that embed whenstop, such as the Python package. They use the command line's arguments and
//! code, so they have the same options and write byte-identical files, but return results as values and print nothing.

use std::ffi::OsString;
use std::sync::Arc;

use clap::Parser;

use super::compare::shard::{Extent, write};
use super::failure::Failure;
use super::inputs::NOTATION;
use super::output::Output;
use super::{Cli, Command, compare, corpus, merge, tune};
use crate::decision::{Program, Strategy};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::guard::{Guard, Opener};
use crate::reader::CorpusReport;
use crate::report::table::Table;
use crate::report::{CsvStyle, Division, FirstAnswer, Publication, Shard};

/// A guard of the embedding program.
pub struct EmbeddedGuard {
    /// Its name in tables.
    pub name: String,
    /// What the manifest says about it.
    pub program: Program,
    /// Makes a link to it; called once per thread.
    pub open: Box<Opener>,
}

/// The result of a comparison.
pub struct Compared {
    /// Its rows, firings, tables and figures.
    pub publication: Publication,
    /// The first answer.
    pub said: FirstAnswer,
    /// What was read, and what could not be read.
    pub report: CorpusReport,
    /// The messages that the command line would print to stderr.
    pub messages: Vec<String>,
}

/// The result of tuning.
#[derive(Debug)]
pub struct Tuned {
    /// The answer in two or three sentences.
    pub verdict: String,
    /// What the recordings contain, and what they suffice for.
    pub recordings: String,
    /// What is shipped, and alternatives for comparison.
    pub table: Table,
    /// The same by suite and model, if there are several.
    pub strata: Option<Table>,
    /// Notes on the table.
    pub notes: Vec<String>,
    /// The stack file to ship; `None` if nothing can be recommended.
    pub stack: Option<String>,
    /// The answer as JSON, as `certificate.json` holds it.
    pub certificate: serde_json::Value,
}

/// `whenstop compare`: the arguments after the command's name, and guards that are compared besides. Writes a folder if
/// the arguments include `--out`.
///
/// # Errors
/// Every error that would end the command.
pub fn compare(arguments: Vec<OsString>, guards: Vec<EmbeddedGuard>) -> Result<Compared, Diagnostics> {
    let Command::Compare(mut args) = parsed("compare", arguments)? else { return Err(unexpected()) };
    args.add_guards(guards.into_iter().map(|EmbeddedGuard { name, program, open }| {
        Arc::new(Guard::new(&name, program, open, NOTATION)) as Arc<dyn Strategy>
    }));
    let output = Output::keeping();
    let (publication, report) = compare::published(&args, &output).map_err(told)?;
    let summaries = publication.summaries();
    if let Some(out) = args.out() {
        publication.write(&summaries, out, CsvStyle::Plain)?;
    }
    let said = publication.said(&summaries);
    Ok(Compared { publication, said, report, messages: output.into_kept() })
}

/// Computes one part of a comparison divided by file and writes it to the `--out` folder. The paths in `arguments`,
/// those of `compare`, belong to this part alone. `names`: names of these files that are the same for everyone, in the
/// order they are read. Returns the number of runs.
///
/// # Errors
/// Every error that would end `compare`.
pub fn part(arguments: Vec<OsString>, shard: Shard, names: Vec<String>) -> Result<u64, Diagnostics> {
    let Command::Compare(args) = parsed("compare", arguments)? else { return Err(unexpected()) };
    let Some(out) = args.out() else { return Err(unexpected()) };
    write(&args, &Extent { shard, division: Division::Files, names }, out, &Output::keeping()).map_err(told)
}

/// `whenstop merge`: the arguments after the command's name.
///
/// # Errors
/// Parts that are missing, duplicated or damaged; nothing is written then.
pub fn merge(arguments: Vec<OsString>) -> Result<Publication, Diagnostics> {
    let Command::Merge(args) = parsed("merge", arguments)? else { return Err(unexpected()) };
    let publication = merge::merged(&args, &Output::keeping()).map_err(told)?;
    publication.write(&publication.summaries(), args.out(), CsvStyle::Plain)?;
    Ok(publication)
}

/// `whenstop tune`: the arguments after the command's name. Writes a folder if they include `--out` and there is
/// something to ship.
///
/// # Errors
/// Every error that would end the command; a refusal is not an error but an answer.
pub fn tune(arguments: Vec<OsString>) -> Result<Tuned, Diagnostics> {
    let Command::Tune(args) = parsed("tune", arguments)? else { return Err(unexpected()) };
    tune::answered(&args, &Output::keeping()).map_err(told)
}

/// `whenstop corpus`: the arguments after the command's name. The report has an entry for every run.
///
/// # Errors
/// Every error that would end the command, except files without a run.
pub fn corpus(arguments: Vec<OsString>) -> Result<CorpusReport, Diagnostics> {
    let Command::Corpus(args) = parsed("corpus", arguments)? else { return Err(unexpected()) };
    corpus::listed(&args).map_err(told)
}

fn parsed(command: &str, arguments: Vec<OsString>) -> Result<Command, Diagnostics> {
    let all = ["whenstop", command].map(OsString::from).into_iter().chain(arguments);
    let cli = Cli::try_parse_from(all).map_err(|error| misread(&error))?;
    cli.command.ok_or_else(unexpected)
}

/// Converts an argument parser error to a diagnostic.
fn misread(error: &clap::Error) -> Diagnostics {
    let text = error.render().to_string();
    let (what, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let what = what.strip_prefix("error: ").unwrap_or(what).trim_end_matches(':');
    // Drops the usage line: callers without a command line have no use for it.
    let rest =
        rest.split("\nUsage:").next().unwrap_or_default().split("For more information").next().unwrap_or_default();
    let lines: Vec<&str> = rest.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let help = if lines.is_empty() { "see the documentation of this function".to_owned() } else { lines.join("; ") };
    Diagnostic::new(Location::default(), what, help).into()
}

fn told(failure: Failure) -> Diagnostics {
    failure.diagnostics
}

fn unexpected() -> Diagnostics {
    let help = "this is a defect of whenstop: please report it";
    Diagnostic::new(Location::default(), "these are the arguments of another command", help).into()
}
