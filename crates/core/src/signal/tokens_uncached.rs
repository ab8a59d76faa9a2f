use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moments, PointView, Spend};

/// Input tokens so far that were not read from a cache. A step without usage adds nothing.
///
/// Unit: tokens. Changes at: after-response. Not evaluable when: the run reports no usage; before the
/// first report there is no reading.
///
/// ## Fires too early when
/// The provider's cache expires in the middle of a run.
/// ## Never fires when
/// Some steps report no usage: the sum is too low and the run is marked as partly evaluable.
#[derive(Debug, Default)]
pub struct UncachedTokens(Spend);

impl Registered for UncachedTokens {
    const ID: &'static str = "tokens.uncached";
    const SUMMARY: &'static str = "input tokens so far that were not read from a cache";
    const UNIT: &'static str = "tokens";
    const SOURCE: &'static str = "prompt caching as the providers bill it: the part of the input that is paid in full";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = true;
    const LOOKS_AT: Moments = Moments::NONE;
    const NEED: Option<Need> = Some(Need::Usage);

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for UncachedTokens {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        self.0.add_all(view.news());
        self.0.uncached.map(|tokens| tokens.0 as f64)
    }
}
