//! A strategy shown point after point: the one loop of a replay and of a run that is still going on.

use crate::decision::{Decision, Watch};
use crate::transcript::PointView;

/// A strategy at work, up to the decision with which it ends the run.
pub(super) struct Following {
    pub(super) watch: Box<dyn Watch>,
    /// Has it ended the run? What it says later is discarded.
    pub(super) has_ended: bool,
    said: Vec<Decision>,
}

impl Following {
    pub(super) fn new(watch: Box<dyn Watch>) -> Self {
        Self { watch, has_ended: false, said: Vec::new() }
    }

    /// Shows it the next point; what it says there, up to the first decision that ends the run, goes to `trail`.
    #[inline]
    pub(super) fn show(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        self.watch.at(view, &mut self.said);
        if self.said.is_empty() {
            return;
        }
        if !self.has_ended {
            let end = self.said.iter().position(|decision| decision.action.is_terminal());
            self.has_ended = end.is_some();
            self.said.truncate(end.map_or(self.said.len(), |end| end + 1));
            trail.append(&mut self.said);
        }
        self.said.clear();
    }

    /// Would it end the run at this point? Nothing else comes of what it says there.
    pub(super) fn would_end(&mut self, view: &PointView<'_>) -> bool {
        self.watch.at(view, &mut self.said);
        let ends = self.said.iter().any(|decision| decision.action.is_terminal());
        self.said.clear();
        ends
    }
}
