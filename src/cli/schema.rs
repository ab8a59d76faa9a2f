//! `whenstop schema`: prints the JSON Schema of one of whenstop's own formats, or what the columns of a file mean.

use clap::builder::{PossibleValue, PossibleValuesParser};

use super::ProgramExit;
use super::failure::CommandFailure;
use super::output::{Output, TableFormat, is_seen};
use crate::report::schema::{self, FileSpec};
use crate::{guard, reader, review};

/// Arguments of `schema`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Which format.
    #[arg(value_parser = what())]
    what: String,
}

/// Documents with a schema, and what each is.
const DOCUMENTS: [(&str, &str); 4] = [
    ("trace", "One line of a `whenstop trace v1` file"),
    ("check", "`check --format json` and `diff --format json`"),
    ("lint", "`lint --format json`"),
    ("guard", "The lines between whenstop and a guard, in both directions"),
];

/// The argument that names a document, or a file of which to show the columns.
fn what() -> PossibleValuesParser {
    let documents = DOCUMENTS.map(|(name, about)| PossibleValue::new(name).help(about));
    let columns = |file: FileSpec| PossibleValue::new(file.name).help(format!("The columns of `{}.csv`", file.name));
    PossibleValuesParser::new(documents.into_iter().chain(schema::files().into_iter().map(columns)))
}

pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    match args.what.as_str() {
        "trace" => output.bytes(reader::trace_schema().as_bytes()),
        "check" => output.bytes(review::CHECK_SCHEMA.as_bytes()),
        "guard" => output.bytes(guard::SCHEMA.as_bytes()),
        "lint" => output.bytes(review::LINT_SCHEMA.as_bytes()),
        columns => show_columns(columns, output)?,
    }
    Ok(ProgramExit::Done)
}

/// What the columns of a file mean, as a table: in Markdown unless a terminal shows it.
fn show_columns(name: &str, output: &Output) -> Result<(), CommandFailure> {
    let file = schema::files().into_iter().find(|file| file.name == name);
    let file = file.expect("every file that can be asked for has its columns");
    output.paragraph(&format!("{}.csv, version {}. {}", file.name, file.version, file.line));
    output.data("\n");
    let format = if is_seen() { TableFormat::Table } else { TableFormat::Md };
    output.table(&file.table(), format)?;
    if name == "estimates" {
        output.data("\n");
        output.paragraph("The numbers, for `estimates.csv` and for gates. A gate may end an estimate's name in `_low`, `_high`, `_min` or `_max`.");
        output.data("\n");
        output.table(&schema::numbers(), format)?;
    }
    Ok(())
}
