use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// Input tokens of the latest call divided by those of the first: how much the context has grown.
///
/// Unit: ratio (1 = no growth). Changes at: after-response. Not evaluable when: the run reports no usage, or the first
/// input is 0.
///
/// ## Fires too early when
/// The first prompt is tiny.
/// ## Never fires when
/// The system prompt dominates the context.
#[derive(Debug, Default)]
pub struct ContextGrowth {
    first: Option<u64>,
    latest: Option<u64>,
}

impl Registered for ContextGrowth {
    const ID: &'static str = "context.growth";
    const SUMMARY: &'static str = "latest call's input over the first call's";
    const UNIT: &'static str = "ratio";
    const SOURCE: &'static str = "our own count: mini-swe-agent runs spend 98 % of their tokens on prompts";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterResponse);
    const NEED: Option<Need> = Some(Need::Usage);

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for ContextGrowth {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if view.moment() == Moment::AfterResponse
            && let Some(reply) = view.reply()
            && let Some(usage) = reply.usage()
            && let Some(input) = usage.input
        {
            self.first = self.first.or(Some(input).filter(|&input| input > 0));
            self.latest = Some(input);
        }
        Some(self.latest? as f64 / self.first? as f64)
    }
}
