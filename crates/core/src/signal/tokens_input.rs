use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moments, PointView, Spend};

/// Input tokens so far, cached ones included. A step without usage adds nothing.
///
/// Unit: tokens. Changes at: after-response. Not evaluable when: the run reports no usage; before the
/// first report there is no reading.
///
/// ## Fires too early when
/// Cached input counts in full although it is cheap.
/// ## Never fires when
/// Some steps report no usage: the sum is too low and the run is marked as partly evaluable.
#[derive(Debug, Default)]
pub struct InputTokens(Spend);

impl Registered for InputTokens {
    const ID: &'static str = "tokens.input";
    const SUMMARY: &'static str = "input tokens so far, cached ones included";
    const UNIT: &'static str = "tokens";
    const SOURCE: &'static str = "pydantic-ai 2.68 input_tokens_limit";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = true;
    const LOOKS_AT: Moments = Moments::NONE;
    const NEED: Option<Need> = Some(Need::Usage);

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for InputTokens {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        self.0.add_all(view.news());
        self.0.input.map(|tokens| tokens.0 as f64)
    }
}
