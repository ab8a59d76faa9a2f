//! `summary.csv`, one line per stack with what people read, and `estimates.csv`, one line per estimate. The numbers are
//! those of [`metrics`].

use std::collections::BTreeMap;

use super::{DataTable, FileColumns, NamedCells, TableCell, method};
use crate::aggregate::{Label, Made, Measured, MetricPart, Shown, Summary, SummaryMetric, metrics};

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

/// A number of a summary.
pub struct EstimateLine {
    stack: Label,
    suite: Option<Label>,
    model: Option<Label>,
    metric: &'static SummaryMetric,
    measured: Measured,
}

/// Every estimate of every summary in long form, and the numbers that the summary has no column for. `strata` name their
/// suite or model. Numbers that were not asked for or that nothing is known of are left out.
pub fn estimates<'s>(summaries: impl IntoIterator<Item = &'s Summary>) -> DataTable {
    let mut lines = Vec::new();
    for summary in summaries {
        for metric in metrics().iter().filter(|metric| metric.is_estimate() || metric.shown == Shown::No) {
            let measured = metric.of_summary(summary);
            if measured.made.is_some() || measured.value.is_some() {
                let (stack, suite, model) = (summary.stack.clone(), summary.suite.clone(), summary.model.clone());
                lines.push(EstimateLine { stack, suite, model, metric, measured });
            }
        }
    }
    estimate_columns().table(lines)
}

/// The columns of `estimates.csv`.
pub fn estimate_columns() -> FileColumns<EstimateLine> {
    FileColumns::new()
        .text("stack", "The stack.", |line: &EstimateLine| line.stack.to_string())
        .some_text("suite", "The suite; empty for all runs.", |line| line.suite.as_ref().map(ToString::to_string))
        .some_text("model", "The model; empty for all runs.", |line| line.model.as_ref().map(ToString::to_string))
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
