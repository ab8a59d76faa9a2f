//! The results of one stack's stops: the few numbers a reviewer looks at first.

use std::collections::BTreeMap;

use serde::Serialize;

use super::StopLine;
use crate::aggregate::{Count, Group, RowView, Summary, Unit};
use crate::transcript::Outcome;
use crate::verdict::Verdict;

/// A number that may be known only within bounds; an end is `None` if nothing limits it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct BoundedNumber {
    /// Lower bound.
    pub low: Option<f64>,
    /// Upper bound.
    pub high: Option<f64>,
}

impl BoundedNumber {
    /// A number that is known.
    pub fn exactly(value: f64) -> Self {
        Self { low: Some(value), high: Some(value) }
    }

    /// A count from `low` to `high`.
    fn counted(low: u64, high: u64) -> Self {
        Self { low: Some(low as f64), high: Some(high as f64) }
    }

    /// Rounded to four decimals, as written: smaller differences do not count.
    fn rounded(low: Option<f64>, high: Option<f64>) -> Self {
        let round = |value: f64| (value * 1e4).round() / 1e4 + 0.0;
        Self { low: low.map(round), high: high.map(round) }
    }
}

/// The numbers of one stack on one corpus.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackNumbers {
    /// Number of runs.
    pub runs: u64,
    /// Runs ended early.
    pub stops: BoundedNumber,
    /// Successes killed, among those that could be judged.
    pub kills: BoundedNumber,
    /// Successes that could be judged.
    pub successes: u64,
    /// Failures ended early, among those that could be judged.
    pub true_stops: BoundedNumber,
    /// Failures that could be judged.
    pub failures: u64,
    /// The unit of `saved` and `cost_per_success`: `cost`, `tokens` or `steps`.
    pub unit: String,
    /// Saved on failures and after success, as a share of what was recorded.
    pub saved: BoundedNumber,
    /// Spent per success kept, relative to the same without stopping.
    pub cost_per_success: Option<f64>,
    /// Runs for which something counted here is unknown; `None` if the snapshot does not say.
    pub unknown: Option<u64>,
}

impl StackNumbers {
    /// Computes the numbers from a stack's rows and their summary.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime, the closure of any")]
    pub(super) fn from_summary(summary: &Summary, group: &Group<'_>, unit: Unit) -> Self {
        let sum = |of: fn(RowView<'_>) -> u8, counts: fn(RowView<'_>) -> bool| -> u64 {
            group.rows().filter(|row| counts(*row)).map(|row| u64::from(of(row))).sum()
        };
        let judged_failure = |row: RowView<'_>| row.is_judged() && row.outcome() == Outcome::Failure;
        let ratios = summary.ratios_in(unit);
        Self {
            runs: summary.runs,
            stops: BoundedNumber::counted(
                sum(|row| row.stopped_low(), |_| true),
                sum(|row| row.stopped_high(), |_| true),
            ),
            kills: BoundedNumber::counted(summary.counted(Count::Killed), summary.counted(Count::KilledMax)),
            successes: summary.counted(Count::JudgedSuccesses),
            true_stops: BoundedNumber::counted(
                sum(|row| row.true_stop_low(), judged_failure),
                sum(|row| row.true_stop_high(), judged_failure),
            ),
            failures: summary.counted(Count::JudgedFailures),
            unit: unit.noun().to_owned(),
            saved: BoundedNumber::rounded(ratios.useful.low.value, ratios.useful.high.value),
            cost_per_success: BoundedNumber::rounded(ratios.cost_of_success.ratio.value, None).low,
            unknown: Some(summary.counted(Count::Unknown)),
        }
    }

    /// Computes what verdicts alone can tell: counts on the recorded path, and no savings.
    pub(super) fn from_verdicts(stops: &BTreeMap<String, StopLine>) -> Self {
        let count = |wanted: &[Verdict]| {
            stops.values().filter(|stop| wanted.iter().any(|verdict| verdict.name() == stop.verdict)).count() as u64
        };
        let kills = count(&[Verdict::FalseEarlyStop, Verdict::UnverifiedFalseEarlyStop]);
        let true_stops = count(&[Verdict::TrueStop, Verdict::Rescued]);
        let stopped = stops.values().filter(|stop| stop.rule.is_some()).count() as u64;
        Self {
            runs: stops.len() as u64,
            stops: BoundedNumber::counted(stopped, stopped),
            kills: BoundedNumber::counted(kills, kills),
            successes: kills + count(&[Verdict::GoodTrim, Verdict::CleanPass]),
            true_stops: BoundedNumber::counted(true_stops, true_stops),
            failures: true_stops + count(&[Verdict::MissedStop, Verdict::LostSuccess]),
            unit: Unit::Steps.noun().to_owned(),
            saved: BoundedNumber::default(),
            cost_per_success: None,
            unknown: None,
        }
    }
}
