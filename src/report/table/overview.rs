//! The table a person reads: one line a stack, six columns, shares with their interval.

use super::{Cell, Line, Table};
use crate::aggregate::{CorrectedRate, Summary, Unit};
use crate::stats::Estimate;
use crate::verdict::Verdict;

/// The overview in `unit`; fits 80 columns for stack names of up to about 20 characters.
pub fn overview(summaries: &[Summary], unit: Unit) -> Table {
    let lines = summaries.iter().map(|summary| {
        let killed = summary.count(Verdict::FalseEarlyStop) + summary.count(Verdict::UnverifiedFalseEarlyStop);
        let mut line = Line::default();
        line.push("stack", Cell::Text(summary.stack.to_string()));
        line.push("stops", Cell::Count(summary.stops()));
        line.push("successes killed", counted(killed, &interval(&summary.estimates.fes_rate)));
        if let Some(corrected) = &summary.corrected {
            line.push("corrected for labels", corrected_interval(corrected));
        }
        let true_stops = summary.count(Verdict::TrueStop);
        line.push("failures stopped", counted(true_stops, &percent(summary.estimates.stop_recall.value)));
        let ratios = summary.ratios_in(unit);
        line.push(format!("{} saved", unit.name()), percent(ratios.useful.value));
        line.push("after rework", percent(ratios.after_rework.value));
        line
    });
    Table::of(lines.collect())
}

/// A count and what share that is: `11: 7.7 %`.
fn counted(count: u64, share: &Cell) -> Cell {
    match share {
        Cell::Text(share) => Cell::Text(format!("{count}: {share}")),
        _ => Cell::Count(count),
    }
}

fn percent(value: Option<f64>) -> Cell {
    Cell::percent(value.filter(|value| value.is_finite()))
}

/// A share with its interval: `7.7 % (2.6–20.6)`.
pub(super) fn interval(estimate: &Estimate) -> Cell {
    match (estimate.value, estimate.interval) {
        (Some(value), Some(interval)) => {
            Cell::Text(format!("{:.1} % ({:.1}–{:.1})", value * 100.0, interval.low * 100.0, interval.high * 100.0))
        }
        (value, _) => percent(value),
    }
}

/// The same for a corrected rate; where there is none it says so.
pub(super) fn corrected_interval(corrected: &CorrectedRate) -> Cell {
    match corrected.estimate.value {
        Some(_) => interval(&corrected.estimate),
        None => Cell::Text("undefined".to_owned()),
    }
}
