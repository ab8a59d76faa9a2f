//! What the records of a file belong to, such as runs and traces.

use std::collections::HashMap;

/// Values by name, in the order in which the names first came.
#[derive(Debug, Default)]
pub(crate) struct ByName<T> {
    /// The names and their values.
    pub(crate) all: Vec<(String, T)>,
    places: HashMap<String, usize>,
}

impl<T: Default> ByName<T> {
    /// The value of that name, which may be new.
    pub(crate) fn named(&mut self, name: String) -> &mut T {
        let at = *self.places.entry(name.clone()).or_insert_with(|| {
            self.all.push((name, T::default()));
            self.all.len() - 1
        });
        &mut self.all[at].1
    }
}
