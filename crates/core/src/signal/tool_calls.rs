use super::calls::is_exempt;
use super::{Options, Reads, Registered, Signal};
use crate::transcript::{Moment, Moments, PointView};

/// Tool calls requested so far; parallel calls count one by one.
///
/// Unit: calls. Changes at: after-response. Options: `exempt_tools`, `only_tools`. Always evaluable.
///
/// ## Fires too early when
/// The agent batches many cheap reads in one reply.
/// ## Never fires when
/// The agent talks instead of acting.
#[derive(Debug)]
pub struct ToolCalls {
    options: Options,
    calls: u32,
}

impl Registered for ToolCalls {
    const ID: &'static str = "tool_calls";
    const SUMMARY: &'static str = "tool calls asked for so far";
    const UNIT: &'static str = "calls";
    const SOURCE: &'static str = "pydantic-ai 2.68 tool_calls_limit; Agno 3.1 tool_call_limit";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = true;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterResponse);
    const OPTIONS: &'static [&'static str] = &["exempt_tools", "only_tools"];

    fn start(options: &Options) -> Self {
        Self { options: options.clone(), calls: 0 }
    }
}

impl Signal for ToolCalls {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if let (Moment::AfterResponse, Some(reply)) = (view.moment(), view.reply()) {
            let counted = reply.tool_calls.iter().filter(|call| !is_exempt(&call.name, &self.options)).count();
            self.calls = self.calls.saturating_add(u32::try_from(counted).unwrap_or(u32::MAX));
        }
        Some(f64::from(self.calls))
    }
}
