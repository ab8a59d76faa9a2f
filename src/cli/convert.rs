//! `whenstop convert`: converts recordings of any format to whenstop's own format.

mod shards;
mod taker;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use clap::ValueEnum;

use super::ProgramExit;
use super::destination::Destination;
use super::failure::CommandFailure;
use super::inputs::{CorpusArgs, process_telling};
use super::output::Output;
use crate::diagnostic::{Diagnostic, Location, count};
use crate::reader::{Corpus, Detail, ReadOptions, RecordedCosts, trace};
use crate::redact::redact;
use crate::report::{CsvStyle, cannot_write, write_atomically, write_folder};
use crate::transcript::{Grade, Header, Run, Spend};
use taker::Taker;

/// Arguments of `convert`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The format to write.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    to: Target,
    /// A file (`runs.jsonl`) for all runs, or a folder (an existing one, or a name without an extension) for one file
    /// per run; by default stdout.
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<Destination>,
    /// Distribute the runs over this many files in the folder given as `--out`; all runs of a task go to the same
    /// file. Useful for engines that give each worker one file.
    #[arg(long, value_name = "N", requires = "out", value_parser = clap::value_parser!(u32).range(1..=MOST_SHARDS))]
    shards: Option<u32>,
    /// Remove the texts: the output only shows which texts are equal and how long they were. Names of tools,
    /// arguments, models and suites stay if they look like names, as do tokens, costs, times and outcomes; ids become
    /// hashes. Anyone who can guess an id can verify the guess, unless there is a `--salt`.
    #[arg(long)]
    redact: bool,
    /// With `--redact`: key the hashes of ids (HMAC-SHA256, 128 bits) with this secret. The same secret gives the same ids.
    /// Use a long random secret: a short one can itself be guessed.
    #[arg(long, value_name = "SECRET", requires = "redact", default_value = "", hide_default_value = true)]
    salt: String,
    #[command(flatten)]
    corpus: CorpusArgs,
}

/// An output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Target {
    /// The native trace format, one line per message (`whenstop schema trace`).
    #[default]
    Trace,
    /// The native trace format in Parquet: one row per run, its lines in the column `trace`, its ids, outcome and sums in
    /// others.
    Parquet,
}

/// Maximum number of files that are written at the same time.
const MOST_SHARDS: i64 = 1000;

/// A run as it will be written: its lines, and what is known of the whole of it.
struct WrittenRun {
    lines: Vec<u8>,
    header: Header,
    grade: Grade,
    n_steps: u64,
    spend: Spend,
}

/// `whenstop convert`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    // A copy keeps a recorded cost of 0 as is: its readers decide how to treat it.
    let copying = |options: ReadOptions| {
        let recorded_costs = match options.recorded_costs {
            RecordedCosts::Overridden => RecordedCosts::Overridden,
            RecordedCosts::Trusted | RecordedCosts::Copied => RecordedCosts::Copied,
        };
        ReadOptions { detail: Detail::Counts, recorded_costs, ..options }
    };
    let corpus = args.corpus.open_with(copying)?;
    let Some(path) = &args.out else {
        if args.to == Target::Parquet {
            let help = "give `--out FILE.parquet`, or `--out DIR --shards N`";
            return Err(CommandFailure::arguments("Parquet needs a file to go to", help));
        }
        convert(&corpus, args, output, |written| {
            output.bytes(&written.lines);
            Ok(())
        })?;
        return Ok(ProgramExit::Done);
    };
    let (runs, each) = match args.shards {
        Some(of) => (shards::write(path, of, &corpus, args, output)?, ""),
        None if args.to == Target::Trace && is_folder(path) => {
            (into_folder(path, &corpus, args, output)?, ", a file each")
        }
        None => (into_file(path, &corpus, args, output)?, ""),
    };
    output.note(&format!("{} written to {}{each}", count(runs, "run"), path.display()));
    Ok(ProgramExit::Done)
}

/// True for an existing folder, or a name that no file would have.
fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.extension().is_none() || path.as_os_str().to_string_lossy().ends_with(['/', '\\'])
}

/// Reads the corpus and passes on its runs as lines, in order. Returns the number of runs. Stops at the first run that
/// cannot be written.
fn convert(
    corpus: &Corpus,
    args: &Args,
    output: &Output,
    mut write: impl FnMut(WrittenRun) -> Result<(), Diagnostic>,
) -> Result<u64, CommandFailure> {
    let mut state = Ok(());
    let work = |run: Run| as_written(if args.redact { redact(&run, &args.salt) } else { run });
    let report = process_telling(corpus, output, work, |written| {
        if state.is_ok() {
            state = written.and_then(&mut write);
        }
    })?;
    state.map_err(CommandFailure::input)?;
    Ok(report.runs())
}

