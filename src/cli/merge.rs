//! `whenstop merge`: the parts of a comparison put together.

use std::path::PathBuf;

use super::Exit;
use super::compare::{RowArgs, show};
use super::failure::Failure;
use super::output::{Format, Output};
use crate::diagnostic::{Diagnostic, Location};
use crate::report::{FollowedReport, Merge, Publication};

/// Arguments of `merge`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Folders that `compare --shard` wrote, or folders of them.
    #[arg(required = true, value_name = "DIR")]
    parts: Vec<PathBuf>,
    /// Folder for rows, tables and figures: the files of one comparison of everything, to the byte.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    rows: RowArgs,
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// `whenstop merge`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let merge = Merge::open(&args.parts).map_err(Failure::input)?;
    let Some(manifest) = merge.comparison().cloned() else {
        return Err(Failure::nothing("no part", "give the folders that `compare --shard` wrote"));
    };
    let unreadable = merge.unreadable();
    if unreadable > 0 {
        let what = format!("{unreadable} inputs of these parts could not be read, or not to the end");
        output.error(&Diagnostic::new(Location::default(), what, "`whenstop corpus` says which, and why"));
    }
    let (rows, firings) = merge.rows().map_err(Failure::input)?;
    if rows.is_empty() {
        return Err(Failure::nothing("the parts hold no run", "compare recordings that have some"));
    }
    output.note(&format!("{} parts", merge.n_parts()));
    let (followed, stories) = merge.told(&rows).map_err(Failure::input)?;
    let (found, noun) = (manifest.found.clone(), manifest.noun());
    let publication = Publication::from_rows(rows, firings, manifest)
        .with_row_format(args.rows.format())
        .with_whole_budget(args.rows.budget.whole_budget)
        .with_stories(stories, found)
        .with_followed(FollowedReport::new(followed, noun));
    show(&publication, args.format, Some(&args.out), output)
}
