//! The agent as a graph: the limit on supersteps.

use super::super::frame::{Action, ActionSink, Machine, RuleReading, reading};
use super::middleware::{HookOutcome, Middleware};
use super::{RECURSION, REMAINING};
use crate::transcript::{Message, Moment, PointView};

const APOLOGY: &str = "Sorry, need more steps to process this request.";

#[derive(Clone, Debug)]
pub(super) struct Graph {
    limit: i64,
    react: bool,
    hooks: Vec<Middleware>,
    /// Completed supersteps of this invoke.
    done: i64,
    /// Whether the answer has been given.
    finished: bool,
    /// Whether some call of the current reply runs.
    tools_run: bool,
}

impl Graph {
    pub(super) fn new(limit: i64, react: bool, hooks: Vec<Middleware>) -> Self {
        Self { limit, react, hooks, done: 0, finished: false, tools_run: false }
    }

    /// Completes a superstep. True if it was one too many.
    fn superstep(&mut self, acts: &mut ActionSink<'_, '_>) -> bool {
        superstep(&mut self.done, self.limit, acts)
    }

    fn before_request(&mut self, acts: &mut ActionSink<'_, '_>) {
        if self.finished {
            return;
        }
        if self.limit < 1 {
            acts.act(Action::Fail, RECURSION).code("ValueError").detail("recursion_limit must be at least 1");
            return;
        }
        for place in 0..self.hooks.len() {
            let Some(outcome) = self.hooks.get(place).and_then(|hook| hook.before_model(acts)) else { continue };
            if outcome == HookOutcome::Raised || self.superstep(acts) || outcome == HookOutcome::Ended {
                return;
            }
        }
    }

    fn after_response(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        if self.finished {
            return;
        }
        let has_calls = !reply.tool_calls.is_empty();
        let left = self.limit - (self.done + 1);
        if self.react && ((has_calls && left < 2) || left < 1) {
            acts.act(Action::ForceFinal, REMAINING).code("create_react_agent").detail(APOLOGY).ends_run();
            self.superstep(acts);
            return;
        }
        if self.superstep(acts) {
            return;
        }
        let mut refused = Vec::new();
        for hook in self.hooks.iter_mut().rev() {
            let outcome = hook.after_model(reply, &mut refused, acts);
            if outcome == HookOutcome::Raised {
                return;
            }
            if superstep(&mut self.done, self.limit, acts) || outcome == HookOutcome::Ended {
                return;
            }
        }
        self.finished = !has_calls;
        self.tools_run = (0..reply.tool_calls.len()).any(|place| !refused.contains(&place));
    }

    fn after_tools(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if !self.finished && self.tools_run && view.results().next().is_some() {
            self.superstep(acts);
        }
    }
}

fn superstep(done: &mut i64, limit: i64, acts: &mut ActionSink<'_, '_>) -> bool {
    *done += 1;
    let over = *done >= limit;
    if over {
        let words = format!("Recursion limit of {limit} reached without hitting a stop condition.");
        let act = acts.act(Action::Fail, RECURSION).code("GraphRecursionError").detail(words);
        act.evidence(*done as f64, limit as f64);
    }
    over
}

impl Machine for Graph {
    fn message(&mut self, message: &Message, _acts: &mut ActionSink<'_, '_>) {
        if message.is_prompt() {
            self.done = 0;
            self.finished = false;
            self.hooks.iter_mut().for_each(Middleware::new_run);
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        match (view.moment(), view.reply()) {
            (Moment::BeforeRequest, _) => self.before_request(acts),
            (Moment::AfterResponse, Some(reply)) => self.after_response(reply, acts),
            (Moment::AfterTools, _) => self.after_tools(view, acts),
            _ => {}
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let done = reading(RECURSION, "supersteps", self.done as f64, self.limit as f64);
        std::iter::once(done).chain(self.hooks.iter().flat_map(Middleware::readings)).collect()
    }
}
