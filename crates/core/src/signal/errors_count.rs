use super::latest::Latest;
use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// Errors so far; with `window`, errors among that many latest flagged tool results.
///
/// Unit: errors. Changes at: after-tools. Options: `window` (default: the whole run). Not evaluable when:
/// the run flags no tool results.
///
/// ## Fires too early when
/// A long run reaches the limit through single harmless errors.
/// ## Never fires when
/// Tools report failures as ordinary text.
#[derive(Debug)]
pub struct ErrorsCount(Latest<bool>);

impl Registered for ErrorsCount {
    const ID: &'static str = "errors.count";
    const SUMMARY: &'static str = "errors among the latest flagged results, or in all";
    const UNIT: &'static str = "errors";
    const SOURCE: &'static str = "tau2-bench 1.0 max_errors (cumulative, 10)";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = true;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterTools);
    const OPTIONS: &'static [&'static str] = &["window"];
    const NEED: Option<Need> = Some(Need::ErrorFlags);

    fn start(options: &Options) -> Self {
        Self(Latest::over(options.window.unwrap_or(usize::MAX)))
    }
}

impl Signal for ErrorsCount {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        self.0.take_flags(view);
        Some(self.0.errors()?.0 as f64)
    }
}
