//! The table a person reads: one line a stack, eight columns, percentages with their interval.

use super::{Cell, Line, Table};
use crate::aggregate::{Savings, Summary, Unit};
use crate::stats::Estimate;
use crate::verdict::Verdict;

/// The overview in `unit`; fits 80 columns for stack names of up to about 20 characters.
pub fn overview(summaries: &[Summary], unit: Unit) -> Table {
    let lines = summaries.iter().map(|summary| {
        let killed = summary.count(Verdict::FalseEarlyStop) + summary.count(Verdict::UnverifiedFalseEarlyStop);
        let mut line = Line::default();
        line.push("stack", Cell::Text(summary.stack.to_string()));
        line.push("stops", Cell::Count(summary.stops()));
        line.push("killed", Cell::Count(killed));
        line.push("killed/successes", interval(&summary.estimates.fes_rate));
        line.push("true stops", Cell::Count(summary.count(Verdict::TrueStop)));
        line.push("failures stopped", percent(summary.estimates.stop_recall.value));
        line.push(format!("{} saved", unit.name()), percent(summary.savings_in(unit).and_then(Savings::useful_ratio)));
        line.push(
            "after rework",
            percent(summary.savings_in(unit).and_then(|s| Some(s.rework_adjusted? / s.recorded))),
        );
        line
    });
    Table::of(lines.collect())
}

fn percent(value: Option<f64>) -> Cell {
    Cell::percent(value.filter(|value| value.is_finite()))
}

fn interval(estimate: &Estimate) -> Cell {
    match (estimate.value, estimate.interval) {
        (Some(value), Some(interval)) => {
            Cell::Text(format!("{:.1} % ({:.1}–{:.1})", value * 100.0, interval.low * 100.0, interval.high * 100.0))
        }
        (value, _) => percent(value),
    }
}
