//! How long something has been the same.

/// Counts how many times in a row the same thing was seen.
#[derive(Clone, Debug)]
pub(super) struct Streak<T> {
    last: Option<T>,
    length: u32,
}

impl<T> Default for Streak<T> {
    fn default() -> Self {
        Self { last: None, length: 0 }
    }
}

impl<T: PartialEq> Streak<T> {
    /// Takes one in and returns how many in a row, this one included.
    pub(super) fn take(&mut self, item: T) -> u32 {
        self.length = if self.last.as_ref() == Some(&item) { self.length + 1 } else { 1 };
        self.last = Some(item);
        self.length
    }

    /// Forgets what was seen.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// How many in a row so far.
    pub(super) fn length(&self) -> u32 {
        self.length
    }
}
