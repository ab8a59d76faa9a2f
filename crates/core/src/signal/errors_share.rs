use super::latest::Latest;
use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// Share of errors among the latest `window` (default 10) flagged tool results. Until there are that many, the share
/// among those there are.
///
/// Unit: share, 0 to 1. Changes at: after-tools. Options: `window`. Not evaluable when: the run flags no
/// tool results.
///
/// ## Fires too early when
/// The very first result is an error: 1 of 1. Combine it with `steps`.
/// ## Never fires when
/// The window is longer than the run.
#[derive(Debug)]
pub struct ErrorsShare(Latest<bool>);

impl Registered for ErrorsShare {
    const ID: &'static str = "errors.share";
    const SUMMARY: &'static str = "share of errors among the latest flagged results";
    const UNIT: &'static str = "share";
    const SOURCE: &'static str = "agentao 0.5 is_all_errors (window 10)";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterTools);
    const OPTIONS: &'static [&'static str] = &["window"];
    const NEED: Option<Need> = Some(Need::ErrorFlags);

    fn start(options: &Options) -> Self {
        Self(Latest::over(options.window.unwrap_or(10)))
    }
}

impl Signal for ErrorsShare {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        self.0.take_flags(view);
        let (errors, all) = self.0.errors()?;
        Some(errors as f64 / all as f64)
    }
}
