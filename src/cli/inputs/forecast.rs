//! `--forecast FILE`: what `corpus --forecast --out` kept, told of a run that is looked at.

use std::path::Path;

use serde::Deserialize;

use super::{ByArg, read_text};
use crate::cli::forecast::{amount, range};
use crate::diagnostic::{Diagnostic, Location, count};
use crate::forecast::{Amount, Forecast, RunCourse};
use crate::snapshot::known_or;
use crate::transcript::Run;
use crate::words::digits;

/// Forecasts that were kept.
#[derive(Debug, Default, Deserialize)]
pub(in crate::cli) struct KeptForecasts {
    /// What divides runs into classes.
    by: Option<String>,
    forecasts: Vec<Forecast>,
}

impl KeptForecasts {
    /// Reads a file; without one there are no forecasts.
    pub(in crate::cli) fn read(path: Option<&Path>) -> Result<Self, Diagnostic> {
        const HELP: &str = "name a file that `whenstop corpus RUNS --forecast --out FILE` wrote";
        let Some(path) = path else { return Ok(Self::default()) };
        let mut kept: Self = serde_json::from_str(&read_text(path, HELP)?).map_err(|error| {
            let what = format!("these are no forecasts: {error}");
            Diagnostic::new(Location::file(path.display().to_string()), what, HELP)
        })?;
        kept.forecasts.sort_by(|a, b| (&a.class, a.after, a.amount).cmp(&(&b.class, b.after, b.amount)));
        Ok(kept)
    }

    /// What divided the runs into classes when the forecasts were made.
    pub(in crate::cli) fn by(&self) -> Option<ByArg> {
        ByArg::parse(self.by.as_deref()?).ok()
    }

    /// The forecasts for the class of a run, by steps taken.
    fn for_run(&self, run: &Run) -> Vec<&[Forecast]> {
        let class = ByArg::by(self.by().as_ref()).label(run);
        let of_steps = self.forecasts.chunk_by(|a, b| (&a.class, a.after) == (&b.class, b.after));
        of_steps.filter(|all| all.iter().all(|of| class.as_deref() == Some(of.class.as_str()))).collect()
    }

    /// The forecasts for a run that has taken `steps`: those made closest before.
    pub(in crate::cli) fn reached(&self, run: &Run, steps: usize) -> &[Forecast] {
        let before = |all: &&[Forecast]| all.iter().all(|of| of.after <= steps as u64);
        self.for_run(run).into_iter().rfind(before).unwrap_or_default()
    }

    /// For each number of steps that a finished run got to: what was to come, and what came.
    pub(in crate::cli) fn told(&self, run: &Run) -> Vec<String> {
        let of_class = self.for_run(run);
        let after: Vec<u64> = of_class.iter().filter_map(|all| Some(all.first()?.after)).collect();
        let course = RunCourse::from_run(run, ByArg::by(self.by().as_ref()), &after);
        let told = |(all, left): (&&[Forecast], &_)| {
            let came_of = |of: &Forecast| {
                known_or("?", of.amount.pick(*left).map(|left| amount(of.amount, left) + unit(of.amount)))
            };
            let came: Vec<String> = all.iter().map(came_of).collect();
            format!("=> {}; came: {}", to_come(all), came.join(", "))
        };
        of_class.iter().zip(course.left()).map(told).collect()
    }
}

fn unit(of: Amount) -> &'static str {
    match of {
        Amount::Steps => " steps",
        Amount::Tokens => " tokens",
        Amount::CostUsd | Amount::Ms => "",
    }
}

/// What is to come after so many steps, in words: the median, and P10 to P90.
pub(in crate::cli) fn to_come(all: &[Forecast]) -> String {
    let Some(first) = all.first() else { return String::new() };
    let ranges: Vec<String> = all.iter().map(|of| range(of) + unit(of.amount)).collect();
    let covered = all.iter().filter_map(|of| of.covered).reduce(f64::min);
    let covered = covered.map(|covered| format!(" (held for {} %)", digits(covered))).unwrap_or_default();
    format!("after {} to come: {}{covered}", count(first.after, "step"), ranges.join(", "))
}
