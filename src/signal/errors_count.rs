use super::{Options, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, PointView};
use std::collections::VecDeque;

/// Errors so far; with `window`, errors among that many latest flagged tool results.
///
/// Unit: errors. Changes at: after-tools. Options: `window` (default: the whole run). Not evaluable when:
/// the run flags no tool results.
///
/// ## Fires too early when
/// A long run meets the limit one harmless error at a time.
/// ## Never fires when
/// Tools report their failures as ordinary text.
#[derive(Debug)]
pub struct ErrorsCount {
    window: usize,
    latest: VecDeque<bool>,
}

impl Registered for ErrorsCount {
    const ID: &'static str = "errors.count";
    const SUMMARY: &'static str = "errors among the latest flagged results, or in all";
    const UNIT: &'static str = "errors";
    const SOURCE: &'static str = "tau2-bench 1.0 max_errors (cumulative, 10)";
    const OPTIONS: &'static [&'static str] = &["window"];
    const NEED: Option<Need> = Some(Need::ErrorFlags);

    fn start(options: &Options) -> Self {
        Self { window: options.window.unwrap_or(usize::MAX).max(1), latest: VecDeque::new() }
    }
}

impl Signal for ErrorsCount {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if view.moment() == Moment::AfterTools {
            self.latest.extend(view.results().filter_map(|result| result.is_error));
            let surplus = self.latest.len().saturating_sub(self.window);
            self.latest.drain(..surplus);
        }
        let errors = self.latest.iter().filter(|&&is_error| is_error).count();
        (!self.latest.is_empty()).then_some(errors as f64)
    }
}
