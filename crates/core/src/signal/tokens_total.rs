use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moments, PointView, Spend};

/// Input (cached included) and output tokens so far. A step without usage adds nothing.
///
/// Unit: tokens. Changes at: after-response. Not evaluable when: the run reports no usage; before the
/// first report there is no reading.
///
/// ## Fires too early when
/// Every call sends the context again, so the sum grows with the square of the run's length.
/// ## Never fires when
/// Some steps report no usage: the sum is too low and the run is marked as partly evaluable.
#[derive(Debug, Default)]
pub struct TotalTokens(Spend);

impl Registered for TotalTokens {
    const ID: &'static str = "tokens.total";
    const SUMMARY: &'static str = "input (cached included) and output tokens so far";
    const UNIT: &'static str = "tokens";
    const SOURCE: &'static str = "awaken 0.6 TokenBudget; agentica 1.4 token_budget";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = true;
    const LOOKS_AT: Moments = Moments::NONE;
    const NEED: Option<Need> = Some(Need::Usage);

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for TotalTokens {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        self.0.add_all(view.news());
        self.0.total.map(|tokens| tokens.0 as f64)
    }
}
