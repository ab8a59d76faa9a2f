//! Counts how often each item has been seen, in total or within a window.

use foldhash::HashMap;

use super::Options;
use super::calls::{Asked, StepPrint};
use super::latest::Latest;
use crate::transcript::{Fingerprint, Moment, PointView};

/// Most runs have no more different items. A table that grows is filled anew each time.
const USUAL: usize = 28;

/// Counts by fingerprint.
#[derive(Clone, Debug, Default)]
struct WindowedCounts {
    counts: HashMap<Fingerprint, usize>,
    window: Option<Latest<Fingerprint>>,
}

impl WindowedCounts {
    /// Counts over the latest `window` items, or over all of them.
    fn over(window: Option<usize>) -> Self {
        Self { counts: HashMap::default(), window: window.map(Latest::over) }
    }

    /// Adds an item and returns how often it has been seen, including this time.
    fn take(&mut self, print: Fingerprint) -> usize {
        if let Some(latest) = &mut self.window
            && let Some(gone) = latest.push(print)
            && let Some(count) = self.counts.get_mut(&gone)
        {
            *count -= 1;
        }
        if self.counts.is_empty() {
            self.counts.reserve(USUAL);
        }
        let count = self.counts.entry(print).or_default();
        *count += 1;
        *count
    }
}

/// How often steps like the latest one have occurred: what the signals `*.count` of calls and results read.
#[derive(Debug)]
pub(super) struct StepRepeats {
    options: Options,
    counts: WindowedCounts,
    reading: Option<usize>,
}

impl StepRepeats {
    pub(super) fn start(options: &Options) -> Self {
        Self { options: options.clone(), counts: WindowedCounts::over(options.window), reading: Some(0) }
    }

    /// The reading at `view`, where steps are alike if `print` is.
    pub(super) fn observe(&mut self, view: &PointView<'_>, print: StepPrint) -> Option<f64> {
        if let (Moment::AfterTools, Some(reply)) = (view.moment(), view.reply()) {
            match print(view, reply, &self.options) {
                None => self.reading = None,
                Some(Asked::Nothing) => self.reading = Some(0),
                Some(Asked::OnlyExempt) => {}
                Some(Asked::Calls(print)) => self.reading = Some(self.counts.take(print)),
            }
        }
        self.reading.map(|reading| reading as f64)
    }
}
