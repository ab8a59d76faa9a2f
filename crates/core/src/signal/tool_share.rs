use std::collections::BTreeMap;

use super::calls::is_exempt;
use super::latest::Latest;
use super::{Options, Reads, Registered, Signal};
use crate::transcript::{Moment, Moments, Name, PointView};

/// Share of the most frequent tool name among the latest `window` (default 10) calls. Until there are that many calls,
/// the share among those there are.
///
/// Unit: share, 0 to 1. Changes at: after-response. Options: `window`, `exempt_tools`, `only_tools`. No reading before
/// the first call.
///
/// ## Fires too early when
/// The first call is 1 of 1: combine it with `tool_calls`. An agent with one general tool (a shell) always reads 1. The
/// agent pages through a file, or edits in a batch.
/// ## Never fires when
/// Two tools alternate.
#[derive(Debug)]
pub struct ToolShare {
    options: Options,
    latest: Latest<Name>,
}

impl Registered for ToolShare {
    const ID: &'static str = "tool.share";
    const SUMMARY: &'static str = "share of the most common tool among the latest calls";
    const UNIT: &'static str = "share";
    const SOURCE: &'static str = "agentao 0.5 is_stuck_on_one_tool (window 10, 0.8)";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterResponse);
    const OPTIONS: &'static [&'static str] = &["window", "exempt_tools", "only_tools"];

    fn start(options: &Options) -> Self {
        Self { options: options.clone(), latest: Latest::over(options.window.unwrap_or(10)) }
    }
}

impl Signal for ToolShare {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if let (Moment::AfterResponse, Some(reply)) = (view.moment(), view.reply()) {
            for call in reply.tool_calls.iter().filter(|call| !is_exempt(&call.name, &self.options)) {
                self.latest.push(call.name.clone());
            }
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in &self.latest.items {
            *counts.entry(name).or_default() += 1;
        }
        counts.into_values().max().map(|most| most as f64 / self.latest.items.len() as f64)
    }
}
