//! Counters that the machines use: streaks and sliding windows of identities.

use std::collections::VecDeque;

/// Counts how many times in a row the same thing was seen.
#[derive(Clone, Debug)]
pub struct StreakCounter<T> {
    last: Option<T>,
    count: u32,
}

impl<T> Default for StreakCounter<T> {
    fn default() -> Self {
        Self { last: None, count: 0 }
    }
}

impl<T: PartialEq> StreakCounter<T> {
    /// Takes in `item` and returns the length of its streak, from 1.
    pub fn push(&mut self, item: T) -> u32 {
        if self.last.as_ref() == Some(&item) {
            self.count = self.count.saturating_add(1);
        } else {
            self.last = Some(item);
            self.count = 1;
        }
        self.count
    }

    /// The length of the current streak; 0 before the first item.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// What was seen last.
    pub fn last(&self) -> Option<&T> {
        self.last.as_ref()
    }

    /// The streak begins anew with what was seen last.
    pub fn restart(&mut self) {
        self.count = self.count.min(1);
    }

    /// Resets the streak.
    pub fn clear(&mut self) {
        self.last = None;
        self.count = 0;
    }
}

/// The last `size` things seen.
#[derive(Clone, Debug, Default)]
pub struct SlidingWindow<T> {
    items: VecDeque<T>,
    size: usize,
}

impl<T: PartialEq> SlidingWindow<T> {
    /// An empty window that holds `size` items.
    pub fn new(size: usize) -> Self {
        Self { items: VecDeque::new(), size }
    }

    /// Takes in `item`, dropping the oldest if the window is full.
    pub fn push(&mut self, item: T) {
        self.items.push_back(item);
        while self.items.len() > self.size {
            self.items.pop_front();
        }
    }

    /// Drops all items.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// How often `item` is in the window.
    pub fn count(&self, item: &T) -> usize {
        self.items.iter().filter(|seen| *seen == item).count()
    }

    /// The items in the window, oldest first.
    pub fn items(&self) -> &VecDeque<T> {
        &self.items
    }

    /// How often the most frequent item is in the window.
    pub fn most(&self) -> usize {
        self.items.iter().map(|item| self.count(item)).max().unwrap_or(0)
    }
}
