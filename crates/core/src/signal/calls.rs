//! What a step asked for, as one fingerprint.

use super::Options;
use crate::transcript::{Fingerprint, Identity, Message, PointView, ToolCall, fingerprint};

/// The current step's ordered list of calls under the options' identity. `None`: the step asked for
/// nothing that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The step has no calls.
    Nothing,
    /// All its calls are of exempt tools: as if the step had not happened.
    OnlyExempt,
    /// Its calls.
    Calls(Fingerprint),
}

/// What the reply asked for.
pub(super) fn asked(reply: &Message, options: &Options) -> Asked {
    let mut counted = reply.tool_calls.iter().filter(|call| !is_exempt(&call.name, options)).peekable();
    if reply.tool_calls.is_empty() {
        Asked::Nothing
    } else if counted.peek().is_none() {
        Asked::OnlyExempt
    } else {
        Asked::Calls(fingerprint::of_list(counted.map(|call| print_of(call, &options.identity))))
    }
}

/// What the reply asked for together with what came back, in order. `None`: it asked for something and no result is
/// recorded, so nobody knows whether that was the same again.
pub(super) fn asked_and_got(view: &PointView<'_>, reply: &Message, options: &Options) -> Option<Asked> {
    Some(match asked(reply, options) {
        Asked::Calls(_) if view.results().next().is_none() => return None,
        Asked::Calls(calls) => Asked::Calls(fingerprint::of_list([calls, result_print(view, options)])),
        nothing => nothing,
    })
}

/// What came back, in order, whatever was asked for. `None` as in [`asked_and_got`].
pub(super) fn got(view: &PointView<'_>, reply: &Message, options: &Options) -> Option<Asked> {
    match asked(reply, options) {
        Asked::Calls(_) if view.results().next().is_none() => None,
        Asked::Calls(_) => Some(Asked::Calls(result_print(view, options))),
        nothing => Some(nothing),
    }
}

/// The texts of the results that count, in order.
fn result_print(view: &PointView<'_>, options: &Options) -> Fingerprint {
    let results = view.results().filter(|result| !result.name.as_deref().is_some_and(|name| is_exempt(name, options)));
    fingerprint::of_list(results.map(Message::content_print))
}

/// Fingerprint of one call.
pub(super) fn print_of(call: &ToolCall, identity: &Identity) -> Fingerprint {
    match identity {
        Identity::Canonical => call.canonical_print(),
        other => fingerprint::of_call(other, &call.name, &call.arguments.as_str()),
    }
}

/// Is the tool left out?
pub(super) fn is_exempt(name: &str, options: &Options) -> bool {
    options.exempt_tools.iter().any(|exempt| exempt == name)
}
