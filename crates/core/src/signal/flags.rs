//! The latest error flags of tool results.

use super::latest::Latest;
use crate::transcript::{Moment, PointView};

/// Flagged results, `true` for an error.
impl Latest<bool> {
    /// Adds the flags of a step's results, once its tools have run.
    pub(super) fn take_flags(&mut self, view: &PointView<'_>) {
        if view.moment() == Moment::AfterTools {
            for is_error in view.results().filter_map(|result| result.is_error) {
                self.push(is_error);
            }
        }
    }

    /// The number of errors and of all flags in the window; `None` before the first flag.
    pub(super) fn errors(&self) -> Option<(usize, usize)> {
        let errors = self.items.iter().filter(|&&is_error| is_error).count();
        if self.items.is_empty() { None } else { Some((errors, self.items.len())) }
    }
}
