//! `whenstop sweep`: tries every stack of a grid.

mod answer;
mod cache;
mod findings;
mod manifest;
mod recordings;
mod wide;

use super::Exit;
use super::destination::Destination;
use super::failure::Failure;
use super::inputs::{AssumptionArgs, CorpusArgs, DOUBTS, SplitArgs};
use super::output::{Format, Output};
use super::values::share;
use crate::report::refuse_foreign;
use crate::stats::split::optimism;

use recordings::Reading;

/// Arguments of `sweep`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    wide: wide::WideArgs,
    /// Choose the setting that saves most among those whose rate of false early stops is at most this, at the upper
    /// end of its 95 % interval.
    #[arg(long, value_name = "RATE", default_value_t = 0.05, value_parser = share)]
    max_killed: f64,
    /// Folder for the table, the figure and the manifest; without it only the table is printed.
    #[arg(long, value_name = "DIR")]
    out: Option<Destination>,
    /// Also write `sweep-rows.csv`: one row per run and setting.
    #[arg(long, requires = "out")]
    rows: bool,
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten, next_help_heading = "Splitting the tasks")]
    split: SplitArgs,
    #[command(flatten, next_help_heading = DOUBTS)]
    assumptions: AssumptionArgs,
}

/// `whenstop sweep`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    if let Some(out) = &args.out {
        let names = ["manifest.json", "sweep.md", "sweep.csv", "stacks.toml"];
        refuse_foreign(out, names.into_iter()).map_err(Failure::input)?;
    }
    wide::run(args, output)
}

impl Args {
    fn reading(&self) -> Reading<'_> {
        Reading {
            corpus: &self.corpus,
            split: &self.split,
            assumptions: self.assumptions.assumptions(),
            cache: self.wide.cache.as_deref(),
        }
    }
}

/// How much better the chosen stack looks on the dev tasks than on the test tasks, in words.
fn points(dev: Option<f64>, test: Option<f64>) -> String {
    optimism(dev, test).map_or_else(|| "undefined".to_owned(), |gap| format!("{:+.1} points", gap * 100.0))
}
