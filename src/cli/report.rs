//! `whenstop report`: redraws the tables and figures of saved rows, and merges the parts of a comparison.

use std::path::PathBuf;

use super::ProgramExit;
use super::compare::{BudgetArgs, row_format, show};
use super::destination::Destination;
use super::failure::CommandFailure;
use super::output::{AnswerFormat, Output, TableFormat};
use super::tune::{TuneResult, answered_parts, show_parts};
use super::values::share;
use crate::answers::Tolerances;
use crate::diagnostic::{Diagnostic, Location};
use crate::report::{FolderFormat, Manifest, Merge, PartSearch, Publication, RowFormat, Saved, read_saved, unreadable};

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A folder that `compare --out` wrote; or the parts that `compare --shard` or `tune --shard` wrote, or folders of
    /// them: they are merged, to the bytes of one comparison or search of everything.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Folder for rows, tables and figures; by default the same folder. Parts need one.
    #[arg(long, value_name = "DIR")]
    out: Option<Destination>,
    /// The share of successes a stack may kill; by default as in the folder's manifest.
    #[arg(long, value_name = "RATE", value_parser = share)]
    max_killed: Option<f64>,
    /// Show every stack in the table, not only the best eight.
    #[arg(long)]
    all: bool,
    /// Write rows and firings as `csv`, or as `parquet`; by default as they are, those of parts as `csv`.
    #[arg(long, value_name = "FORMAT", value_parser = row_format(), hide_short_help = true)]
    rows: Option<RowFormat>,
    #[command(flatten)]
    budget: BudgetArgs,
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: AnswerFormat,
    /// With `--format pr`: the stack that runs today; by default the one of the comparison.
    #[arg(long, value_name = "STACK")]
    today: Option<String>,
    /// With `--format pr`: the stack proposed instead; by default the only other one.
    #[arg(long, value_name = "STACK")]
    proposed: Option<String>,
}

/// `whenstop report`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let Saved { evidence, manifest, row_format } = if Merge::is_asked(&args.folders) {
        let merge = Merge::open(&args.folders).map_err(CommandFailure::input)?;
        if let Some(search) = merge.search() {
            return answer_search(args, &merge, &search, output);
        }
        if args.out.is_none() && args.format != AnswerFormat::Pr {
            return Err(wrong("these are parts of a comparison", "name a folder for the whole with `--out DIR`"));
        }
        merged(&merge, output)?
    } else {
        saved(&args.folders)?
    };
    let appetite = Tolerances {
        max_killed: args.max_killed.unwrap_or(manifest.appetite.max_killed),
        all: args.all || manifest.appetite.all,
        ..manifest.appetite
    };
    let publication = Publication::new(evidence, Manifest { appetite, ..manifest });
    let Some(format) = args.format.table_format() else {
        let (default, proposed) = (args.today.as_deref(), args.proposed.as_deref());
        let text = publication.pull_request(default, proposed).map_err(CommandFailure::usage)?;
        output.bytes(text.as_bytes());
        return Ok(ProgramExit::Done);
    };
    let out = args.out.as_deref().or(args.folders.first().map(PathBuf::as_path));
    show(&publication, format, out.map(|out| (out, folder_format(args, row_format, output))), output)
}

/// Answers a search from its parts.
fn answer_search(
    args: &Args,
    merge: &Merge,
    search: &PartSearch,
    output: &Output,
) -> Result<ProgramExit, CommandFailure> {
    let Some(format) = args.format.table_format() else {
        let what = "`--format pr` compares stacks, and these are parts of a search";
        let help = "compare what it ships with `whenstop compare RUNS --stacks tuned.toml --out DIR`, and report that";
        return Err(wrong(what, help));
    };
    let given = [
        ("--max-killed", args.max_killed.is_some()),
        ("--all", args.all),
        ("--rows", args.rows.is_some()),
        ("--whole-budget", args.budget.whole_budget),
        ("--today", args.today.is_some()),
        ("--proposed", args.proposed.is_some()),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        let what = format!("`{option}` is not for a search, and these are the parts of one");
        return Err(wrong(
            &what,
            "leave it out; what was asked is in the parts: to ask something else, write them anew",
        ));
    }
    tell_unreadable(merge, output);
    output.note(&format!("{} parts", merge.n_parts()));
    show_parts(merge, search, format, args.out.as_deref(), output)
}

/// The answer of a search from its parts, as values; its files are written to the folder of `--out`.
pub(super) fn searched(args: &Args, output: &Output) -> Result<TuneResult, CommandFailure> {
    let merge = Merge::open(&args.folders).map_err(CommandFailure::input)?;
    let Some(search) = merge.search() else {
        return Err(CommandFailure::nothing("no part of a search here", "give the folders that `tune --shard` wrote"));
    };
    Ok(answered_parts(&merge, &search, TableFormat::Table, args.out.as_deref(), output)?.0)
}

/// What a folder holds.
fn saved(folders: &[PathBuf]) -> Result<Saved, CommandFailure> {
    let [folder] = folders else {
        return Err(wrong("several folders, and none holds parts of a comparison", "redraw one folder at a time"));
    };
    let saved = read_saved(folder).map_err(CommandFailure::input)?;
    if saved.evidence.rows.is_empty() {
        return Err(CommandFailure::nothing("the folder has no row", "write it again with `compare --out`"));
    }
    Ok(saved)
}

fn wrong(what: &str, help: &str) -> CommandFailure {
    CommandFailure::arguments(what, help)
}

fn tell_unreadable(merge: &Merge, output: &Output) {
    let unread = merge.found().unreadable;
    if unread > 0 {
        let what = unreadable(unread);
        output.error(&Diagnostic::new(Location::default(), what, "`whenstop corpus` says which, and why"));
    }
}

/// The parts of a comparison, put together.
fn merged(merge: &Merge, output: &Output) -> Result<Saved, CommandFailure> {
    tell_unreadable(merge, output);
    let Some((evidence, manifest)) = merge.evidence().map_err(CommandFailure::input)? else {
        return Err(CommandFailure::nothing("the parts hold no run", "compare recordings that have some"));
    };
    output.note(&format!("{} parts", merge.n_parts()));
    Ok(Saved { evidence, manifest, row_format: RowFormat::Csv })
}

/// The parts put together, written to the folder of `--out`.
pub(super) fn written(args: &Args, output: &Output) -> Result<Publication, CommandFailure> {
    let merge = Merge::open(&args.folders).map_err(CommandFailure::input)?;
    let Saved { evidence, manifest, row_format } = merged(&merge, output)?;
    let publication = Publication::new(evidence, manifest);
    if let Some(out) = &args.out {
        let folder = folder_format(args, row_format, output);
        publication.write(out, folder).map_err(CommandFailure::input)?;
    }
    Ok(publication)
}

/// How the folder is written: rows as they were, unless the user says otherwise.
fn folder_format(args: &Args, row_format: RowFormat, output: &Output) -> FolderFormat {
    let rows = args.rows.unwrap_or(row_format);
    FolderFormat { rows, whole_budget: args.budget.whole_budget, csv: output.csv }
}
