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
    let mut strata = Vec::new();
    for group in by_stack(rows) {
        let mut parts: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
        for row in &group.rows {
            parts.entry((row.suite.clone(), row.model.clone())).or_default().push(row);
        }
        for ((suite, model), rows) in parts {
            strata.push(Group { suite, model, rows, ..group.clone() });
        }
    }
    strata
}
