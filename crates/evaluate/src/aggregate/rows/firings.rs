//! Stores firings as columns.

use foldhash::HashMap;

use super::RowView;
use super::column::{Cell, Column, frame};
use super::names::{Name, Names};
use crate::aggregate::{Firing, Group, Label};
use crate::transcript::Point;
use crate::verdict::Verdict;

frame! {
    /// One firing.
    Line, Lines {
        run_id: Name,
        stack: Name,
        rule: Name,
        point: Point,
        observed: Option<f64>,
        first: bool,
        verdict_alone: Verdict,
        verdict_without: Verdict,
        steps_without: u64,
    }
}

/// Firings as columns, in the order given.
#[derive(Clone, Debug, Default)]
pub struct Firings {
    names: Names,
    lines: Lines,
}

impl Firings {
    /// How many firings there are.
    pub fn len(&self) -> usize {
        self.lines.stack.len()
    }

    /// True without firings.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All firings.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Firing> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// The firings for which `keep` is true, in their order.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(&Firing) -> bool) -> Self {
        self.iter().filter(keep).collect()
    }

    /// Adds a firing.
    pub fn push(&mut self, firing: &Firing) {
        self.lines.push(Line {
            run_id: self.names.number(&firing.run_id),
            stack: self.names.number(&firing.stack),
            rule: self.names.number(&firing.rule),
            point: firing.point,
            observed: firing.observed,
            first: firing.first,
            verdict_alone: firing.verdict_alone,
            verdict_without: firing.verdict_without,
            steps_without: firing.steps_without,
        });
    }

    fn get(&self, at: usize) -> Firing {
        let label = |name| self.names.label(name).clone();
        let lines = &self.lines;
        Firing {
            run_id: label(lines.run_id.get(at)),
            stack: label(lines.stack.get(at)),
            rule: label(lines.rule.get(at)),
            point: lines.point.get(at),
            observed: lines.observed.get(at),
            first: lines.first.get(at),
            verdict_alone: lines.verdict_alone.get(at),
            verdict_without: lines.verdict_without.get(at),
            steps_without: lines.steps_without.get(at),
        }
    }

    /// The places of each stack's firings. A stack without any has no firing, or its rules cannot be evaluated separately.
    pub(in crate::aggregate) fn by_stack(&self) -> HashMap<&Label, Vec<usize>> {
        let mut places: HashMap<&Label, Vec<usize>> = HashMap::default();
        for at in 0..self.len() {
            places.entry(self.names.label(self.lines.stack.get(at))).or_default().push(at);
        }
        places
    }

    /// The firings at these places, each with its run's row in `group`; if a run has several rows, the last.
    pub(in crate::aggregate) fn joined<'r>(&self, places: &[usize], group: &Group<'r>) -> Vec<(Firing, RowView<'r>)> {
        let row_of: HashMap<u32, RowView<'r>> =
            group.rows().filter_map(|row| Some((self.names.find(row.run_id())?.0, row))).collect();
        let pair = |at: &usize| Some((self.get(*at), *row_of.get(&self.lines.run_id.get(*at).0)?));
        places.iter().filter_map(pair).collect()
    }
}

impl FromIterator<Firing> for Firings {
    fn from_iter<I: IntoIterator<Item = Firing>>(firings: I) -> Self {
        let mut all = Self::default();
        all.extend(firings);
        all
    }
}

impl Extend<Firing> for Firings {
    fn extend<I: IntoIterator<Item = Firing>>(&mut self, firings: I) {
        for firing in firings {
            self.push(&firing);
        }
    }
}
