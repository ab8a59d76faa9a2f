use super::{Options, Reads, Registered, Signal};
use crate::transcript::{Moment, Moments, PointView};

/// Steps completed: model calls whose tools have run.
///
/// Unit: steps. Changes at: after-tools. Always evaluable.
///
/// ## Fires too early when
/// A long task needs many small steps; the count says nothing about progress.
/// ## Never fires when
/// The recording's own cap is lower than the limit.
#[derive(Debug, Default)]
pub struct Steps(u32);

impl Registered for Steps {
    const ID: &'static str = "steps";
    const SUMMARY: &'static str = "steps completed";
    const UNIT: &'static str = "steps";
    const SOURCE: &'static str = "every framework's cap, e.g. awaken 0.6 max_rounds, smolagents max_steps";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = true;
    const ACCUMULATES: bool = true;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterTools);

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for Steps {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if view.moment() == Moment::AfterTools {
            self.0 += 1;
        }
        Some(f64::from(self.0))
    }
}
