//! A window over the latest error flags of tool results.

use std::collections::VecDeque;

use crate::transcript::{Moment, PointView};

/// The latest `window` flagged tool results, `true` for an error.
#[derive(Debug)]
pub(super) struct LatestFlags {
    window: usize,
    flags: VecDeque<bool>,
}

impl LatestFlags {
    /// Keeps at most `window` flags; a window of 0 is treated as 1.
    pub(super) fn over(window: usize) -> Self {
        Self { window: window.max(1), flags: VecDeque::new() }
    }

    /// Adds the flags of a step's results, once its tools have run.
    pub(super) fn take(&mut self, view: &PointView<'_>) {
        if view.moment() == Moment::AfterTools {
            self.flags.extend(view.results().filter_map(|result| result.is_error));
            let surplus = self.flags.len().saturating_sub(self.window);
            self.flags.drain(..surplus);
        }
    }

    /// The number of errors and of all flags in the window; `None` before the first flag.
    pub(super) fn errors(&self) -> Option<(usize, usize)> {
        let errors = self.flags.iter().filter(|&&is_error| is_error).count();
        if self.flags.is_empty() { None } else { Some((errors, self.flags.len())) }
    }
}
