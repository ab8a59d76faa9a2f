//! Steps: one model call, the tools it asked for, and their results.

use super::{Event, Lane, Role};

/// One step, as indices into the run's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Index of the reply.
    pub reply: usize,
    /// One past the index of the step's last event: its results, and records that follow them.
    pub end: usize,
    /// Whether the reply called a tool.
    pub has_calls: bool,
    /// The number of tool results.
    pub n_results: usize,
}

impl Step {
    /// The step whose reply is at index `reply`; `events` must end where the next step begins.
    pub(super) fn at(events: &[Event], reply: usize) -> Self {
        let between = &events[reply + 1..];
        let is_result = |event: &Event| matches!(event, Event::Message(message) if message.is_result());
        let through_results = between.iter().rposition(is_result).map_or(0, |last| last + 1);
        let records = between[through_results..].iter().take_while(|event| belongs_to_step(event)).count();
        Self {
            reply,
            end: reply + 1 + through_results + records,
            has_calls: matches!(&events[reply], Event::Message(reply) if !reply.tool_calls.is_empty()),
            n_results: between.iter().filter(|event| is_result(event)).count(),
        }
    }

    /// Whether its results call for another request.
    pub(super) fn calls_for_a_request(&self) -> bool {
        self.has_calls && self.n_results > 0
    }
}

/// True for events that may follow the results and still belong to the step: all but the next user or system message
/// and messages of a simulated user.
fn belongs_to_step(event: &Event) -> bool {
    let Event::Message(message) = event else { return true };
    !matches!((message.role, &message.lane), (Role::User | Role::System, Lane::Main) | (_, Lane::Counterpart))
}