fn as_written(run: Run) -> Result<WrittenRun, Diagnostic> {
    let mut lines = Vec::new();
    trace::write(&run, &mut lines).map_err(|error| {
        let what = format!("cannot write run `{}` as a trace: {error}", run.header.run_id);
        Diagnostic::new(Location::default(), what, "this is a defect of whenstop: please report it")
    })?;
    let (n_steps, spend) = (run.steps().len() as u64, Spend::from_events(run.events()));
    Ok(WrittenRun { lines, header: run.header, grade: run.grade, n_steps, spend })
}

fn into_file(path: &Path, corpus: &Corpus, args: &Args, output: &Output) -> Result<u64, CommandFailure> {
    refuse_packed(path)?;
    if args.to == Target::Parquet && path.is_dir() {
        let help = "give a file, `--out runs.parquet`, or say how many: `--shards N`";
        return Err(CommandFailure::file(path, "one Parquet file, and this is a folder", help));
    }
    let mut runs = Ok(0);
    let written = write_atomically(path, |to| {
        let failed = |error: io::Error| cannot_write(path, &error);
        match args.to {
            Target::Trace => {
                runs = convert(corpus, args, output, |run| to.write_all(&run.lines).map_err(failed));
            }
            Target::Parquet => {
                // The Parquet writer needs a file of its own, which is copied once it is complete.
                let mut file = tempfile::tempfile()?;
                let mut table = Taker::new(args.to, file.try_clone()?)?;
                runs = convert(corpus, args, output, |run| table.take(&run).map_err(failed));
                if runs.is_ok() {
                    table.close()?;
                    io::Seek::rewind(&mut file)?;
                    io::copy(&mut file, to)?;
                }
            }
        }
        if runs.is_ok() { Ok(()) } else { Err(io::Error::other("incomplete")) }
    });
    let runs = runs?;
    written.map_err(CommandFailure::input)?;
    Ok(runs)
}

fn into_folder(folder: &Path, corpus: &Corpus, args: &Args, output: &Output) -> Result<u64, CommandFailure> {
    let mut given = UsedNames::default();
    let mut failed = None;
    let written = write_folder(folder, CsvStyle::Plain, |to| {
        let converted = convert(corpus, args, output, |written| {
            let name = file_name(&written.header.run_id, &mut given);
            write_atomically(&to.join(name), |file| file.write_all(&written.lines))
        });
        converted.map_err(|failure| {
            failed = Some(failure.exit);
            failure.diagnostics.first().clone()
        })
    });
    written.map_err(|diagnostic| CommandFailure {
        diagnostics: diagnostic.into(),
        exit: failed.unwrap_or(ProgramExit::BadInput),
    })
}

/// File names already used.
#[derive(Default)]
struct UsedNames {
    names: HashSet<String>,
    /// For each name requested before: the number the next one gets.
    numbers: HashMap<String, u64>,
}

/// A file name for the run: its id without characters that file systems reject, made unique by a number, also on file
/// systems that ignore case.
fn file_name(run_id: &str, given: &mut UsedNames) -> String {
    const LONGEST: usize = 120;
    let fit = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let mut name: String = run_id.chars().map(fit).take(LONGEST).collect();
    if name.starts_with('.') || name.is_empty() {
        name.insert(0, '_');
    }
    if given.names.insert(name.to_lowercase()) {
        return format!("{name}.jsonl");
    }
    let next = given.numbers.entry(name.to_lowercase()).or_insert(2);
    loop {
        let numbered = format!("{name}~{next}");
        *next += 1;
        if given.names.insert(numbered.to_lowercase()) {
            return format!("{numbered}.jsonl");
        }
    }
}

fn refuse_packed(path: &Path) -> Result<(), CommandFailure> {
    let packed = ["gz", "zst", "zip", "tgz", "tar"];
    match path.extension().and_then(|ending| ending.to_str()).filter(|ending| packed.contains(ending)) {
        None => Ok(()),
        Some(ending) => {
            let help = "call the file `.jsonl` and pack it afterwards; packed files are read as they are";
            Err(CommandFailure::file(path, format!("a trace is not written as `.{ending}`"), help))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_gets_a_file_name_of_its_own() {
        let mut given = UsedNames::default();
        let mut name = |id: &str| file_name(id, &mut given);
        assert_eq!(name("retail/task 7"), "retail_task_7.jsonl");
        assert_eq!(name("retail:task:7"), "retail_task_7~2.jsonl");
        assert_eq!(name("RETAIL_task_7"), "RETAIL_task_7~3.jsonl");
        assert_eq!(name("../.."), "_.._...jsonl");
        assert_eq!(name(""), "_.jsonl");
        assert!(name(&"x".repeat(4000)).len() < 200);
    }
}
