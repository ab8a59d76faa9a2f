//! Tables: named columns of cells, and the four ways to show them.

mod budget;
mod certificate;
mod frontier;
mod overview;
mod pairs;
mod render;
mod rules;
mod strata;
mod summary;
mod sweep;

pub use budget::budget;
pub use certificate::{certificate, certificate_overview};
pub use frontier::frontier;
pub use overview::overview;
pub use pairs::pairs;
pub use rules::rules;
pub use strata::strata;
pub use summary::summary;
pub use sweep::{sweep, sweep_overview};

use crate::stats::Estimate;

/// One cell. Unknown or undefined is [`Cell::Missing`], never 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A count.
    Count(u64),
    /// A number.
    Number(f64),
    /// Unknown or undefined.
    Missing,
}

impl Cell {
    /// A number that may be unknown.
    pub fn number(value: Option<f64>) -> Self {
        value.filter(|value| value.is_finite()).map_or(Self::Missing, Self::Number)
    }

    /// A count that may be unknown.
    pub fn count(value: Option<u64>) -> Self {
        value.map_or(Self::Missing, Self::Count)
    }

    /// A text that may be unknown.
    pub fn text(value: Option<&str>) -> Self {
        value.map_or(Self::Missing, |text| Self::Text(text.to_owned()))
    }

    /// A share as a percentage with one decimal, for people.
    pub fn percent(value: Option<f64>) -> Self {
        value.map_or(Self::Missing, |value| Self::Text(format!("{:.1} %", value * 100.0)))
    }
}

/// Named columns and rows of cells, one for each column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Column names.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<Vec<Cell>>,
}

/// A row under construction: names and cells side by side, so that they cannot drift apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Line(Vec<(String, Cell)>);

impl Line {
    /// Adds a cell.
    pub(super) fn push(&mut self, name: impl Into<String>, cell: Cell) {
        self.0.push((name.into(), cell));
    }

    /// Adds an estimate as `x`, `x_low`, `x_high`, `x_n`.
    pub(super) fn push_estimate(&mut self, name: &str, estimate: &Estimate) {
        self.push(name, Cell::number(estimate.value));
        self.push(format!("{name}_low"), Cell::number(estimate.low()));
        self.push(format!("{name}_high"), Cell::number(estimate.high()));
        self.push(format!("{name}_n"), Cell::Count(estimate.n));
    }
}

impl Table {
    /// A table of lines that all have the same columns.
    pub(super) fn of(lines: Vec<Line>) -> Self {
        let columns =
            lines.first().map(|line| line.0.iter().map(|(name, _)| name.clone()).collect()).unwrap_or_default();
        Self {
            columns,
            rows: lines.into_iter().map(|line| line.0.into_iter().map(|(_, cell)| cell).collect()).collect(),
        }
    }
}
