//! `strata.csv`: the summary by suite, by model, and by both.

use super::{Cell, Line, Table, summary};
use crate::aggregate::Summary;

/// The summaries of every stratum.
pub fn strata(summaries: &[Summary]) -> Table {
    let lines = summaries.iter().map(|stratum| {
        let mut line = Line::default();
        line.push("suite", Cell::text(stratum.suite.as_deref()));
        line.push("model", Cell::text(stratum.model.as_deref()));
        summary::line(stratum, line)
    });
    Table::from_lines(lines.collect())
}
