use std::collections::VecDeque;

use super::calls::is_exempt;
use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Instant, Moment, Moments, PointView};

/// Seconds looked back, unless `seconds` says otherwise.
const SECONDS: u64 = 60;

/// Tool calls requested in the latest `seconds` (default 60), this reply's included; parallel calls count one by one. A
/// call is as old as its reply.
///
/// Unit: calls. Changes at: after-response. Options: `seconds`, `exempt_tools`, `only_tools`. Not evaluable when: the
/// recording has no timestamps.
///
/// ## Fires too early when
/// The agent batches many cheap reads in one reply.
/// ## Never fires when
/// Each call is slow: a loop of builds asks for few calls a minute.
#[derive(Debug)]
pub struct RecentToolCalls {
    options: Options,
    back_ms: i64,
    /// When each of the latest calls was asked for.
    latest: VecDeque<Instant>,
    reading: Option<usize>,
}

impl Registered for RecentToolCalls {
    const ID: &'static str = "tool_calls.recent";
    const SUMMARY: &'static str = "tool calls asked for in the latest seconds";
    const UNIT: &'static str = "calls";
    const SOURCE: &'static str = "rate limits of tools, as in LiteLLM 1.109 and MCP gateways: calls a minute";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterResponse);
    const OPTIONS: &'static [&'static str] = &["seconds", "exempt_tools", "only_tools"];
    const NEED: Option<Need> = Some(Need::Times);

    fn start(options: &Options) -> Self {
        let seconds = i64::try_from(options.seconds.unwrap_or(SECONDS)).unwrap_or(i64::MAX);
        Self { options: options.clone(), back_ms: seconds.saturating_mul(1000), latest: VecDeque::new(), reading: None }
    }
}

impl Signal for RecentToolCalls {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if let (Moment::AfterResponse, Some(reply)) = (view.moment(), view.reply())
            && let Some(now) = reply.ts.or_else(|| view.now())
        {
            let counted = reply.tool_calls.iter().filter(|call| !is_exempt(&call.name, &self.options));
            self.latest.extend(counted.map(|_| now));
            while let Some(first) = self.latest.front()
                && now.since(*first).0 >= self.back_ms
            {
                self.latest.pop_front();
            }
            self.reading = Some(self.latest.len());
        }
        self.reading.map(|calls| calls as f64)
    }
}
