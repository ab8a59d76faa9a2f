//! A window over the latest items.

use std::collections::VecDeque;

/// The latest items, at most as many as its window has room for; a window of 0 is treated as 1.
#[derive(Clone, Debug)]
pub(super) struct Latest<T> {
    pub(super) window: usize,
    pub(super) items: VecDeque<T>,
}

impl<T> Latest<T> {
    /// No items yet.
    pub(super) fn over(window: usize) -> Self {
        Self { window: window.max(1), items: VecDeque::new() }
    }

    /// Adds an item; returns the one that is no longer among the latest.
    pub(super) fn push(&mut self, item: T) -> Option<T> {
        self.items.push_back(item);
        if self.items.len() > self.window { self.items.pop_front() } else { None }
    }
}
