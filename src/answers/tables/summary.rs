//! `summary.csv`, one line per stack with what people read, and `estimates.csv`, one line per estimate. The numbers are
//! those of [`metrics`].

use std::collections::BTreeMap;

use super::{DataTable, NamedCells, TableCell, method};
use crate::aggregate::{Made, Measured, MetricPart, Shown, Summary, SummaryMetric, metrics};

/// The table of all summaries, each with its standing.
pub fn summary(summaries: &[Summary], standings: &BTreeMap<String, &'static str>) -> DataTable {
    let line = |summary: &Summary| {
        let mut line = line(summary, NamedCells::default());
        line.push("standing", TableCell::text(standings.get(&*summary.stack).copied()));
        line
    };
    DataTable::from_lines(summaries.iter().map(line).collect())
}

/// Appends the columns of one summary to `line`.
pub(super) fn line(summary: &Summary, mut line: NamedCells) -> NamedCells {
    line.push("stack", TableCell::Text(summary.stack.to_string()));
    line.push("profile", TableCell::text(Some(&*summary.profile).filter(|profile| !profile.is_empty())));
    for (metric, parts) in in_summary() {
        let measured = metric.of_summary(summary);
        for part in parts {
            line.push(format!("{}{}", metric.name, part.ending()), cell(metric, &measured, *part));
        }
    }
    line
}

/// The metrics of the summary, each with the parts that have a column.
pub fn in_summary() -> impl Iterator<Item = (&'static SummaryMetric, &'static [MetricPart])> {
    let parts = |shown| match shown {
        Shown::Value => &[MetricPart::Value][..],
        Shown::Interval => &[MetricPart::Value, MetricPart::Low, MetricPart::High],
        Shown::No => &[],
    };
    metrics().iter().map(move |metric| (metric, parts(metric.shown))).filter(|(_, parts)| !parts.is_empty())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of runs or tasks")]
fn cell(metric: &SummaryMetric, measured: &Measured, part: MetricPart) -> TableCell {
    let number = measured.part(part);
    if metric.measure.is_count() {
        return TableCell::count(number.map(|count| count as u64));
    }
    TableCell::number(number)
}

/// Every estimate of every summary in long form, and the numbers that the summary has no column for. `strata` name their
/// suite or model.
pub fn estimates<'s>(summaries: impl IntoIterator<Item = &'s Summary>) -> DataTable {
    let is_listed = |metric: &&SummaryMetric| metric.is_estimate() || metric.shown == Shown::No;
    let lines = summaries
        .into_iter()
        .flat_map(|summary| metrics().iter().filter(is_listed).filter_map(|metric| estimate(summary, metric)));
    DataTable::from_lines(lines.collect())
}

/// `None` for a number that was not asked for or that nothing is known of.
fn estimate(summary: &Summary, metric: &SummaryMetric) -> Option<NamedCells> {
    let measured = metric.of_summary(summary);
    if measured.made.is_none() && measured.value.is_none() {
        return None;
    }
    let mut line = NamedCells::default();
    line.push("stack", TableCell::Text(summary.stack.to_string()));
    line.push("suite", TableCell::text(summary.suite.as_deref()));
    line.push("model", TableCell::text(summary.model.as_deref()));
    line.push("name", TableCell::Text(metric.name.clone()));
    line.push("unit", TableCell::Text(metric.measure.words().to_owned()));
    for (name, part) in [
        ("value", MetricPart::Value),
        ("low", MetricPart::Low),
        ("high", MetricPart::High),
        ("min", MetricPart::Min),
        ("max", MetricPart::Max),
    ] {
        line.push(name, TableCell::number(measured.part(part)));
    }
    line.push("n", TableCell::count(measured.made.map(|made| made.n)));
    line.push("tasks", TableCell::count(measured.made.map(|made| made.tasks)));
    line.push("of", TableCell::text(Some(metric.of.as_str()).filter(|of| !of.is_empty())));
    line.push("method", measured.made.map_or(TableCell::Missing, made));
    Some(line)
}

fn made(made: Made) -> TableCell {
    match (method(made.method, made.warning), made.correction) {
        (TableCell::Text(method), Some(correction)) => TableCell::Text(format!("{}, {method}", correction.name())),
        (method, _) => method,
    }
}
