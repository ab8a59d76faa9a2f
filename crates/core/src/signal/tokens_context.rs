use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// Input tokens of the latest call, cached ones included: how full the context is.
///
/// Unit: tokens. Changes at: after-response. Not evaluable when: the run reports no usage.
///
/// ## Fires too early when
/// One result was huge and is compacted away later.
/// ## Never fires when
/// The harness compacts the history before the limit.
#[derive(Debug, Default)]
pub struct ContextTokens(Option<u64>);

impl Registered for ContextTokens {
    const ID: &'static str = "tokens.context";
    const SUMMARY: &'static str = "input tokens of the latest call: what is in context now";
    const UNIT: &'static str = "tokens";
    const SOURCE: &'static str = "context limits of every provider; agentao 0.5 token_budget strategy";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterResponse);
    const NEED: Option<Need> = Some(Need::Usage);

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for ContextTokens {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if let (Moment::AfterResponse, Some(reply)) = (view.moment(), view.reply())
            && let Some(usage) = reply.usage()
        {
            self.0 = usage.input.or(self.0);
        }
        self.0.map(|tokens| tokens as f64)
    }
}
