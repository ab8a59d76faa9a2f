//! Stacks as detectors of failing runs, for people: one line per stack, columns that fit 80 characters.

use super::overview::killed;
use super::{Cell, Line, Table};
use crate::aggregate::{Detector, Summary, Unit};
use crate::words::span;

/// What each of these stacks detects, beside what it costs and saves.
pub fn detectors(detectors: &[(&Detector, &Summary)], unit: Unit) -> Table {
    let lines = detectors.iter().map(|(detector, summary)| {
        let mut line = Line::default();
        line.push("detector", Cell::Text(detector.stack.to_string()));
        line.push("fires on", Cell::Count(detector.fires));
        line.push("fail", Cell::percent(detector.precision()));
        line.push("fail anyway", Cell::percent(detector.anyway()));
        line.push("of failures", Cell::percent(detector.recall()));
        line.push("killed, at most %", killed(summary));
        let saved = &summary.ratios_in(unit).useful;
        let saved = saved.low.value.zip(saved.high.value);
        line.push(
            format!("{} saved", unit.noun()),
            saved.map_or(Cell::Missing, |(low, high)| Cell::Text(format!("{} %", span(low, high)))),
        );
        line
    });
    Table::from_lines(lines.collect())
}
