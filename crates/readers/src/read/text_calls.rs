//! Calls that are written in the text of a reply: fenced blocks, XML in several spellings, JSON, `Action:` lines. The
//! one place that knows them, for every format.
//!
//! A recording whose replies have calls in fields of their own is left as it is. In any other, a reply that holds a
//! call gets it as a field, and the message that answers it becomes its result. The text stays where it is.

mod fences;
mod json;
mod tags;

use crate::read::requests::is_step;
use crate::record::usage;
use crate::transcript::{Draft, Event, Lane, Message, Role, Text, ToolCall, messages};
pub(crate) use fences::{command_of, only_command, return_code};

/// Parts of a text without which it holds no call, searched for before anything is decoded.
const MARKS: [&str; 6] = ["```", "<", "\"", "Action", "[TOOL", "\\u003c"];
/// Beginnings of messages that a program writes in answer to a call.
const ANSWERS: [&str; 17] = [
    "<returncode>",
    "<output>",
    "<tool_response>",
    "<function_results>",
    "<result>",
    "observation",
    "result:",
    "results:",
    "output:",
    "tool result",
    "tool response",
    "execution result",
    "execution output",
    "command output",
    "exit code",
    "[file:",
    "your command ran successfully",
];
/// What a program says to a reply in which it found no call.
const REFUSALS: [&str; 7] = [
    "exactly one",
    "not formatted correctly",
    "no action found",
    "no tool call",
    "could not parse",
    "invalid format",
    "format error",
];

/// Formats that say what a call is, or whose readers know how their calls are written.
pub(crate) const OF_READERS: [&str; 8] =
    ["trace", "aider", "cline", "cline-ui", "intercode", "mini-swe-agent", "mint", "webvoyager"];

/// How the calls of a run are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallStyle {
    /// In a notation that is for nothing else.
    Notation,
    /// In fenced blocks, which other replies have too.
    Fence,
}

/// Reads the calls from the texts of a run that has none elsewhere. `acts` is true if its replies are known to be
/// those of an agent whose actions are fenced blocks, so that no further sign is needed. Returns how many replies look
/// like calls in a notation that is not known.
pub(crate) fn read(draft: &mut Draft, acts: bool) -> u64 {
    let messages = || messages(&draft.events).filter(|message| message.lane == Lane::Main);
    if messages().any(|message| !message.tool_calls.is_empty()) || !messages().any(may_hold_call) {
        return 0;
    }
    let Some(style) = style(draft, acts) else { return unread(draft) };
    for at in 0..draft.events.len() {
        let Some(Event::Message(reply)) = draft.events.get(at).filter(|event| is_step(event)) else { continue };
        if is_answered(&draft.events, at, is_refusal) {
            continue;
        }
        let mut calls = calls_in(&reply.text(), style);
        if calls.is_empty() {
            continue;
        }
        for (n, call) in calls.iter_mut().enumerate() {
            call.id = Some(if n == 0 { format!("text-{at}") } else { format!("text-{at}-{n}") }.into());
        }
        if let Some(after) = answer_to(&draft.events, at) {
            answer_with(&mut draft.events, at, after, &calls);
        }
        if let Some(Event::Message(reply)) = draft.events.get_mut(at) {
            reply.tool_calls = calls;
        }
    }
    0
}

/// Whether the text of a reply may hold a call, judged by its undecoded bytes.
fn may_hold_call(message: &Message) -> bool {
    let Some(text) = &message.content else { return false };
    message.is_step() && MARKS.iter().any(|mark| memchr::memmem::find(text.stored(), mark.as_bytes()).is_some())
}

/// The index of the message that answers the reply at `at`: the next message, unless it is another reply.
fn answer_to(events: &[Event], at: usize) -> Option<usize> {
    let next = (at + 1..events.len()).find(|next| events[*next].message().is_some())?;
    let message = events[next].message()?;
    if message.lane == Lane::Main && matches!(message.role, Role::User | Role::Tool) { Some(next) } else { None }
}

/// Whether a message of this kind answers the reply at `at`.
fn is_answered(events: &[Event], at: usize, is_kind: impl Fn(&Message) -> bool) -> bool {
    let Some(after) = answer_to(events, at) else { return false };
    matches!(&events[after], Event::Message(answer) if is_kind(answer))
}

