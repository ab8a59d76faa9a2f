//! Counts consecutive equal items.

/// How many times in a row the same item was seen.
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
    /// Adds an item and returns the length of the streak, including this item.
    pub(super) fn take(&mut self, item: T) -> u32 {
        self.length = if self.last.as_ref() == Some(&item) { self.length + 1 } else { 1 };
        self.last = Some(item);
        self.length
    }

    /// Forgets all items.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// The current length; 0 before the first item.
    pub(super) fn length(&self) -> u32 {
        self.length
    }
}
