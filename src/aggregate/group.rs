//! Rows of one stack, or of one stack in one stratum.

use std::collections::BTreeMap;

use super::{Label, Row};

/// Rows that are summarised together.
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
    /// The rows, in corpus order.
    pub rows: Vec<&'r Row>,
}

/// One group a stack, in the order the stacks were given.
pub fn by_stack(rows: &[Row]) -> Vec<Group<'_>> {
    let mut places: BTreeMap<Label, usize> = BTreeMap::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for row in rows {
        let place = *places.entry(row.stack.clone()).or_insert_with(|| {
            groups.push(Group {
                stack: row.stack.clone(),
                profile: row.profile.clone(),
                suite: None,
                model: None,
                rows: Vec::new(),
            });
            groups.len() - 1
        });
        groups[place].rows.push(row);
    }
    groups
}

/// One group a stack, suite and model: stacks in the order given, strata by name.
pub fn by_stratum(rows: &[Row]) -> Vec<Group<'_>> {
    by_stack(rows).iter().flat_map(strata).collect()
}

/// The strata of one stack, by name.
pub(super) fn strata<'r>(group: &Group<'r>) -> Vec<Group<'r>> {
    let mut parts: BTreeMap<_, Vec<&'r Row>> = BTreeMap::new();
    for row in &group.rows {
        parts.entry((row.suite.clone(), row.model.clone())).or_default().push(row);
    }
    parts.into_iter().map(|((suite, model), rows)| Group { suite, model, rows, ..group.without_rows() }).collect()
}

impl Group<'_> {
    fn without_rows(&self) -> Self {
        let Self { stack, profile, suite, model, .. } = self;
        Self {
            stack: stack.clone(),
            profile: profile.clone(),
            suite: suite.clone(),
            model: model.clone(),
            rows: Vec::new(),
        }
    }
}
