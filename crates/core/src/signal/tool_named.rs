use super::{Options, Reads, Registered, Signal};
use crate::transcript::{Moment, PointView};

/// 1 when the current step calls the tool named by `tool` (exact name), else 0.
///
/// Unit: 0 or 1. Changes at: after-response. Options: `tool` (required). Always evaluable.
///
/// ## Fires too early when
/// The tool is called for another purpose, or the call fails.
/// ## Never fires when
/// The tool's name has a prefix.
#[derive(Debug)]
pub struct ToolNamed {
    tool: String,
    named: bool,
}

impl Registered for ToolNamed {
    const ID: &'static str = "tool.named";
    const SUMMARY: &'static str = "1 when this step asks for the tool, else 0";
    const UNIT: &'static str = "0/1";
    const SOURCE: &'static str = "awaken 0.6 StopOnTool; OpenAI Agents 0.24 StopAtTools; Vercel AI 7.0 hasToolCall";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = false;
    const OPTIONS: &'static [&'static str] = &["tool"];

    fn start(options: &Options) -> Self {
        Self { tool: options.tool.clone().unwrap_or_default(), named: false }
    }
}

impl Signal for ToolNamed {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        match (view.moment(), view.reply()) {
            (Moment::AfterResponse, Some(reply)) => {
                self.named = reply.tool_calls.iter().any(|call| *call.name == *self.tool);
            }
            (Moment::BeforeRequest, _) => self.named = false,
            _ => {}
        }
        Some(f64::from(u8::from(self.named)))
    }
}
