//! `strata.csv`: the summary by suite, by model, and by both.

use super::{DataTable, NamedCells, TableCell, summary};
use crate::aggregate::Summary;

/// The summaries of every stratum.
pub fn strata(summaries: &[Summary]) -> DataTable {
    let lines = summaries.iter().map(|stratum| {
        let mut line = NamedCells::default();
        line.push("suite", TableCell::text(stratum.suite.as_deref()));
        line.push("model", TableCell::text(stratum.model.as_deref()));
        summary::line(stratum, line)
    });
    DataTable::from_lines(lines.collect())
}
