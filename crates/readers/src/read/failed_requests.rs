//! Requests that failed: some recorders write them as replies with an error and nothing in them. No model answered, so
//! they are no steps, and their missing tokens are no gap in the run's.

use crate::transcript::{Lane, Message, Role, Text, Tokens};

/// Takes a reply out of the run's steps if it is a failed request. One that was paid for keeps its tokens.
pub(crate) fn set_aside(message: &mut Message) {
    if !is_failed(message) {
        return;
    }
    if let None | Some(Tokens(0)) = message.total_tokens() {
        message.lane = Lane::Canned;
        message.set_usage(None);
    } else {
        message.lane = Lane::Side("failed request".into());
    }
}

/// Whether it is a step that ended in an error before the model said anything.
fn is_failed(message: &Message) -> bool {
    let is_step = message.role == Role::Assistant && message.lane == Lane::Main;
    let is_silent = [message.content.as_ref(), message.reasoning()].into_iter().flatten().all(Text::is_empty);
    is_step && is_silent && message.tool_calls.is_empty() && message.finish_reason() == Some("error")
}
