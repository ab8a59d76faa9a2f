//! Shorthand notation for runs, for tests.
//!
//! Steps are separated by spaces. A step is either `-text` (a reply without calls; `_` stands for a space) or calls
//! joined by `+`. A call is a name, then optionally `(arguments)` and `=result`, then `!` for a result flagged as
//! failed, `?` for one without a flag, or `~` for no result. `@90` after a step gives it 90 tokens. `#` before a step
//! is a user message. Example: `ls(1)=a bash!+ls @90 -done`.

use super::{Draft, Event, Message, Role, Run, Text, ToolCall, Usage};

/// Builds the run that `shorthand` describes.
pub fn run(shorthand: &str) -> Run {
    Run::new(draft(shorthand))
}

/// The same as a draft, before its steps are derived.
pub fn draft(shorthand: &str) -> Draft {
    let mut draft = Draft::default();
    draft.header.run_id = "sketch".into();
    for word in shorthand.split_whitespace() {
        if let Some(tokens) = word.strip_prefix('@') {
            let usage = Usage::new(tokens.parse().expect("a number of tokens"), 0);
            let reply = draft.events.iter_mut().rev().find_map(|event| match event {
                Event::Message(message) if message.is_step() => Some(message),
                _ => None,
            });
            reply.expect("a step before its tokens").set_usage(Some(usage));
        } else {
            push_step(word, &mut draft.events);
        }
    }
    draft
}

fn push_step(word: &str, events: &mut Vec<Event>) {
    if let Some(text) = word.strip_prefix('#') {
        events.push(Event::Message(Message::saying(Role::User, text)));
        return;
    }
    if let Some(text) = word.strip_prefix('-') {
        events.push(Event::Message(Message::saying(Role::Assistant, text.replace('_', " "))));
        return;
    }
    let mut reply = Message::new(Role::Assistant);
    let mut results = Vec::new();
    for (nth, call) in word.split('+').enumerate() {
        let (call, flag) = match call.char_indices().last() {
            Some((at, '!')) => (&call[..at], Some(true)),
            Some((at, '?' | '~')) => (&call[..at], None),
            _ => (call, Some(false)),
        };
        let answered = !word.split('+').nth(nth).is_some_and(|call| call.ends_with('~'));
        let (call, result) = call.split_once('=').unwrap_or((call, ""));
        let (name, arguments) = call.split_once('(').unwrap_or((call, ""));
        let id = format!("c{}-{nth}", events.len());
        let arguments = Text::plain(arguments.trim_end_matches(')'));
        reply.tool_calls.push(ToolCall::new(Some(&id), name, arguments));
        if answered {
            let mut message = Message::saying(Role::Tool, result);
            message.tool_call_id = Some(id.into());
            message.name = Some(name.into());
            message.is_error = flag;
            results.push(Event::Message(message));
        }
    }
    events.push(Event::Message(reply));
    events.extend(results);
}
