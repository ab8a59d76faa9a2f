//! Groups of rows: of one stack, or of one stack in one stratum.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::rows::Place;
use super::{Label, RowView, Rows};

/// Rows that are summarised together, in corpus order.
#[derive(Clone, Debug)]
pub struct Group<'r> {
    /// The stack.
    pub stack: Label,
    /// The profile of the stack.
    pub profile: Label,
    /// The suite; `None` unless this is a stratum that names one.
    pub suite: Option<Label>,
    /// The model; `None` unless this is a stratum that names one.
    pub model: Option<Label>,
    rows: &'r Rows,
    /// For each row, its position and the position of its ending.
    places: Cow<'r, [Place]>,
}

/// One group per stack, in the order the stacks were given.
pub fn by_stack(rows: &Rows) -> Vec<Group<'_>> {
    let mut groups = Vec::new();
    for places in rows.stacks() {
        let Some(first) = places.first() else { continue };
        let Some(first) = rows.get(first.0 as usize) else { continue };
        let (stack, profile) = (first.stack().clone(), first.profile().clone());
        groups.push(Group { stack, profile, suite: None, model: None, rows, places: Cow::Borrowed(places) });
    }
    groups
}

/// The parts of each stack: each suite alone and each model alone, unless that is what the strata are, and then
/// the strata: each model in each suite. Stacks are in the order given, parts by name.
pub fn by_stratum(rows: &Rows) -> Vec<Group<'_>> {
    let mut parts = Vec::new();
    for group in by_stack(rows) {
        let strata = group.strata();
        for margins in [group.by_suite(), group.by_model()] {
            if margins.len() > 1 && margins.len() < strata.len() {
                parts.extend(margins);
            }
        }
        parts.extend(strata);
    }
    parts
}

/// The rows of the comparison that all of `groups` are of; `None` without groups.
///
/// # Panics
///
/// If they are of different comparisons.
pub(super) fn rows_of_all<'r>(groups: &[Group<'r>]) -> Option<&'r Rows> {
    let rows = groups.first()?.rows;
    assert!(groups.iter().all(|group| std::ptr::eq(group.rows, rows)), "all groups are of one comparison");
    Some(rows)
}

impl<'r> Group<'r> {
    /// A group without rows, for an unnamed stack.
    pub fn empty(rows: &'r Rows) -> Self {
        Self { stack: "".into(), profile: "".into(), suite: None, model: None, rows, places: Cow::Borrowed(&[]) }
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

    /// Keeps only the rows for which `keep` is true.
    pub fn retain(&mut self, keep: impl Fn(RowView<'r>) -> bool) {
        let rows = self.rows;
        self.places.to_mut().retain(|(at, ending)| keep(RowView::with_ending(rows, *at as usize, *ending as usize)));
    }

    /// The rows of some runs: `is_kept` says for each row, in order, whether it stays.
    #[must_use]
    pub fn part(&self, is_kept: &[bool]) -> Self {
        let places = self.places.iter().zip(is_kept).filter(|(_, is_kept)| **is_kept).map(|(place, _)| *place);
        Self { places: Cow::Owned(places.collect()), ..self.clone() }
    }

    /// All rows of the comparison, of which this group's rows are a part.
    pub(super) fn all_rows(&self) -> &'r Rows {
        self.rows
    }

    /// Splits the group into strata, by suite and model, ordered by name.
    pub(super) fn strata(&self) -> Vec<Self> {
        self.parts(|row| (row.suite(), row.model()))
    }

    /// Splits the group by suite alone.
    pub(super) fn by_suite(&self) -> Vec<Self> {
        self.parts(|row| (row.suite(), None))
    }

    /// Splits the group by model alone.
    pub(super) fn by_model(&self) -> Vec<Self> {
        self.parts(|row| (None, row.model()))
    }

    /// The rows that are not in `part`, which is of this group.
    pub(super) fn without(&self, part: &Self) -> Self {
        let mut out = part.places.iter().peekable();
        let left = self.places.iter().copied().filter(|place| out.next_if_eq(&place).is_none());
        let places = Cow::Owned(left.collect());
        Self { places, ..self.clone() }
    }

    fn parts(&self, name: impl Fn(RowView<'r>) -> (Option<&'r Label>, Option<&'r Label>)) -> Vec<Self> {
        let mut parts: BTreeMap<_, Vec<Place>> = BTreeMap::new();
        for (row, place) in self.rows().zip(&*self.places) {
            parts.entry(name(row)).or_default().push(*place);
        }
        let part = |((suite, model), mut places): ((Option<&Label>, Option<&Label>), Vec<Place>)| {
            places.shrink_to_fit();
            Self {
                stack: self.stack.clone(),
                profile: self.profile.clone(),
                suite: suite.cloned(),
                model: model.cloned(),
                rows: self.rows,
                places: Cow::Owned(places),
            }
        };
        parts.into_iter().map(part).collect()
    }
}
