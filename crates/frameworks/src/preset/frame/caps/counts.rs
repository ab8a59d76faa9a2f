//! The quantities that caps count.

use super::decimal::Decimal;
use crate::decision::Need;
use crate::transcript::{Message, Usage, named};

named! {
    /// A counter.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum CountedQuantity {
        /// Model requests made.
        Requests = "requests" => "requests",
        /// Tool calls requested, including refused and failed ones.
        Calls = "calls" => "calls",
        /// Calls that succeeded, plus all calls of the current reply.
        CallsProjected = "calls_projected" => "calls, with those asked for",
        /// Input tokens, including cached ones.
        InputTokens = "input_tokens" => "input tokens",
        /// Output tokens.
        OutputTokens = "output_tokens" => "output tokens",
        /// Input and output tokens.
        TotalTokens = "total_tokens" => "tokens",
        /// Input tokens of the current request.
        RequestInputTokens = "request_input_tokens" => "input tokens of the request",
        /// Dollars, summed as doubles in order.
        CostSum = "cost_sum" => "usd",
        /// Dollars as an exact decimal sum; no reading until a cost is known.
        CostExact = "cost_exact" => "usd",
        /// Whole seconds since the run began, rounded down.
        WholeSeconds = "whole_seconds" => "seconds",
        /// Replies without a call, in a row.
        RepliesWithoutCall = "replies_without_call" => "replies without a call in a row",
        /// Replies without usage.
        RepliesWithoutUsage = "replies_without_usage" => "replies without usage",
        /// 1 if every reply has usage and none has a cost.
        RunsWithoutCost = "runs_without_cost" => "no cost known",
    }

    /// A description of what is counted.
    pub(super) fn words() -> &'static str;
}

impl CountedQuantity {
    /// What the counter needs from a recording.
    pub(super) fn need(self) -> Option<Need> {
        match self {
            Self::Calls => Some(Need::Calls),
            Self::Requests | Self::RepliesWithoutCall | Self::RepliesWithoutUsage | Self::RunsWithoutCost => None,
            Self::CallsProjected => Some(Need::ErrorFlags),
            Self::InputTokens | Self::OutputTokens | Self::TotalTokens | Self::RequestInputTokens => Some(Need::Usage),
            Self::CostSum | Self::CostExact => Some(Need::Cost),
            Self::WholeSeconds => Some(Need::Times),
        }
    }
}

/// The counters of one run of the framework.
#[derive(Clone, Copy, Debug, Default)]
#[doc(hidden)]
pub struct RunCounters {
    pub requests: u64,
    pub(super) calls: u64,
    pub calls_succeeded: u64,
    /// Calls of the current reply that count towards a projection.
    pub(super) calls_at_hand: u64,
    pub input: u64,
    pub output: u64,
    pub(super) request_input: u64,
    pub(super) cost_sum: f64,
    pub(super) cost_exact: Option<Decimal>,
    pub(super) elapsed_ms: Option<i64>,
    pub(super) replies_without_call: u64,
    pub(super) replies_without_usage: u64,
}

impl RunCounters {
    /// Takes in a reply. Without usage or cost, it adds nothing to those counts.
    pub(super) fn reply(&mut self, reply: &Message) {
        self.requests += 1;
        self.replies_without_call = if reply.tool_calls.is_empty() { self.replies_without_call + 1 } else { 0 };
        if let Some(usage) = reply.usage().filter(|usage| !usage.is_empty()) {
            self.tokens(usage);
        } else {
            self.request_input = 0;
            self.replies_without_usage += 1;
        }
        if let Some(cost) = reply.cost() {
            self.cost_sum += cost.0;
            let exact = Decimal::shortest(cost.0);
            self.cost_exact = Some(self.cost_exact.map_or(exact, |sum| sum.plus(exact)));
        }
    }

    /// Adds the tokens of one request.
    pub(super) fn tokens(&mut self, usage: Usage) {
        self.request_input = usage.input.unwrap_or(0);
        self.input = self.input.saturating_add(self.request_input);
        self.output = self.output.saturating_add(usage.output.unwrap_or(0));
    }

    /// The current reading of `count`; `None` if there is none.
    pub(super) fn read(&self, count: CountedQuantity) -> Option<f64> {
        let whole = |value: u64| Some(value as f64);
        match count {
            CountedQuantity::Requests => whole(self.requests),
            CountedQuantity::Calls => whole(self.calls),
            CountedQuantity::CallsProjected => whole(self.calls_succeeded + self.calls_at_hand),
            CountedQuantity::InputTokens => whole(self.input),
            CountedQuantity::OutputTokens => whole(self.output),
            CountedQuantity::TotalTokens => whole(self.input.saturating_add(self.output)),
            CountedQuantity::RequestInputTokens => whole(self.request_input),
            CountedQuantity::CostSum => Some(self.cost_sum),
            CountedQuantity::CostExact => self.cost_exact.map(Decimal::to_f64),
            CountedQuantity::WholeSeconds => self.elapsed_ms.map(|ms| (ms / 1000) as f64),
            CountedQuantity::RepliesWithoutCall => whole(self.replies_without_call),
            CountedQuantity::RepliesWithoutUsage => whole(self.replies_without_usage),
            CountedQuantity::RunsWithoutCost => {
                whole(u64::from(self.cost_exact.is_none() && self.replies_without_usage == 0))
            }
        }
    }

    /// The reading of `count` as a framework prints it.
    pub(super) fn printed(&self, count: CountedQuantity) -> String {
        match (count, self.cost_exact) {
            (CountedQuantity::CostExact, Some(cost)) => cost.to_string(),
            _ => self.read(count).map_or_else(String::new, |value| value.to_string()),
        }
    }
}
