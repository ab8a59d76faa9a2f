//! Feeds a strategy one point after another. Replays, live runs and the hook share this loop.

use crate::decision::{Decision, Watch};
use crate::transcript::PointView;

/// A running strategy, followed up to the decision that ends the run.
pub struct Following {
    pub(super) watch: Box<dyn Watch>,
    /// The decision that ended the run; later ones are discarded.
    pub(super) ended_by: Option<Decision>,
    said: Vec<Decision>,
}

impl Following {
    /// Follows a strategy that has not been shown a point yet.
    pub fn new(watch: Box<dyn Watch>) -> Self {
        Self { watch, ended_by: None, said: Vec::new() }
    }

    /// True once it has ended the run.
    pub fn has_ended(&self) -> bool {
        self.ended_by.is_some()
    }

    /// Shows it the next point. Appends its decisions to `trail`, up to the first that ends the run.
    #[inline]
    pub fn show(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        self.watch.at(view, &mut self.said);
        if self.said.is_empty() {
            return;
        }
        if self.ended_by.is_none() {
            let end = self.said.iter().position(|decision| decision.action.is_terminal());
            self.ended_by = end.map(|end| self.said[end].clone());
            if let Some(end) = end {
                self.said.truncate(end + 1);
            }
            trail.append(&mut self.said);
        }
        self.said.clear();
    }

    /// True if it would end the run at this point. Its decisions there are discarded.
    pub(super) fn would_end(&mut self, view: &PointView<'_>) -> bool {
        self.watch.at(view, &mut self.said);
        let ends = self.said.iter().any(|decision| decision.action.is_terminal());
        self.said.clear();
        ends
    }
}
