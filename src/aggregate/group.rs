//! Rows of one stack, or of one stack in one stratum.

use std::collections::BTreeMap;

use super::{Label, RowView, Rows};

/// Rows that are summarised together, in corpus order.
#[derive(Clone, Debug)]
pub struct Group<'r> {
    /// The stack.
    pub stack: Label,
    /// Its profile.
    pub profile: Label,
    /// The suite, in a stratum.
    pub suite: Option<Label>,
    /// The model, in a stratum.
    pub model: Option<Label>,
    rows: &'r Rows,
    /// Positions of its rows.
    lines: Vec<u32>,
}

/// One group a stack, in the order the stacks were given.
pub fn by_stack(rows: &Rows) -> Vec<Group<'_>> {
    let mut places: BTreeMap<&Label, usize> = BTreeMap::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for row in rows.iter() {
        let place = *places.entry(row.stack()).or_insert_with(|| {
            groups.push(Group {
                stack: row.stack().clone(),
                profile: row.profile().clone(),
                suite: None,
                model: None,
                rows,
                lines: Vec::new(),
            });
            groups.len() - 1
        });
        groups[place].push(row);
    }
    groups
}

/// One group a stack, suite and model: stacks in the order given, strata by name.
pub fn by_stratum(rows: &Rows) -> Vec<Group<'_>> {
    by_stack(rows).iter().flat_map(Group::strata).collect()
}

impl<'r> Group<'r> {
    /// A group without rows, of a stack without a name.
    pub fn empty(rows: &'r Rows) -> Self {
        Self { stack: "".into(), profile: "".into(), suite: None, model: None, rows, lines: Vec::new() }
    }

    /// Its rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = RowView<'r>> + Clone {
        let rows = self.rows;
        self.lines.iter().map(move |at| RowView::new(rows, *at as usize))
    }

    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Keeps the rows for which `keep` is true.
    pub fn retain(&mut self, keep: impl Fn(RowView<'r>) -> bool) {
        let rows = self.rows;
        self.lines.retain(|at| keep(RowView::new(rows, *at as usize)));
    }

    /// The rows that its own are among.
    pub(super) fn all_rows(&self) -> &'r Rows {
        self.rows
    }

    /// Its strata, by name.
    pub(super) fn strata(&self) -> Vec<Self> {
        let mut parts: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for (row, line) in self.rows().zip(&self.lines) {
            parts.entry((row.suite(), row.model())).or_default().push(*line);
        }
        let part = |((suite, model), lines): ((Option<&Label>, Option<&Label>), _)| Self {
            stack: self.stack.clone(),
            profile: self.profile.clone(),
            suite: suite.cloned(),
            model: model.cloned(),
            rows: self.rows,
            lines,
        };
        parts.into_iter().map(part).collect()
    }

    fn push(&mut self, row: RowView<'r>) {
        self.lines.push(u32::try_from(row.at()).expect("fewer than 2^32 rows fit into memory"));
    }
}
