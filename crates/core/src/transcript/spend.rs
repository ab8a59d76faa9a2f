//! Tokens and dollars spent by a run. All code that decides which calls count is here.

use super::{Event, Lane, Role, Run, Tokens, Usage, Usd};

/// What a run spent in total. The spend of single calls is unknown, so neither rules nor the cost at a stop can use it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Tokens of all calls of the agent and its sub-agents.
    pub usage: Usage,
    /// Dollars; `None` if not recorded.
    pub cost: Option<Usd>,
}

/// Running totals of the agent under test and its sub-agents. A simulated user's calls do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spend {
    /// Input plus output tokens; `None` until a call has reported its input tokens.
    pub total: Option<Tokens>,
    /// Input tokens, cached ones included; `None` until reported.
    pub input: Option<Tokens>,
    /// Output tokens; `None` until reported.
    pub output: Option<Tokens>,
    /// Input tokens not read from a cache; `None` until reported.
    pub uncached: Option<Tokens>,
    /// Dollars; `None` until a call has reported its cost.
    pub cost: Option<Usd>,
}

impl Spend {
    /// Adds the usage and cost of an event, if it counts.
    pub fn add(&mut self, event: &Event) {
        let Some(message) = event.message() else { return };
        if message.role != Role::Assistant || !matches!(message.lane, Lane::Main | Lane::Side(_)) {
            return;
        }
        if let Some(usage) = &message.usage() {
            // Output alone gives no total: the input is unknown, not zero.
            add(&mut self.total, usage.input.and(usage.total()));
            add(&mut self.input, usage.input.map(Tokens));
            add(&mut self.output, usage.output.map(Tokens));
            add(&mut self.uncached, usage.uncached_input());
        }
        if let Some(cost) = message.cost() {
            self.cost = Some(self.cost.unwrap_or_default() + cost);
        }
    }

    /// What a whole run spent: the recording's own totals where it states them, else the sums over its calls.
    pub fn from_run(run: &Run) -> Self {
        let calls = Self::from_events(run.events());
        let Some(Totals { usage, cost }) = run.totals else { return calls };
        Self {
            total: usage.total().or(calls.total),
            input: usage.input.map(Tokens).or(calls.input),
            output: usage.output.map(Tokens).or(calls.output),
            uncached: usage.uncached_input().or(calls.uncached),
            cost: cost.or(calls.cost),
        }
    }

    /// Sums over a list of events.
    pub fn from_events(events: &[Event]) -> Self {
        let mut spend = Self::default();
        spend.add_all(events);
        spend
    }

    pub(crate) fn add_all(&mut self, events: &[Event]) {
        for event in events {
            self.add(event);
        }
    }
}

fn add(sum: &mut Option<Tokens>, part: Option<Tokens>) {
    if let Some(part) = part {
        *sum = Some(sum.unwrap_or_default() + part);
    }
}
