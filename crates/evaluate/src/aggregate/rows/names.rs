//! The dictionary of a frame: stores each name once, under a number.

use std::collections::HashMap;

use crate::aggregate::Label;

/// The number of a name in its dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name(pub(super) u32);

/// Names by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    labels: Vec<Label>,
    numbers: HashMap<Label, Name>,
}

impl Names {
    /// The number of `label`, which is added if it is new.
    pub(super) fn number(&mut self, label: &Label) -> Name {
        if let Some(name) = self.numbers.get(label) {
            return *name;
        }
        let name = Name(u32::try_from(self.labels.len()).expect("fewer than 2^32 names fit into memory"));
        self.labels.push(label.clone());
        self.numbers.insert(label.clone(), name);
        name
    }

    /// The number of `label`, or `None` if it is not in the dictionary.
    pub(super) fn find(&self, label: &Label) -> Option<Name> {
        self.numbers.get(label).copied()
    }

    /// The name of a number that [`Names::number`] returned.
    #[inline]
    pub(super) fn label(&self, name: Name) -> &Label {
        &self.labels[name.0 as usize]
    }
}
