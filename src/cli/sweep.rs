//! `whenstop sweep`: tries many limits of one or more signals at once.

mod answer;
mod arguments;
mod cache;
mod findings;
mod manifest;
mod recordings;
mod settings;
mod wide;

use super::Exit;
use super::destination::Destination;
use super::failure::Failure;
use super::inputs::{AssumptionArgs, CorpusArgs, DOUBTS, LabelErrorArgs};
use super::output::{Format, Output};
use super::values::share;
use crate::aggregate::SEED;
use crate::diagnostic::{Diagnostic, Location, nearest};
use crate::report::refuse_foreign;
use crate::stats::split::optimism;
use crate::sweep::Grid;

pub(super) use arguments::{GridArgs, SplitArgs, SplitPart, divided, headline};
pub(super) use recordings::{Reading, Recordings};

/// Arguments of `sweep`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    grid: GridArgs,
    #[command(flatten)]
    wide: wide::WideArgs,
    /// The setting the others are compared with, by name, or `none`; by default the first signal's most conservative
    /// one.
    #[arg(long, value_name = "SETTING")]
    baseline: Option<String>,
    /// Choose the setting that saves most among those whose rate of false early stops is at most this, at the upper
    /// end of its 95 % interval.
    #[arg(long, value_name = "RATE", default_value_t = 0.05, value_parser = share)]
    max_killed: f64,
    /// Seed of the resamples behind adjusted p-values.
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,
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
    errors: LabelErrorArgs,
    #[command(flatten, next_help_heading = DOUBTS)]
    assumptions: AssumptionArgs,
}

/// `whenstop sweep`: every stack of a grid file, or every limit of the signals named.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    if let Some(out) = &args.out {
        let names = ["manifest.json", "sweep.md", "sweep.csv", "stacks.toml"];
        refuse_foreign(out, names.into_iter()).map_err(Failure::input)?;
    }
    match &args.wide.grid {
        Some(path) => wide::run(args, path, output),
        None => settings::run(args, output),
    }
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

/// The error for an unknown setting `name`.
pub(super) fn unknown_setting(name: &str, grid: &Grid) -> Failure {
    let names = || grid.settings.iter().map(crate::sweep::Setting::name);
    let help = nearest(name, names())
        .map_or_else(|| names().collect::<Vec<_>>().join("; "), |near| format!("did you mean `{near}`?"));
    Failure::usage(Diagnostic::new(Location::default(), format!("no setting is named `{name}`"), help))
}

/// How much better the chosen stack looks on the dev tasks than on the test tasks, in words.
fn points(dev: Option<f64>, test: Option<f64>) -> String {
    optimism(dev, test).map_or_else(|| "undefined".to_owned(), |gap| format!("{:+.1} points", gap * 100.0))
}
