//! Tables: named columns of cells, not yet how they are shown.

mod against;
mod budget;
mod columns;
mod detector;
mod followed;
mod forward;
mod frontier;
mod grid;
mod overview;
mod pairs;
mod rules;
mod strata;
mod summary;

pub use against::{AgainstStep, against_columns, against_overview, against_step_columns, against_steps};
pub use budget::{BudgetStep, budget, budget_columns};
pub use columns::FileColumns;
pub use detector::detectors;
pub use followed::followed;
pub use forward::{forward_columns, forward_overview};
pub use frontier::{frontier, frontier_columns};
pub use grid::{KeptStack, grid, grid_lines, grid_overview};
pub use overview::{overview, overview_for_paper, ungraded};
pub use pairs::pair_columns;
pub use rules::rule_columns;
pub use strata::strata_columns;
pub use summary::{EstimateLine, estimate_columns, estimates, summary_columns};

use crate::stats::{Estimate, Method, RangeEstimate, Warning};
use crate::words;

/// One cell. Unknown or undefined is [`TableCell::Missing`], never 0.
#[derive(Clone, Debug, PartialEq)]
pub enum TableCell {
    /// Text.
    Text(String),
    /// A count.
    Count(u64),
    /// A number.
    Number(f64),
    /// Unknown or undefined.
    Missing,
}

impl TableCell {
    /// A number that may be unknown.
    pub fn number(value: Option<f64>) -> Self {
        match value {
            Some(value) if value.is_finite() => Self::Number(value),
            _ => Self::Missing,
        }
    }

    /// A count that may be unknown.
    pub fn count(value: Option<u64>) -> Self {
        match value {
            Some(count) => Self::Count(count),
            None => Self::Missing,
        }
    }

    /// A text that may be unknown.
    pub fn text(value: Option<&str>) -> Self {
        Self::some_text(value.map(str::to_owned))
    }

    /// A text made here that may be unknown.
    pub fn some_text(value: Option<String>) -> Self {
        match value {
            Some(text) => Self::Text(text),
            None => Self::Missing,
        }
    }

    /// A share as a percentage, for people.
    pub fn percent(value: Option<f64>) -> Self {
        Self::some_text(value.map(words::percent))
    }
}

/// Named columns and rows of cells, one for each column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataTable {
    /// Column names.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<Vec<TableCell>>,
}

/// Columns of a table of lines `T`: the name of each, and what it holds of a line.
pub(crate) type TableColumns<'c, T> = &'c [(&'c str, &'c dyn Fn(&T) -> TableCell)];

/// Builds a row: names and cells together, so that they cannot get out of step.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedCells(Vec<(String, TableCell)>);

impl NamedCells {
    /// Adds a cell.
    pub(super) fn push(&mut self, name: impl Into<String>, cell: TableCell) {
        self.0.push((name.into(), cell));
    }

    /// Adds an estimate as `x`, its interval `x_low` to `x_high`, its number of runs `x_n`, the name of its
    /// denominator `x_of`, and `x_method`.
    pub(super) fn push_estimate(&mut self, name: &str, of: &str, estimate: &Estimate) {
        self.push(name, TableCell::number(estimate.value));
        self.push(format!("{name}_low"), TableCell::number(estimate.low()));
        self.push(format!("{name}_high"), TableCell::number(estimate.high()));
        self.push(format!("{name}_n"), TableCell::Count(estimate.n));
        self.push(format!("{name}_of"), TableCell::Text(of.to_owned()));
        self.push(format!("{name}_method"), TableCell::Text(method(estimate.method, estimate.warning)));
    }

    /// Adds an estimate that may be known only within bounds: `x` if it is one number, its interval `x_low` to
    /// `x_high`, which covers every value the recordings allow, those values as `x_min` to `x_max`, and the rest as
    /// for an estimate.
    pub(super) fn push_range(&mut self, name: &str, of: &str, range: &RangeEstimate) {
        self.push(name, TableCell::number(range.value()));
        self.push(format!("{name}_low"), TableCell::number(range.lower()));
        self.push(format!("{name}_high"), TableCell::number(range.upper()));
        self.push(format!("{name}_min"), TableCell::number(range.low.value));
        self.push(format!("{name}_max"), TableCell::number(range.high.value));
        self.push(format!("{name}_n"), TableCell::Count(range.n()));
        self.push(format!("{name}_of"), TableCell::Text(of.to_owned()));
        self.push(format!("{name}_method"), TableCell::Text(method(range.method(), range.warning())));
    }
}

/// How a number was computed, and why to read it with care: `logit-t, rough below 50 tasks`.
fn method(method: Method, warning: Option<Warning>) -> String {
    // An undefined number needs no further reason.
    let warning = warning.filter(|_| method != Method::Undefined);
    match warning {
        Some(why) => format!("{}, {}", method.name(), why.brief()),
        None => method.name().to_owned(),
    }
}

impl DataTable {
    /// A table of these rows.
    pub(crate) fn new<const N: usize>(columns: [&str; N], rows: impl IntoIterator<Item = Vec<TableCell>>) -> Self {
        Self { columns: columns.map(str::to_owned).to_vec(), rows: rows.into_iter().collect() }
    }

    /// A table of these lines.
    pub(crate) fn by_column<T>(lines: &[T], columns: TableColumns<'_, T>) -> Self {
        let row = |line: &T| columns.iter().map(|(_, cell)| cell(line)).collect();
        Self {
            columns: columns.iter().map(|(name, _)| (*name).to_owned()).collect(),
            rows: lines.iter().map(row).collect(),
        }
    }

    /// A table of these rows; `None` if there are none.
    pub(super) fn if_any(columns: &[&str], rows: Vec<Vec<TableCell>>) -> Option<Self> {
        if rows.is_empty() {
            return None;
        }
        Some(Self { columns: columns.iter().copied().map(str::to_owned).collect(), rows })
    }

    /// A table from lines that all have the same columns.
    pub(super) fn from_lines(lines: Vec<NamedCells>) -> Self {
        let columns =
            lines.first().map(|line| line.0.iter().map(|(name, _)| name.clone()).collect()).unwrap_or_default();
        Self {
            columns,
            rows: lines.into_iter().map(|line| line.0.into_iter().map(|(_, cell)| cell).collect()).collect(),
        }
    }
}