/// Makes the answer a result. Results that already are one get the name and id of their call.
fn answer_with(events: &mut [Event], at: usize, after: usize, calls: &[ToolCall]) {
    let answers = events[after..].iter_mut().zip(calls);
    for (n, (event, call)) in answers.enumerate() {
        let Event::Message(answer) = event else { return };
        if n > 0 && answer.role != Role::Tool {
            return;
        }
        answer.role = Role::Tool;
        answer.name.get_or_insert_with(|| call.name.clone());
        if answer.tool_call_id.is_none() {
            answer.tool_call_id.clone_from(&call.id);
        }
        if answer.is_error.is_none() {
            answer.is_error = fences::return_code(&answer.text()).map(|code| code != 0.0);
        }
    }
    debug_assert!(after > at);
}

/// How the calls are written: in a notation, if any reply has one; in fences, if the answers or the instructions say so.
fn style(draft: &Draft, acts: bool) -> Option<CallStyle> {
    let replies = || draft.events.iter().enumerate().filter(|(_, event)| is_step(event));
    let text_of = |event: &Event| event.message().map(|message| message.text().into_owned()).unwrap_or_default();
    if replies().any(|(_, event)| !calls_in(&text_of(event), CallStyle::Notation).is_empty()) {
        return Some(if acts { CallStyle::Fence } else { CallStyle::Notation });
    }
    let fenced: Vec<usize> =
        replies().filter(|(_, event)| fences::action(&text_of(event)).is_some()).map(|(at, _)| at).collect();
    if fenced.is_empty() {
        return None;
    }
    let is_of_program = |answer: &Message| is_answer(answer) || is_refusal(answer);
    let answered = fenced.iter().filter(|at| is_answered(&draft.events, **at, is_of_program));
    let is_asked = || {
        let asks = |text: &str| text.contains("```") && text.to_lowercase().contains("command");
        messages(&draft.events).take_while(|message| !message.is_step()).any(|message| asks(&message.text()))
    };
    if acts || 2 * answered.count() > fenced.len() || is_asked() { Some(CallStyle::Fence) } else { None }
}

/// Whether a program wrote this in answer to a call.
fn is_answer(message: &Message) -> bool {
    let text = message.text();
    let begins = text.trim_start().chars().take(40).collect::<String>().to_lowercase();
    message.role == Role::Tool || ANSWERS.iter().any(|mark| begins.starts_with(mark))
}

/// Whether a program wrote this because it found no call, or more than one.
fn is_refusal(message: &Message) -> bool {
    let begins = message.text().chars().take(200).collect::<String>().to_lowercase();
    !is_answer(message) && REFUSALS.iter().any(|mark| begins.contains(mark))
}

/// The calls in a text, in order.
fn calls_in(text: &str, style: CallStyle) -> Vec<ToolCall> {
    let calls = tags::calls(text);
    let calls = if calls.is_empty() { json::calls(text) } else { calls };
    match style {
        CallStyle::Fence if calls.is_empty() => fences::action(text).into_iter().collect(),
        _ => calls,
    }
}

/// Replies that look like calls although none was found: an object by itself, answered as a call is.
fn unread(draft: &Draft) -> u64 {
    let looks = |at: usize, message: &Message| {
        let text = message.text();
        let text = text.trim();
        let is_object = text.starts_with('{') && text.ends_with('}') || text.starts_with('<') && text.ends_with('>');
        (is_object || fences::action(text).is_some()) && is_answered(&draft.events, at, is_answer)
    };
    let replies = draft.events.iter().enumerate().filter(|(_, event)| is_step(event));
    replies.filter(|(at, event)| matches!(event, Event::Message(reply) if looks(*at, reply))).count() as u64
}

/// A call with these arguments, which may be JSON or a string that holds JSON.
fn call(name: &str, arguments: Option<&str>) -> ToolCall {
    ToolCall::new(None, name, usage::arguments(arguments))
}

/// A call whose arguments are texts by name.
fn call_of_texts<'t>(name: &str, texts: impl IntoIterator<Item = (&'t str, &'t str)>) -> ToolCall {
    let value = |text: &str| serde_json::Value::String(text.to_owned());
    let arguments: serde_json::Map<_, _> =
        texts.into_iter().map(|(name, text)| (name.to_owned(), value(text))).collect();
    ToolCall::new(None, name, Text::plain(serde_json::Value::Object(arguments).to_string()))
}

#[cfg(test)]
mod tests;
