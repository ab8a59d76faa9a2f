//! Stacks as detectors of failing runs, for people: one line per stack, columns that fit 80 characters.

use super::overview::killed;
use super::{DataTable, NamedCells, TableCell};
use crate::aggregate::{Detector, Summary, Unit};
use crate::words::span;

/// What each of these stacks detects, beside what it costs and saves.
pub fn detectors(detectors: &[(&Detector, &Summary)], unit: Unit) -> DataTable {
    let lines = detectors.iter().map(|(detector, summary)| {
        let mut line = NamedCells::default();
        line.push("detector", TableCell::Text(detector.stack.to_string()));
        line.push("fires on", TableCell::Count(detector.fires));
        line.push("fail", TableCell::percent(detector.precision()));
        line.push("fail anyway", TableCell::percent(detector.anyway()));
        line.push("of failures", TableCell::percent(detector.recall()));
        line.push("killed, at most %", killed(summary));
        let saved = &summary.ratios_in(unit).useful;
        let saved = saved.low.value.zip(saved.high.value).map(|(low, high)| format!("{} %", span(low, high)));
        line.push(format!("{} saved", unit.noun()), TableCell::some_text(saved));
        line
    });
    DataTable::from_lines(lines.collect())
}
