//! The loop of most frameworks: request, reply, tools, and again, until a reply has no calls.
//!
//! [`AgentLoopMachine`] runs an [`AgentLoop`] over a recording: a user message starts a run, and once that run is over, the loop
//! is shown nothing until the next one starts.

use super::{ActionSink, Machine, starts_run};
use crate::transcript::{Message, Moment, PointView, ToolCall};

/// Whether the run continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It continues.
    GoesOn,
    /// It is over.
    Over,
}

/// A framework's loop, as one method per moment.
pub trait AgentLoop: Send + std::fmt::Debug + 'static {
    /// A user message: true if it starts a run, false if the framework itself wrote it.
    fn starts(&mut self, _message: &Message) -> bool {
        true
    }

    /// Called before each request, including one that would follow the end of the recording.
    fn before_request(&mut self, _view: &PointView<'_>, _acts: &mut ActionSink<'_, '_>) -> Flow {
        Flow::GoesOn
    }

    /// Called after a reply, before its tools run.
    fn replied(&mut self, _view: &PointView<'_>, _reply: &Message, _acts: &mut ActionSink<'_, '_>) -> Flow {
        Flow::GoesOn
    }

    /// Called after the reply's tools have run.
    fn tools_ran(&mut self, _view: &PointView<'_>, _reply: &Message, _acts: &mut ActionSink<'_, '_>) -> Flow {
        Flow::GoesOn
    }

    /// Called after a reply that calls no tool.
    fn said(&mut self, _view: &PointView<'_>, _reply: &Message, _acts: &mut ActionSink<'_, '_>) -> Flow {
        Flow::Over
    }
}

/// A loop partway through a recording.
#[derive(Clone, Debug)]
pub struct AgentLoopMachine<L> {
    inner: L,
    over: bool,
}

impl<L> AgentLoopMachine<L> {
    /// Wraps a loop.
    pub fn new(inner: L) -> Self {
        Self { inner, over: false }
    }

    /// The loop.
    pub fn inner(&self) -> &L {
        &self.inner
    }

    /// Whether its run is over.
    pub fn is_over(&self) -> bool {
        self.over
    }
}

impl<L: AgentLoop> Machine for AgentLoopMachine<L> {
    fn message(&mut self, message: &Message, _: &mut ActionSink<'_, '_>) {
        if starts_run(message) && self.inner.starts(message) {
            self.over = false;
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if self.over {
            return;
        }
        let flow = match (view.moment(), view.reply()) {
            (Moment::BeforeRequest, _) => self.inner.before_request(view, acts),
            (Moment::AfterResponse, Some(reply)) => self.inner.replied(view, reply, acts),
            (Moment::AfterTools, Some(reply)) if !reply.tool_calls.is_empty() && view.results().next().is_some() => {
                self.inner.tools_ran(view, reply, acts)
            }
            (Moment::EndOfRound, Some(reply)) => self.inner.said(view, reply, acts),
            _ => Flow::GoesOn,
        };
        self.over = flow == Flow::Over;
    }
}

/// A call of the current reply whose result is known.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredCall<'v> {
    /// The call.
    pub call: &'v ToolCall,
    /// Its result.
    pub result: &'v Message,
    /// Index of the result among the events.
    pub at: usize,
}

/// The calls of the current reply that have a result, in order.
pub fn answered<'v>(view: &PointView<'v>, reply: &'v Message) -> Vec<AnsweredCall<'v>> {
    let from = if let Some(reply) = view.reply_index() { reply + 1 } else { 0 };
    let mut results: Vec<(usize, &Message)> = Vec::new();
    for (index, event) in view.events().iter().enumerate().skip(from) {
        if let Some(message) = event.message()
            && message.is_result()
        {
            results.push((index, message));
        }
    }
    let mut answered = Vec::new();
    for call in &reply.tool_calls {
        let is_it = |(_, result): &(usize, &Message)| match (&call.id, &result.tool_call_id) {
            (Some(call), Some(result)) => call == result,
            _ => result.name.as_ref().is_none_or(|name| *name == call.name),
        };
        if let Some(place) = results.iter().position(is_it) {
            let (at, result) = results.remove(place);
            answered.push(AnsweredCall { call, result, at });
        }
    }
    answered
}
