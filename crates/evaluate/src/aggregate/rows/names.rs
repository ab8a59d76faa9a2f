//! The dictionary of a frame: stores each name once, under a number.

use foldhash::HashMap;

use crate::aggregate::Label;

/// The number of a name in its dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name(pub(super) u32);

/// Names by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    labels: Vec<Label>,
    numbers: HashMap<Label, Name>,
    recent: Recent,
}

impl Names {
    /// The number of `label`, which is added if it is new.
    pub(super) fn number(&mut self, label: &Label) -> Name {
        if let Some(name) = self.recent.find(label) {
            return name;
        }
        let name = self.looked_up(label);
        self.recent.put(label, name);
        name
    }

    fn looked_up(&mut self, label: &Label) -> Name {
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

/// Labels asked for recently, by the place of their text: the rows of a run, and those of a stack, share their labels,
/// so that most are found here without being read. A label kept here keeps its text, so its place means no other.
#[derive(Clone, Debug, Default)]
struct Recent {
    slots: Vec<Option<(Label, Name)>>,
}

impl Recent {
    /// A few times as many as there usually are stacks and rules.
    const SLOTS: usize = 1 << 10;

    fn find(&self, label: &Label) -> Option<Name> {
        let (kept, name) = self.slots.get(Self::slot(label))?.as_ref()?;
        if kept.is_shared_with(label) { Some(*name) } else { None }
    }

    fn put(&mut self, label: &Label, name: Name) {
        self.slots.resize(Self::SLOTS, None);
        self.slots[Self::slot(label)] = Some((label.clone(), name));
    }

    fn slot(label: &Label) -> usize {
        // Texts are at least 16 bytes apart.
        (label.address() >> 4) % Self::SLOTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More labels than there are slots, each twice, and equal texts at different places.
    #[test]
    fn equal_texts_have_one_number() {
        let labels = |n: usize| (0..n).map(|n| Label::from(n.to_string().as_str())).collect::<Vec<_>>();
        let (mut names, n) = (Names::default(), 3 * Recent::SLOTS);
        for label in labels(n).iter().chain(&labels(n)) {
            for _ in 0..2 {
                let name = names.number(label);
                assert_eq!((names.label(name), names.find(label)), (label, Some(name)));
                assert_eq!(name.0.to_string(), **label);
            }
        }
        assert_eq!(names.labels.len(), n);
    }
}
