//! Counts consecutive equal items.

use super::Options;
use super::calls::{Asked, StepPrint};
use crate::transcript::{Fingerprint, Moment, PointView};

/// How many times in a row the same item was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Streak {
    last: Option<Fingerprint>,
    length: u32,
}

impl Streak {
    /// Adds an item.
    pub(super) fn take(&mut self, item: Fingerprint) {
        self.length = if self.last == Some(item) { self.length + 1 } else { 1 };
        self.last = Some(item);
    }

    /// The current length; 0 before the first item.
    pub(super) fn length(&self) -> u32 {
        self.length
    }
}

/// How many steps in a row were alike: what the signals `*.streak` of calls and results read.
#[derive(Debug)]
pub(super) struct StepStreak {
    options: Options,
    streak: Streak,
    /// The step made calls, but no result of them is recorded.
    unanswered: bool,
}

impl StepStreak {
    pub(super) fn start(options: &Options) -> Self {
        Self { options: options.clone(), streak: Streak::default(), unanswered: false }
    }

    /// The reading at `view`, where steps are alike if `print` is.
    pub(super) fn observe(&mut self, view: &PointView<'_>, print: StepPrint) -> Option<f64> {
        if let (Moment::AfterTools, Some(reply)) = (view.moment(), view.reply()) {
            let step = print(view, reply, &self.options);
            self.unanswered = step.is_none();
            match step {
                None | Some(Asked::Nothing) => self.streak = Streak::default(),
                Some(Asked::OnlyExempt) => {}
                Some(Asked::Calls(print)) => self.streak.take(print),
            }
        }
        if self.unanswered { None } else { Some(f64::from(self.streak.length())) }
    }
}
