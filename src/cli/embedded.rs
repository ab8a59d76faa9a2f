//! Commands for a program that whenstop is part of, such as the Python package: the arguments of the command line, and its
//! code, but results are values and nothing is printed. So both give the same files to the byte, and have the same options.

use std::ffi::OsString;

use clap::Parser;

use super::compare::shard::{Extent, write};
use super::failure::Failure;
use super::output::Output;
use super::{Cli, Command, compare, corpus, merge, tune};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::reader::CorpusReport;
use crate::report::table::Table;
use crate::report::{CsvStyle, Division, Publication, Said, Shard};

/// What a comparison came to.
pub struct Compared {
    /// Its rows, firings, tables and figures.
    pub publication: Publication,
    /// What it says first.
    pub said: Said,
    /// What was read, and what was not.
    pub report: CorpusReport,
    /// What the command line says on stderr, a message each.
    pub messages: Vec<String>,
}

/// What came of tuning.
#[derive(Debug)]
pub struct Tuned {
    /// The answer in two or three sentences.
    pub verdict: String,
    /// What there is, and what it can carry.
    pub recordings: String,
    /// What is shipped, and what stands beside it.
    pub table: Table,
    /// The same by suite and model, where there are several.
    pub strata: Option<Table>,
    /// What to know about the table.
    pub notes: Vec<String>,
    /// The stack file to ship; `None` where nothing can be recommended.
    pub stack: Option<String>,
    /// The answer as JSON, as `certificate.json` holds it.
    pub certificate: serde_json::Value,
}

/// `whenstop compare`: the arguments after the command's name. Writes a folder where they say `--out`.
///
/// # Errors
/// Everything that would end the command.
pub fn compare(arguments: Vec<OsString>) -> Result<Compared, Diagnostics> {
    let Command::Compare(args) = parsed("compare", arguments)? else { return Err(unexpected()) };
    let output = Output::keeping();
    let (publication, report) = compare::published(&args, &output).map_err(told)?;
    let summaries = publication.summaries();
    if let Some(out) = args.out() {
        publication.write(&summaries, out, CsvStyle::Plain)?;
    }
    let said = publication.said(&summaries);
    Ok(Compared { publication, said, report, messages: output.into_kept() })
}

/// One part of a comparison divided by file: what the paths among the arguments of `compare`, read by this part alone, come to,
/// written to their `--out`. `names`: what these files are called for everybody, in the order they are read in. Gives the
/// number of runs.
///
/// # Errors
/// Everything that would end `compare`.
pub fn part(arguments: Vec<OsString>, shard: Shard, names: Vec<String>) -> Result<u64, Diagnostics> {
    let Command::Compare(args) = parsed("compare", arguments)? else { return Err(unexpected()) };
    let Some(out) = args.out() else { return Err(unexpected()) };
    write(&args, &Extent { shard, division: Division::Files, names }, out, &Output::keeping()).map_err(told)
}

/// `whenstop merge`: the arguments after the command's name.
///
/// # Errors
/// What is missing, doubled or torn; nothing is written then.
pub fn merge(arguments: Vec<OsString>) -> Result<Publication, Diagnostics> {
    let Command::Merge(args) = parsed("merge", arguments)? else { return Err(unexpected()) };
    let publication = merge::merged(&args, &Output::keeping()).map_err(told)?;
    publication.write(&publication.summaries(), args.out(), CsvStyle::Plain)?;
    Ok(publication)
}

/// `whenstop tune`: the arguments after the command's name. Writes a folder where they say `--out` and there is something to
/// ship.
///
/// # Errors
/// Everything that would end the command but a refusal: that is an answer.
pub fn tune(arguments: Vec<OsString>) -> Result<Tuned, Diagnostics> {
    let Command::Tune(args) = parsed("tune", arguments)? else { return Err(unexpected()) };
    tune::answered(&args, &Output::keeping()).map_err(told)
}

/// `whenstop corpus`: the arguments after the command's name. Every run has an entry.
///
/// # Errors
/// Everything that would end the command but files without a run.
pub fn corpus(arguments: Vec<OsString>) -> Result<CorpusReport, Diagnostics> {
    let Command::Corpus(args) = parsed("corpus", arguments)? else { return Err(unexpected()) };
    corpus::listed(&args).map_err(told)
}

fn parsed(command: &str, arguments: Vec<OsString>) -> Result<Command, Diagnostics> {
    let all = ["whenstop", command].map(OsString::from).into_iter().chain(arguments);
    let cli = Cli::try_parse_from(all).map_err(|error| misread(&error))?;
    cli.command.ok_or_else(unexpected)
}

/// What the parser of the arguments has to say, as what and how.
fn misread(error: &clap::Error) -> Diagnostics {
    let text = error.render().to_string();
    let (what, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let what = what.strip_prefix("error: ").unwrap_or(what).trim_end_matches(':');
    // The usage of a command line is of no use to those who have none.
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
