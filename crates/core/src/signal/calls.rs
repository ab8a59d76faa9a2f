//! Fingerprints of a step's calls and results, for the signals that compare steps.

use super::Options;
use crate::transcript::{Fingerprint, Identity, Message, PointView, ToolCall};

/// The calls of a step, in order unless the options say otherwise, compared under their identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The step has no calls.
    Nothing,
    /// All its calls are to exempt tools: the step is skipped.
    OnlyExempt,
    /// The fingerprint of its calls that count.
    Calls(Fingerprint),
}

/// What of a reply, at a point and under the options of a signal, is compared with other steps. `None` if it is unknown.
pub(super) type StepPrint = fn(&PointView<'_>, &Message, &Options) -> Option<Asked>;

/// The calls of `reply`.
pub(super) fn asked(reply: &Message, options: &Options) -> Asked {
    let mut counted = reply.tool_calls.iter().filter(|call| !is_exempt(&call.name, options)).peekable();
    if reply.tool_calls.is_empty() {
        Asked::Nothing
    } else if counted.peek().is_none() {
        Asked::OnlyExempt
    } else {
        Asked::Calls(print_of_all(counted.map(|call| print_of(call, &options.identity)), options))
    }
}

/// The calls of `reply` together with their results, in order. `None` if there are calls but no recorded results, so
/// that it is unknown whether they repeat.
pub(super) fn asked_and_got(view: &PointView<'_>, reply: &Message, options: &Options) -> Option<Asked> {
    Some(match asked(reply, options) {
        Asked::Calls(_) if view.results().next().is_none() => return None,
        Asked::Calls(calls) => Asked::Calls(Fingerprint::from_list([calls, result_print(view, options)])),
        nothing => nothing,
    })
}

/// The results of the calls of `reply`, in order, whatever the calls were. `None` as in [`asked_and_got`].
pub(super) fn got(view: &PointView<'_>, reply: &Message, options: &Options) -> Option<Asked> {
    match asked(reply, options) {
        Asked::Calls(_) if view.results().next().is_none() => None,
        Asked::Calls(_) => Some(Asked::Calls(result_print(view, options))),
        nothing => Some(nothing),
    }
}

/// Fingerprint of the result texts, in order, without those of exempt tools.
fn result_print(view: &PointView<'_>, options: &Options) -> Fingerprint {
    let results = view.results().filter(|result| !result.name.as_deref().is_some_and(|name| is_exempt(name, options)));
    print_of_all(results.map(Message::content_print), options)
}

/// Fingerprint of the calls or the results of one reply.
fn print_of_all(prints: impl Iterator<Item = Fingerprint>, options: &Options) -> Fingerprint {
    if !options.any_order {
        return Fingerprint::from_list(prints);
    }
    let mut sorted: Vec<Fingerprint> = prints.collect();
    sorted.sort_unstable();
    Fingerprint::from_list(sorted)
}

/// Fingerprint of one call under `identity`.
pub(super) fn print_of(call: &ToolCall, identity: &Identity) -> Fingerprint {
    match identity {
        Identity::Canonical => call.canonical_print(),
        Identity::Raw | Identity::Fields(_) if call.are_arguments_unknown() => call.canonical_print(),
        other => Fingerprint::from_call(other, &call.name, &call.arguments.as_str()),
    }
}

/// True if the options exempt the tool, or name others only.
pub(super) fn is_exempt(name: &str, options: &Options) -> bool {
    let is_other = !options.only_tools.is_empty() && options.only_tools.iter().all(|only| only != name);
    is_other || options.exempt_tools.iter().any(|exempt| exempt == name)
}
