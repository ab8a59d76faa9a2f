//! The loop that most frameworks are: a request, a reply, its tools, again; until a reply without calls.
//!
//! [`Rounds`] runs an [`AgentLoop`] over a recording: a user's words start a run, and a run that is over is shown
//! nothing more until the next one.

use super::{Acts, Facts, Machine, starts_run};
use crate::transcript::{Event, Message, Moment, PointView};

/// Does the run go on?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It does.
    GoesOn,
    /// It is over.
    Over,
}

/// A framework's loop, moment by moment.
pub trait AgentLoop: Send + std::fmt::Debug {
    /// A user spoke: true when that starts a run, false when the framework itself put the words there.
    fn starts(&mut self, _message: &Message) -> bool {
        true
    }

    /// Before each request; also where one would follow the end of the recording.
    fn before_request(&mut self, _view: &PointView<'_>, _acts: &mut Acts<'_, '_>) -> Flow {
        Flow::GoesOn
    }

    /// A reply came; its tools have not run.
    fn replied(&mut self, _view: &PointView<'_>, _reply: &Message, _acts: &mut Acts<'_, '_>) -> Flow {
        Flow::GoesOn
    }

    /// The reply's tools have run.
    fn tools_ran(&mut self, _view: &PointView<'_>, _reply: &Message, _acts: &mut Acts<'_, '_>) -> Flow {
        Flow::GoesOn
    }

    /// The reply asked for no tool.
    fn said(&mut self, _view: &PointView<'_>, _reply: &Message, _acts: &mut Acts<'_, '_>) -> Flow {
        Flow::Over
    }

    /// What the framework would report beside its decisions.
    fn facts(&self) -> Facts {
        Facts::new()
    }
}

/// A loop on its way through a recording.
#[derive(Clone, Debug)]
pub struct Rounds<L> {
    inner: L,
    over: bool,
    requests: u64,
}

impl<L> Rounds<L> {
    /// Of this loop.
    pub fn new(inner: L) -> Self {
        Self { inner, over: false, requests: 0 }
    }
}

impl<L: AgentLoop> Machine for Rounds<L> {
    fn event(&mut self, event: &Event, _: &mut Acts<'_, '_>) {
        if event.message().is_some_and(|message| starts_run(message) && self.inner.starts(message)) {
            self.over = false;
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut Acts<'_, '_>) {
        if self.over {
            return;
        }
        let flow = match (view.moment(), view.reply()) {
            (Moment::BeforeRequest, _) => self.inner.before_request(view, acts),
            (Moment::AfterResponse, Some(reply)) => {
                self.requests += 1;
                self.inner.replied(view, reply, acts)
            }
            (Moment::AfterTools, Some(reply)) if !reply.tool_calls.is_empty() && view.results().next().is_some() => {
                self.inner.tools_ran(view, reply, acts)
            }
            (Moment::EndOfRound, Some(reply)) => self.inner.said(view, reply, acts),
            _ => Flow::GoesOn,
        };
        self.over = flow == Flow::Over;
    }

    fn facts(&self) -> Facts {
        let mut facts = self.inner.facts();
        facts.push(("model_calls", self.requests.into()));
        facts
    }
}

/// A reply's calls with what is known of each result: the message and its index among the events.
pub fn answered<'v>(view: &PointView<'v>, reply: &'v Message) -> Vec<(usize, Option<(usize, &'v Message)>)> {
    let from = view.reply_index().map_or(0, |reply| reply + 1);
    let mut results: Vec<(usize, &Message)> = view.events()[from..]
        .iter()
        .enumerate()
        .filter_map(|(offset, event)| Some((from + offset, event.message().filter(|message| message.is_result())?)))
        .collect();
    let mut by_call = Vec::with_capacity(reply.tool_calls.len());
    for (nth, call) in reply.tool_calls.iter().enumerate() {
        let is_it = |(_, result): &(usize, &Message)| match (&call.id, &result.tool_call_id) {
            (Some(call), Some(result)) => call == result,
            _ => result.name.as_ref().is_none_or(|name| *name == call.name),
        };
        let found = results.iter().position(is_it).map(|place| results.remove(place));
        by_call.push((nth, found));
    }
    by_call
}
