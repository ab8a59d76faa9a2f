//! Counts how often each item has been seen, in total or within a window.

use std::collections::VecDeque;

use foldhash::HashMap;

use crate::transcript::Fingerprint;

/// Counts by fingerprint.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowedCounts {
    counts: HashMap<Fingerprint, usize>,
    window: Option<(usize, VecDeque<Fingerprint>)>,
}

impl WindowedCounts {
    /// Counts over the latest `window` items, or over all of them.
    pub(super) fn over(window: Option<usize>) -> Self {
        Self { counts: HashMap::default(), window: window.map(|size| (size.max(1), VecDeque::new())) }
    }

    /// Adds an item and returns how often it has been seen, including this time.
    pub(super) fn take(&mut self, print: Fingerprint) -> usize {
        if let Some((size, latest)) = &mut self.window {
            latest.push_back(print);
            if latest.len() > *size
                && let Some(gone) = latest.pop_front()
                && let Some(count) = self.counts.get_mut(&gone)
            {
                *count -= 1;
            }
        }
        let count = self.counts.entry(print).or_default();
        *count += 1;
        *count
    }
}
