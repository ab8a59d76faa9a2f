//! `whenstop schema`: prints the JSON Schema of one of whenstop's own formats.

use clap::ValueEnum;

use super::Exit;
use super::failure::Failure;
use super::output::Output;
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
}

/// `whenstop schema`.
#[expect(clippy::unnecessary_wraps, reason = "the shape of every command")]
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    match args.what {
        What::Trace => output.bytes(reader::trace_schema().as_bytes()),
        What::Check => output.bytes(review::CHECK_SCHEMA.as_bytes()),
        What::Guard => output.bytes(guard::SCHEMA.as_bytes()),
        What::Lint => output.bytes(review::LINT_SCHEMA.as_bytes()),
    }
    Ok(Exit::Done)
}
