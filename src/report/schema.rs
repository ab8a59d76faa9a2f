//! What the columns of every file of a results folder mean, from the registries they are written by.

use std::collections::BTreeMap;

use super::saved::ROWS_VERSION;
use crate::aggregate::{ColumnSpec, FileLine, Firing, FollowedRow, Row, SUMMARY_VERSION, metrics};
use crate::answers::tables::{
    DataTable, TableCell, against_columns, against_step_columns, budget_columns, estimate_columns, forward_columns,
    frontier_columns, pair_columns, rule_columns, strata_columns, summary_columns,
};

/// A file of a results folder whose columns are declared.
#[derive(Clone, Debug)]
pub struct FileSpec {
    /// Its name without `.csv`.
    pub name: &'static str,
    /// The version of its columns.
    pub version: u32,
    /// What a line is.
    pub line: &'static str,
    /// Its columns, in order.
    pub columns: Vec<ColumnSpec>,
}

impl FileSpec {
    /// The columns as a table, for people.
    pub fn table(&self) -> DataTable {
        let row = |column: &ColumnSpec| {
            let kind = if column.may_be_empty {
                format!("{} or empty", column.kind.name())
            } else {
                column.kind.name().to_owned()
            };
            let unit = if column.unit.is_empty() { TableCell::Missing } else { TableCell::Text(column.unit.clone()) };
            vec![
                TableCell::Text(column.name.clone()),
                TableCell::Text(kind),
                unit,
                TableCell::Text(column.meaning.clone()),
            ]
        };
        DataTable::new(["column", "cells", "unit", "meaning"], self.columns.iter().map(row))
    }
}

/// The files, in the order in which people open them.
pub fn files() -> Vec<FileSpec> {
    let of_summary = |name, line, columns| FileSpec { name, version: SUMMARY_VERSION, line, columns };
    let of_rows = |name, line, columns| FileSpec { name, version: ROWS_VERSION, line, columns };
    vec![
        of_summary("summary", "One line per stack.", summary_columns(&BTreeMap::new()).specs()),
        of_summary(
            "strata",
            "One line per stack and suite, stack and model, and stack, suite and model: the columns of `summary.csv` for a part of the runs.",
            strata_columns().specs(),
        ),
        of_summary(
            "estimates",
            "One line per estimate, stack and, where several suites or models were run, suite and model. The names are listed below.",
            estimate_columns().specs(),
        ),
        of_summary(
            "pairs",
            "One line per stack: its difference from the stack that the others are compared with.",
            pair_columns().specs(),
        ),
        of_summary(
            "frontier",
            "One line per stack: its place between successes killed and cost saved.",
            frontier_columns().specs(),
        ),
        of_summary("rules", "One line per rule of each stack: what it contributes.", rule_columns().specs()),
        of_summary("budget", "One line per step of each curve of success by budget.", budget_columns().specs()),
        of_rows("rows", "One line per run and stack.", Row::columns()),
        of_rows("firings", "One line per run, stack and rule that would have acted.", Firing::columns()),
        of_summary(
            "against",
            "`compare --against`: one line per stack and class. Shares are of the successes before; each cell counts once.",
            against_columns().specs(),
        ),
        of_summary(
            "against-steps",
            "`compare --against`: one line per class and step at which a run ends.",
            against_step_columns().specs(),
        ),
        of_summary(
            "walk-forward",
            "`tune --walk-forward`: one line per day, week or month.",
            forward_columns().specs(),
        ),
        of_rows(
            "followed",
            "One line per run and stack: what the recording holds after the stop.",
            FollowedRow::columns(),
        ),
    ]
}

/// The numbers by name, as `estimates.csv` and gates (`--fail-on`) use them.
pub fn numbers() -> DataTable {
    let row = |metric: &crate::aggregate::SummaryMetric| {
        let (least, most) = metric.measure.range();
        let end = |end: Option<f64>| match end {
            Some(end) => end.to_string(),
            None => "any".to_owned(),
        };
        let text = |text: &str| if text.is_empty() { TableCell::Missing } else { TableCell::Text(text.to_owned()) };
        vec![
            TableCell::Text(metric.name.clone()),
            text(metric.measure.words()),
            TableCell::Text(format!("{} to {}", end(least), end(most))),
            text(&metric.of),
            TableCell::Text(metric.meaning.clone()),
        ]
    };
    DataTable::new(["name", "unit", "range", "over", "meaning"], metrics().iter().map(row))
}
