//! One line a stack: counts, rates with intervals, bounds, and sums.

use std::collections::BTreeSet;

use super::frame::{Sums, sums};
use super::{Estimates, Group, Label, OutcomeBounds, SavingRatios, Savings, Unit};
use crate::verdict::Verdict;

/// The line of one group.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The stack.
    pub stack: Label,
    /// Its profile.
    pub profile: Label,
    /// The suite, in a stratum.
    pub suite: Option<Label>,
    /// The model, in a stratum.
    pub model: Option<Label>,
    /// Runs.
    pub runs: u64,
    /// Distinct tasks.
    pub tasks: u64,
    /// Rates.
    pub estimates: Estimates,
    /// Bounds on success.
    pub outcomes: OutcomeBounds,
    /// What was saved, by unit; `None` where no run tells.
    pub savings: [(Unit, Option<Savings>); 3],
    /// The same as shares with intervals, in the order of [`Unit::ALL`].
    pub ratios: [SavingRatios; 3],
    sums: Sums,
}

impl Summary {
    /// How many runs got `verdict`.
    pub fn count(&self, verdict: Verdict) -> u64 {
        self.counted(verdict.name())
    }

    /// Runs that were stopped early.
    pub fn stops(&self) -> u64 {
        self.counted("stops")
    }

    /// A count by column name; 0 for a name that counted nothing.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of zeros and ones below 2^53")]
    pub fn counted(&self, name: &str) -> u64 {
        self.sums.get(name).map_or(0, |&sum| sum as u64)
    }

    /// A sum by column name; `None` when no run tells.
    pub fn sum(&self, name: &str) -> Option<f64> {
        self.sums.get(name).copied()
    }

    /// What was saved in `unit` as shares with intervals.
    pub fn ratios_in(&self, unit: Unit) -> &SavingRatios {
        let [steps, tokens, cost_usd] = &self.ratios;
        match unit {
            Unit::Steps => steps,
            Unit::Tokens => tokens,
            Unit::CostUsd => cost_usd,
        }
    }

    /// What was saved in `unit`.
    pub fn savings_in(&self, unit: Unit) -> Option<&Savings> {
        self.savings.iter().find(|(of, _)| *of == unit).and_then(|(_, savings)| savings.as_ref())
    }
}

/// Summarises groups, in their order. The error is the data frame library's and means a defect here.
pub fn summarise(groups: &[Group<'_>]) -> Result<Vec<Summary>, polars::error::PolarsError> {
    let sums = sums(groups)?;
    let summaries = groups.iter().zip(sums).map(|(group, sums)| Summary {
        stack: group.stack.clone(),
        profile: group.profile.clone(),
        suite: group.suite.clone(),
        model: group.model.clone(),
        runs: group.rows.len() as u64,
        tasks: group.rows.iter().map(|row| row.cluster()).collect::<BTreeSet<_>>().len() as u64,
        estimates: Estimates::of(group),
        outcomes: OutcomeBounds::of(group),
        savings: Unit::ALL.map(|unit| (unit, Savings::of(group, unit))),
        ratios: Unit::ALL.map(|unit| SavingRatios::of(group, unit)),
        sums,
    });
    Ok(summaries.collect())
}
