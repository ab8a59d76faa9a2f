//! `whenstop report`: redraws the tables and figures of saved rows.

use std::path::PathBuf;

use super::{BudgetArgs, Exit, show};
use crate::answers::Appetite;
use crate::cli::destination::Destination;
use crate::cli::failure::Failure;
use crate::cli::output::{Format, Output};
use crate::cli::values::share;
use crate::report::{FolderFormat, Manifest, Publication, Saved, read_saved};

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A folder that `compare --out` wrote.
    #[arg(value_name = "DIR")]
    rows: PathBuf,
    /// Folder for the redrawn tables and figures; by default the same folder.
    #[arg(long, value_name = "DIR")]
    out: Option<Destination>,
    /// The share of successes a stack may kill; by default as in the folder's manifest.
    #[arg(long, value_name = "RATE", value_parser = share)]
    max_killed: Option<f64>,
    /// Show every stack in the table, not only the best eight.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    budget: BudgetArgs,
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: ReportShown,
    /// With `--format pr`: the stack that runs today; by default the one of the comparison.
    #[arg(long, value_name = "STACK")]
    today: Option<String>,
    /// With `--format pr`: the stack proposed instead; by default the only other one.
    #[arg(long, value_name = "STACK")]
    proposed: Option<String>,
}

/// Output formats of saved results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum ReportShown {
    /// Columns for a terminal.
    #[default]
    Table,
    /// One JSON document.
    Json,
    /// CSV with a header line.
    Csv,
    /// A Markdown table.
    Md,
    /// A LaTeX table for a paper, with the package `booktabs`.
    Latex,
    /// Evidence for a pull request in another project: default against proposed, in Markdown, with bounds.
    Pr,
}

/// `whenstop report`.
pub(in crate::cli) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let Saved { evidence, manifest, row_format } = read_saved(&args.rows).map_err(Failure::input)?;
    if evidence.rows.is_empty() {
        return Err(Failure::nothing("the folder has no row", "write it again with `compare --out`"));
    }
    let appetite = Appetite {
        max_killed: args.max_killed.unwrap_or(manifest.appetite.max_killed),
        all: args.all,
        ..manifest.appetite
    };
    let publication = Publication::new(evidence, Manifest { appetite, ..manifest });
    let format = match args.format {
        ReportShown::Table => Format::Table,
        ReportShown::Json => Format::Json,
        ReportShown::Csv => Format::Csv,
        ReportShown::Md => Format::Md,
        ReportShown::Latex => Format::Latex,
        ReportShown::Pr => {
            let summaries = publication.summaries();
            let (default, proposed) = (args.today.as_deref(), args.proposed.as_deref());
            let text = publication.pull_request(&summaries, default, proposed).map_err(Failure::usage)?;
            output.bytes(text.as_bytes());
            return Ok(Exit::Done);
        }
    };
    let out = args.out.as_deref().unwrap_or(&args.rows);
    let folder = FolderFormat { rows: row_format, whole_budget: args.budget.whole_budget, csv: output.csv_style() };
    show(&publication, format, Some((out, folder)), output)
}
