//! `whenstop schema`: prints the JSON Schema of one of whenstop's own formats, or what the columns of a file mean.

use clap::ValueEnum;

use super::ProgramExit;
use super::failure::CommandFailure;
use super::output::{Output, TableFormat, is_seen};
use crate::report::schema;
use crate::{guard, reader, review};

/// Arguments of `schema`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Which format.
    #[arg(value_enum)]
    what: What,
}

/// Formats with a schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// One line of a `whenstop trace v1` file.
    Trace,
    /// `check --format json` and `diff --format json`.
    Check,
    /// `lint --format json`.
    Lint,
    /// The lines between whenstop and a guard, in both directions.
    Guard,
    /// The columns of `summary.csv`.
    Summary,
    /// The columns of `strata.csv`.
    Strata,
    /// The columns of `estimates.csv`, and the numbers in it: the metrics of `check --fail-on`.
    Estimates,
    /// The columns of `pairs.csv`.
    Pairs,
    /// The columns of `frontier.csv`.
    Frontier,
    /// The columns of `rules.csv`.
    Rules,
    /// The columns of `budget.csv`.
    Budget,
    /// The columns of `rows.csv` and `rows.parquet`.
    Rows,
    /// The columns of `firings.csv` and `firings.parquet`.
    Firings,
    /// The columns of `against.csv`.
    Against,
    /// The columns of `against-steps.csv`.
    AgainstSteps,
    /// The columns of `walk-forward.csv`.
    WalkForward,
    /// The columns of `followed.csv`.
    Followed,
}

/// `whenstop schema`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    match args.what {
        What::Trace => output.bytes(reader::trace_schema().as_bytes()),
        What::Check => output.bytes(review::CHECK_SCHEMA.as_bytes()),
        What::Guard => output.bytes(guard::SCHEMA.as_bytes()),
        What::Lint => output.bytes(review::LINT_SCHEMA.as_bytes()),
        columns => show_columns(columns, output)?,
    }
    Ok(ProgramExit::Done)
}

/// What the columns of a file mean, as a table: in Markdown unless a terminal shows it.
fn show_columns(what: What, output: &Output) -> Result<(), CommandFailure> {
    let name = what.to_possible_value().map(|value| value.get_name().to_owned());
    let file = schema::files().into_iter().find(|file| name.as_deref() == Some(file.name));
    let file = file.expect("every file that can be asked for has its columns");
    output.paragraph(&format!("{}.csv, version {}. {}", file.name, file.version, file.line));
    output.data("\n");
    let format = if is_seen() { TableFormat::Table } else { TableFormat::Md };
    output.table(&file.table(), format)?;
    if matches!(what, What::Estimates) {
        output.data("\n");
        output.paragraph("The numbers, for `estimates.csv` and for gates. A gate may end an estimate's name in `_low`, `_high`, `_min` or `_max`.");
        output.data("\n");
        output.table(&schema::numbers(), format)?;
    }
    Ok(())
}
