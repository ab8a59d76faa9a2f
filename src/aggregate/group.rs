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
    /// For each of its rows where it stands, and where its ending.
    places: Vec<(u32, u32)>,
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
                places: Vec::new(),
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
        Self { stack: "".into(), profile: "".into(), suite: None, model: None, rows, places: Vec::new() }
    }

    /// Its rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = RowView<'r>> + Clone {
        let rows = self.rows;
        self.places.iter().map(move |(at, ending)| RowView::with_ending(rows, *at as usize, *ending as usize))
    }

    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Keeps the rows for which `keep` is true.
    pub fn retain(&mut self, keep: impl Fn(RowView<'r>) -> bool) {
        let rows = self.rows;
        self.places.retain(|(at, ending)| keep(RowView::with_ending(rows, *at as usize, *ending as usize)));
    }

    /// The rows that its own are among.
    pub(super) fn all_rows(&self) -> &'r Rows {
        self.rows
    }

    /// Its strata, by name.
    pub(super) fn strata(&self) -> Vec<Self> {
        let mut parts: BTreeMap<_, Vec<(u32, u32)>> = BTreeMap::new();
        for (row, place) in self.rows().zip(&self.places) {
            parts.entry((row.suite(), row.model())).or_default().push(*place);
        }
        let part = |((suite, model), places): ((Option<&Label>, Option<&Label>), _)| Self {
            stack: self.stack.clone(),
            profile: self.profile.clone(),
            suite: suite.cloned(),
            model: model.cloned(),
            rows: self.rows,
            places,
        };
        parts.into_iter().map(part).collect()
    }

    fn push(&mut self, row: RowView<'r>) {
        let place = |at: usize| u32::try_from(at).expect("fewer than 2^32 rows fit into memory");
        self.places.push((place(row.at()), place(row.ending())));
    }
}
