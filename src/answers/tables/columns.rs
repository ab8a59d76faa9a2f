//! The columns of a file for programs, each declared once: its name, what `schema` says of it, and how its cell is made.

use std::borrow::Borrow;

use super::{DataTable, TableCell, method};
use crate::aggregate::{CellKind, ColumnSpec, Label};
use crate::stats::{DifferenceEstimate, Estimate, Interval, RangeEstimate};

/// The columns of a file whose lines are made from `T`; their cells may read what lives as long as `'f`.
pub struct FileColumns<'f, T>(Vec<FileColumn<'f, T>>);

struct FileColumn<'f, T> {
    spec: ColumnSpec,
    cell: Box<dyn Fn(&T) -> TableCell + 'f>,
}

/// How a number was obtained: how many it is over, what they are, and the method.
struct Basis {
    n: u64,
    over: String,
    method: String,
}

impl<'f, T: 'f> FileColumns<'f, T> {
    /// No columns yet.
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    /// What `schema` says of them, in order.
    pub fn specs(self) -> Vec<ColumnSpec> {
        self.0.into_iter().map(|column| column.spec).collect()
    }

    /// The table of these lines. Without a line it has no columns.
    pub(crate) fn table(&self, lines: impl IntoIterator<Item = impl Borrow<T>>) -> DataTable {
        let mut rows = Vec::new();
        for line in lines {
            rows.push(self.0.iter().map(|column| (column.cell)(line.borrow())).collect());
        }
        if rows.is_empty() {
            return DataTable::default();
        }
        DataTable { columns: self.0.iter().map(|column| column.spec.name.clone()).collect(), rows }
    }

    /// Any column.
    pub(super) fn column(mut self, spec: ColumnSpec, cell: impl Fn(&T) -> TableCell + 'f) -> Self {
        self.0.push(FileColumn { spec, cell: Box::new(cell) });
        self
    }

    fn with(
        self,
        name: &str,
        (kind, may_be_empty): (CellKind, bool),
        meaning: &str,
        cell: impl Fn(&T) -> TableCell + 'f,
    ) -> Self {
        let (name, unit, meaning) = (name.to_owned(), String::new(), meaning.to_owned());
        self.column(ColumnSpec { name, kind, unit, may_be_empty, meaning }, cell)
    }

    /// A text.
    pub(super) fn text(self, name: &str, meaning: &str, text: impl Fn(&T) -> String + 'f) -> Self {
        self.with(name, (CellKind::Text, false), meaning, move |line| TableCell::Text(text(line)))
    }

    /// A text that may be missing.
    pub(super) fn some_text(self, name: &str, meaning: &str, text: impl Fn(&T) -> Option<String> + 'f) -> Self {
        self.with(name, (CellKind::Text, true), meaning, move |line| TableCell::some_text(text(line)))
    }

    /// A name from the recordings that may be missing.
    pub(super) fn some_label(self, name: &str, meaning: &str, label: impl Fn(&T) -> Option<&Label> + 'f) -> Self {
        self.some_text(name, meaning, move |line| label(line).map(ToString::to_string))
    }

    /// A count.
    pub(super) fn count(self, name: &str, meaning: &str, count: impl Fn(&T) -> u64 + 'f) -> Self {
        self.with(name, (CellKind::Whole, false), meaning, move |line| TableCell::Count(count(line)))
    }

    /// A count that may be unknown.
    pub(super) fn some_count(self, name: &str, meaning: &str, count: impl Fn(&T) -> Option<u64> + 'f) -> Self {
        self.with(name, (CellKind::Whole, true), meaning, move |line| TableCell::count(count(line)))
    }

    /// A number that may be unknown or undefined.
    pub(super) fn number(self, name: &str, meaning: &str, number: impl Fn(&T) -> Option<f64> + 'f) -> Self {
        self.with(name, (CellKind::Real, true), meaning, move |line| TableCell::number(number(line)))
    }

    /// The ends of an interval: `x_low` to `x_high`.
    pub(super) fn ends(
        self,
        name: &str,
        interval_of: &str,
        interval: impl Fn(&T) -> Option<Interval> + Copy + 'f,
    ) -> Self {
        let low = move |line: &T| interval(line).map(|interval| interval.low);
        let high = move |line: &T| interval(line).map(|interval| interval.high);
        self.number(&format!("{name}_low"), &format!("Lower end of {interval_of}."), low).number(
            &format!("{name}_high"),
            &format!("Upper end of {interval_of}."),
            high,
        )
    }

    /// How a number was obtained: `x_n`, `x_of` and `x_method`.
    fn basis(self, name: &str, basis: impl Fn(&T) -> Basis + Copy + 'f) -> Self {
        let method = format!("How `{name}` and its interval were computed, and why to read them with care.");
        self.count(&format!("{name}_n"), &format!("How many `{name}` is over."), move |line| basis(line).n)
            .text(&format!("{name}_of"), "What they are.", move |line| basis(line).over)
            .text(&format!("{name}_method"), &method, move |line| basis(line).method)
    }

    /// An estimate as `x`, its 95 % interval `x_low` to `x_high`, and how it was obtained.
    pub(super) fn estimate(
        self,
        name: &str,
        over: &'static str,
        meaning: &str,
        estimate: impl Fn(&T) -> &Estimate + Copy + 'f,
    ) -> Self {
        self.number(name, meaning, move |line| estimate(line).value)
            .ends(name, &format!("the 95 % interval of `{name}`"), move |line| estimate(line).interval)
            .basis(name, move |line| {
                let Estimate { n, method: by, warning, .. } = estimate(line);
                Basis { n: *n, over: over.to_owned(), method: method(*by, *warning) }
            })
    }

    /// A difference in the same columns; it is over tasks.
    pub(super) fn difference(
        self,
        name: &str,
        over: &'static str,
        meaning: &str,
        difference: impl Fn(&T) -> &DifferenceEstimate + Copy + 'f,
    ) -> Self {
        self.number(name, meaning, move |line| difference(line).value)
            .ends(name, &format!("the 95 % interval of `{name}`"), move |line| difference(line).interval)
            .basis(name, move |line| {
                let DifferenceEstimate { clusters, method: by, warning, .. } = difference(line);
                Basis { n: *clusters, over: over.to_owned(), method: method(*by, *warning) }
            })
    }

    /// An estimate that may be known only within bounds: `x` if it is one number, its interval, which covers every value
    /// the recordings allow, those values as `x_min` to `x_max`, and how it was obtained.
    pub(super) fn range(
        self,
        name: &str,
        over: impl Fn(&T) -> String + Copy + 'f,
        meaning: &str,
        range: impl Fn(&T) -> RangeEstimate + Copy + 'f,
    ) -> Self {
        self.number(name, meaning, move |line| range(line).value())
            .number(&format!("{name}_low"), &format!("Lower end of the 95 % interval of `{name}`."), move |line| {
                range(line).lower()
            })
            .number(&format!("{name}_high"), &format!("Upper end of the 95 % interval of `{name}`."), move |line| {
                range(line).upper()
            })
            .number(&format!("{name}_min"), "The lowest value the recordings allow.", move |line| range(line).low.value)
            .number(&format!("{name}_max"), "The highest value the recordings allow.", move |line| {
                range(line).high.value
            })
            .basis(name, move |line| {
                let range = range(line);
                Basis { n: range.n(), over: over(line), method: method(range.method(), range.warning()) }
            })
    }

    /// Bounds as `x_low` to `x_high`, the 95 % interval around them as `x_ci_low` to `x_ci_high`, and how they were
    /// obtained.
    pub(super) fn bounds(
        self,
        name: &str,
        over: &'static str,
        meaning: &str,
        bounds: impl Fn(&T) -> &RangeEstimate + Copy + 'f,
    ) -> Self {
        self.ends(name, meaning, move |line| bounds(line).bounds())
            .ends(&format!("{name}_ci"), &format!("the 95 % interval around `{name}`"), move |line| {
                bounds(line).interval()
            })
            .basis(name, move |line| {
                let bounds = bounds(line);
                Basis { n: bounds.n(), over: over.to_owned(), method: method(bounds.method(), bounds.warning()) }
            })
    }
}
