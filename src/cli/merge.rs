//! `whenstop merge`: combines the parts of a comparison.

use std::path::{Path, PathBuf};

use super::Exit;
use super::compare::{RowArgs, show};
use super::destination::Destination;
use super::failure::Failure;
use super::output::{Format, Output};
use crate::diagnostic::{Diagnostic, Location};
use crate::report::{CsvStyle, FolderFormat, Merge, Publication, unreadable};

/// Arguments of `merge`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Folders that `compare --shard` wrote, or folders of them.
    #[arg(required = true, value_name = "DIR")]
    parts: Vec<PathBuf>,
    /// Folder for rows, tables and figures: byte-identical to one comparison of everything.
    #[arg(long, value_name = "DIR")]
    out: Destination,
    #[command(flatten)]
    rows: RowArgs,
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// `whenstop merge`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let publication = merged(args, output)?;
    show(&publication, args.format, Some((&args.out, args.folder_format(output.csv_style()))), output)
}

/// Merges the parts.
pub(super) fn merged(args: &Args, output: &Output) -> Result<Publication, Failure> {
    let merge = Merge::open(&args.parts).map_err(Failure::input)?;
    let unread = merge.found().unreadable;
    if unread > 0 {
        let what = unreadable(unread);
        output.error(&Diagnostic::new(Location::default(), what, "`whenstop corpus` says which, and why"));
    }
    let Some((evidence, manifest)) = merge.evidence().map_err(Failure::input)? else {
        return Err(Failure::nothing("the parts hold no run", "compare recordings that have some"));
    };
    output.note(&format!("{} parts", merge.n_parts()));
    Ok(Publication::new(evidence, manifest))
}

impl Args {
    /// The output folder.
    pub(super) fn out(&self) -> &Path {
        &self.out
    }

    /// The formats of the folder.
    pub(super) fn folder_format(&self, csv: CsvStyle) -> FolderFormat {
        self.rows.folder_format(csv)
    }
}
