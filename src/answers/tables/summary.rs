//! `summary.csv`, one line per stack with what people read, and `estimates.csv`, one line per estimate. The numbers are
//! those of [`metrics`].

use std::collections::BTreeMap;

use super::{DataTable, FileColumns, TableCell, method};
use crate::aggregate::{CellKind, ColumnSpec, Made, Measured, MetricPart, Shown, Summary, SummaryMetric, metrics};

/// The columns of `summary.csv`: the summaries of all stacks, each with its standing.
pub fn summary_columns<'s>(standings: &'s BTreeMap<String, &'static str>) -> FileColumns<'s, Summary> {
    let meaning = "What the answer makes of it: `ship`, or why not; empty where no run is graded.";
    summed(FileColumns::new()).some_text("standing", meaning, |summary: &Summary| {
        standings.get(&*summary.stack).map(|standing| (*standing).to_owned())
    })
}

/// Adds the columns that every summary has: what it is of, and its numbers.
pub(super) fn summed(columns: FileColumns<'_, Summary>) -> FileColumns<'_, Summary> {
    let mut columns = columns.text("stack", "The stack.", |summary| summary.stack.to_string()).some_text(
        "profile",
        "Its profile, if it has several.",
        |summary| Some(summary.profile.to_string()).filter(|profile| !profile.is_empty()),
    );
    for metric in metrics() {
        let parts = match metric.shown {
            Shown::Value => &[MetricPart::Value][..],
            Shown::Interval => &[MetricPart::Value, MetricPart::Low, MetricPart::High],
            Shown::No => &[],
        };
        for part in parts {
            columns = columns.column(spec(metric, *part), |summary| cell(metric, &metric.read_from(summary), *part));
        }
    }
    columns
}

/// What `schema` says of a metric, or of one end of it.
fn spec(metric: &SummaryMetric, part: MetricPart) -> ColumnSpec {
    ColumnSpec {
        name: format!("{}{}", metric.name, part.ending()),
        kind: if metric.measure.is_count() { CellKind::Whole } else { CellKind::Real },
        unit: metric.measure.words().to_owned(),
        may_be_empty: !metric.measure.is_count(),
        meaning: match part {
            MetricPart::Value => metric.meaning.clone(),
            MetricPart::Low | MetricPart::Min => format!("Lower end of the 95 % interval of `{}`.", metric.name),
            MetricPart::High | MetricPart::Max => format!("Upper end of the 95 % interval of `{}`.", metric.name),
        },
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of runs or tasks")]
fn cell(metric: &SummaryMetric, measured: &Measured, part: MetricPart) -> TableCell {
    let number = measured.part(part);
    if metric.measure.is_count() {
        return TableCell::count(number.map(|count| count as u64));
    }
    TableCell::number(number)
}

/// A number of a summary.
pub struct EstimateLine<'s> {
    summary: &'s Summary,
    metric: &'static SummaryMetric,
    measured: Measured,
}

/// Every estimate of every summary in long form, and the numbers that the summary has no column for. `strata` name their
/// suite or model. Numbers that were not asked for or that nothing is known of are left out.
pub fn estimates<'s>(summaries: impl IntoIterator<Item = &'s Summary>) -> DataTable {
    let mut lines = Vec::new();
    for summary in summaries {
        for metric in metrics().iter().filter(|metric| metric.is_estimate() || metric.shown == Shown::No) {
            let measured = metric.read_from(summary);
            if measured.made.is_some() || measured.value.is_some() {
                lines.push(EstimateLine { summary, metric, measured });
            }
        }
    }
    estimate_columns().table(lines)
}

/// The columns of `estimates.csv`.
pub fn estimate_columns<'s>() -> FileColumns<'s, EstimateLine<'s>> {
    FileColumns::new()
        .text("stack", "The stack.", |line: &EstimateLine<'s>| line.summary.stack.to_string())
        .some_label("suite", "The suite; empty for all runs.", |line| line.summary.suite.as_ref())
        .some_label("model", "The model; empty for all runs.", |line| line.summary.model.as_ref())
        .text("name", "The name of the number.", |line| line.metric.name.clone())
        .some_text("unit", "Its unit.", |line| Some(line.metric.measure.words().to_owned()))
        .number("value", "The number; empty if it is undefined or known only as a range.", |line| {
            line.measured.part(MetricPart::Value)
        })
        .number("low", "Lower end of its 95 % interval, which covers every value the recordings allow.", |line| {
            line.measured.part(MetricPart::Low)
        })
        .number("high", "Upper end of its 95 % interval.", |line| line.measured.part(MetricPart::High))
        .number("min", "The lowest value the recordings allow; empty if nothing limits it.", |line| {
            line.measured.part(MetricPart::Min)
        })
        .number("max", "The highest value the recordings allow; empty if nothing limits it.", |line| {
            line.measured.part(MetricPart::Max)
        })
        .some_count("n", "Number of runs it is over.", |line| Some(line.measured.made?.n))
        .some_count("tasks", "Number of tasks they are of.", |line| Some(line.measured.made?.tasks))
        .some_text("of", "What it is over.", |line| Some(line.metric.of.clone()).filter(|of| !of.is_empty()))
        .some_text("method", "How the interval was computed, and why to read it with care.", |line| {
            Some(made(line.measured.made?))
        })
}

fn made(made: Made) -> String {
    let method = method(made.method, made.warning);
    match made.correction {
        Some(correction) => format!("{}, {method}", correction.name()),
        None => method,
    }
}
