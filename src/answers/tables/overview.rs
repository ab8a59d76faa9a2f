//! The table for people: one line per stack, seven columns that fit 80 characters.

use super::{DataTable, NamedCells, TableCell};
use crate::aggregate::{CorrectedRate, CostOfSuccess, Count, Summary, Unit};
use crate::answers::words::{bounded_percent, ends};
use crate::stats::RangeEstimate;
use crate::words::{counts, digits, span};

/// The overview in `unit`, in the order given. Letters after the unknown share: `r` a rule could not be evaluated, `d`
/// the stack left the recorded path, `u` nobody graded the run.
pub fn overview<'s>(summaries: impl IntoIterator<Item = &'s Summary>, unit: Unit) -> DataTable {
    let lines = summaries.into_iter().map(|summary| {
        let mut line = NamedCells::default();
        line.push("stack", TableCell::Text(summary.stack.to_string()));
        line.push("stops", stops(summary));
        line.push("killed, at most %", killed(summary));
        if let Some(corrected) = &summary.corrected {
            line.push("corrected for labels", corrected_interval(corrected));
        }
        line.push("unknown", unknown(summary));
        line.push("failures stopped", share(&summary.estimates.stop_recall));
        line.push(format!("{} saved", unit.noun()), share(&summary.ratios_in(unit).useful));
        line.push("cost per success", change(&summary.ratios_in(unit).cost_of_success));
        line
    });
    DataTable::from_lines(lines.collect())
}

/// The same for a paper, which has room for the interval of what is saved.
pub fn overview_for_paper<'s>(summaries: impl IntoIterator<Item = &'s Summary> + Clone, unit: Unit) -> DataTable {
    let mut table = overview(summaries.clone(), unit);
    let saved = format!("{} saved", unit.noun());
    if let Some(column) = table.columns.iter().position(|name| *name == saved) {
        table.columns[column] = format!("{saved}, %");
        for (row, summary) in table.rows.iter_mut().zip(summaries) {
            let useful = &summary.ratios_in(unit).useful;
            row[column] = match (useful.low.value, useful.high.value) {
                (None, Some(high)) => TableCell::Text(format!("≤{}", digits(high))),
                _ => interval(useful),
            };
        }
    }
    table
}

/// The overview if no run is graded: what was stopped and saved, without judging it.
pub fn ungraded<'s>(summaries: impl IntoIterator<Item = &'s Summary>, unit: Unit) -> DataTable {
    let lines = summaries.into_iter().map(|summary| {
        let mut line = NamedCells::default();
        line.push("stack", TableCell::Text(summary.stack.to_string()));
        line.push("stops", stops(summary));
        line.push("runs stopped, %", interval(&summary.estimates.stop_rate));
        line.push(format!("{} not spent", unit.noun()), share(&summary.ratios_in(unit).saved));
        line.push("successes killed", TableCell::Text("unknown".to_owned()));
        line
    });
    DataTable::from_lines(lines.collect())
}

/// Runs that were certainly stopped; `≥` if unread or diverged runs may add to them.
fn stops(summary: &Summary) -> TableCell {
    let more = summary.counted(Count::NotEvaluableRuns) > 0 || !summary.estimates.stop_rate.is_point();
    let sign = if more { "≥" } else { "" };
    TableCell::Text(format!("{sign}{}", summary.counted(Count::Stopped)))
}

/// Formats `29/272 ≤12`: the successes killed of all of them, and the most that is killed of a task's successes, in percent:
/// as one of all stacks tried, where that was asked for.
pub(super) fn killed(summary: &Summary) -> TableCell {
    let killed = summary.estimates.killed;
    let Some(most) = summary.killed_at_most.or(summary.estimates.fes_rate.upper()) else {
        return TableCell::Missing;
    };
    let count = counts((killed.low.hits, killed.high.hits));
    TableCell::Text(format!("{count}/{} ≤{}", killed.high.of, digits(most)))
}

fn unknown(summary: &Summary) -> TableCell {
    let causes = [("r", Count::NotEvaluableRuns), ("d", Count::Diverged), ("u", Count::UnlabelledRuns)];
    let present = causes.into_iter().filter(|(_, count)| summary.counted(*count) > 0);
    let letters: String = present.map(|(letter, _)| letter).collect();
    if letters.is_empty() {
        return TableCell::Text("0".to_owned());
    }
    let share = summary.unknown_share() * 100.0;
    // A nonzero unknown share never rounds to 0, nor a nonzero known share.
    let share = if share < 1.0 {
        "<1".to_owned()
    } else {
        format!("{:.0}", share.min(if share < 100.0 { 99.0 } else { 100.0 }))
    };
    TableCell::Text(format!("{share} % {letters}"))
}

fn share(range: &RangeEstimate) -> TableCell {
    TableCell::some_text(bounded_percent(range))
}

/// A relative change in percent, with its sign.
fn change(cost: &CostOfSuccess) -> TableCell {
    TableCell::some_text(cost.ratio.value.map(|ratio| format!("{:+.0} %", (ratio - 1.0) * 100.0)))
}

/// A rate in percent with its interval: `8.5 (4.5–15)`; `2.1–8.5 (0.4–15)` if known only within bounds.
pub(super) fn interval(range: &RangeEstimate) -> TableCell {
    let Some(bounds) = range.bounds() else { return TableCell::Missing };
    TableCell::Text(span(bounds.low, bounds.high) + &ends(range.interval()))
}

/// The same for a corrected rate; says so if there is none.
pub(super) fn corrected_interval(corrected: &CorrectedRate) -> TableCell {
    match corrected.estimate.value {
        Some(_) => interval(&RangeEstimate::exactly(corrected.estimate)),
        None => TableCell::Text("undefined".to_owned()),
    }
}
