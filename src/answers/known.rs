//! On how many of the runs a number is known: the same words for a decision and for a gate.

use crate::aggregate::{Count, Summary, Unit};

/// What a run can lack, by the count of the summary that says on how many runs, in words.
pub const UNREAD: (Count, &str) = (Count::NotEvaluableRuns, "lack what a rule reads");
/// The stack left the recorded path.
pub const DIVERGED: (Count, &str) =
    (Count::Diverged, "were warned, asked or refused a call, and what follows is not recorded");
/// Nobody graded the run.
pub const UNGRADED: (Count, &str) = (Count::UnlabelledRuns, "have no outcome (`--labels`)");

/// What is missing on how many runs, in words; empty if nothing is.
pub fn missing(summary: &Summary, causes: &[(Count, &str)], unit: Option<Unit>) -> String {
    let mut parts: Vec<String> = causes
        .iter()
        .filter(|(count, _)| summary.counted(*count) > 0)
        .map(|(count, words)| format!("{} of {} runs {words}", summary.counted(*count), summary.runs))
        .collect();
    let recorded = match unit {
        Some(Unit::Tokens) => Some((summary.counted(Count::RunsWithTokens), "tokens")),
        Some(Unit::CostUsd) => Some((summary.counted(Count::RunsWithCosts), "cost (`--price`)")),
        _ => None,
    };
    if let Some((recorded, what)) = recorded.filter(|(recorded, _)| *recorded < summary.runs) {
        parts.push(format!("{} of {} runs record no {what}", summary.runs - recorded, summary.runs));
    }
    parts.join("; ")
}

/// Formats `known on 76 % of the runs, 95 % are needed (`--min-known`)`.
pub fn known_on(known: f64, needed: f64) -> String {
    let percent = |share: f64| (share * 1000.0).floor() / 10.0;
    format!("known on {} % of the runs, {} % are needed (`--min-known`)", percent(known), percent(needed))
}

/// The same with what is missing, for kills and savings.
pub(super) fn too_little(known: f64, needed: f64, summary: &Summary, unit: Unit) -> String {
    format!("{}: {}", known_on(known, needed), missing(summary, &[UNREAD, DIVERGED, UNGRADED], Some(unit)))
}
