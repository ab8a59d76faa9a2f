//! What a run has cost so far: the one place that says which tokens and dollars count.

use super::{Event, Lane, Role, Run, Tokens, Usage, Usd};

/// What a run spent as a whole. Which call spent it is not known, so no rule and no bill of a stop can use it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Tokens of all calls of the agent and its sub-agents.
    pub usage: Usage,
    /// Dollars; `None` where they are not recorded.
    pub cost: Option<Usd>,
}

/// Running totals of the agent under test and its sub-agents. A simulated user's calls do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spend {
    /// Input plus output; `None` until some call reported its usage.
    pub total: Option<Tokens>,
    /// Input, cached tokens included.
    pub input: Option<Tokens>,
    /// Output.
    pub output: Option<Tokens>,
    /// Input that was not read from a cache.
    pub uncached: Option<Tokens>,
    /// Dollars; `None` until some call reported its cost.
    pub cost: Option<Usd>,
}

impl Spend {
    /// Takes an event in.
    pub fn add(&mut self, event: &Event) {
        let Some(message) = event.message() else { return };
        if message.role != Role::Assistant || !matches!(message.lane, Lane::Main | Lane::Side(_)) {
            return;
        }
        if let Some(usage) = &message.usage {
            // Output alone is no total: what went in is unknown, not nothing.
            add(&mut self.total, usage.input.and(usage.total()));
            add(&mut self.input, usage.input.map(Tokens));
            add(&mut self.output, usage.output.map(Tokens));
            add(&mut self.uncached, usage.uncached_input());
        }
        if let Some(cost) = message.cost {
            self.cost = Some(self.cost.unwrap_or_default() + cost);
        }
    }

    /// What a run spent: its totals where the recording states them, else the sums over its calls.
    pub fn of_run(run: &Run) -> Self {
        let calls = Self::of(run.events());
        let Some(Totals { usage, cost }) = run.totals else { return calls };
        Self {
            total: usage.total().or(calls.total),
            input: usage.input.map(Tokens).or(calls.input),
            output: usage.output.map(Tokens).or(calls.output),
            uncached: usage.uncached_input().or(calls.uncached),
            cost: cost.or(calls.cost),
        }
    }

    /// Totals over a list of events.
    pub fn of(events: &[Event]) -> Self {
        let mut spend = Self::default();
        for event in events {
            spend.add(event);
        }
        spend
    }
}

fn add(sum: &mut Option<Tokens>, part: Option<Tokens>) {
    if let Some(part) = part {
        *sum = Some(sum.unwrap_or_default() + part);
    }
}
