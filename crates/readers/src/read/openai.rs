//! Messages as in OpenAI's chat completions, a shape that many formats share; and token counts in all common
//! conventions.

use serde_json::value::RawValue;

use crate::json_text::{self, Inner, List, Value as _};
use crate::record::node::Node;
use crate::record::parts;
use crate::record::reading::{Of, Reading};
use crate::record::usage::{arguments, usage};
use crate::transcript::{Message, Role, Text, ToolCall};
use crate::value::json::{self, DeclaredFields as _, Written, fields};

fields! {
    /// A chat message, with common extensions.
    pub(crate) struct ChatMessage<'a> {
        role = "role",
        content = "content",
        refusal = "refusal",
        reasoning_content = "reasoning_content",
        reasoning = "reasoning",
        tool_calls: List<'a, Inner<'a, WireCall<'a>>> = "tool_calls",
        function_call = "function_call",
        tool_call_id = "tool_call_id",
        name = "name",
        usage = "usage",
        cost = "cost",
        timestamp = "timestamp",
        created_at = "created_at",
        created = "created",
        ts = "ts",
        from = "from",
        value = "value",
        model = "model",
        finish_reason = "finish_reason",
        is_error = "is_error",
        recipient = "recipient",
    }
}

fields! {
    /// A tool call in any of its spellings.
    pub(crate) struct WireCall<'a> {
        id = "id",
        other_id = "call_id",
        function: Inner<'a, Function<'a>> = "function",
        custom: Inner<'a, Function<'a>> = "custom",
        name = "name",
        arguments = "arguments",
        input = "input",
        args = "args",
        parameters = "parameters",
        params = "params",
        kwargs = "kwargs",
    }
}

fields! {
    /// What is called, if it is in a nested object.
    pub(crate) struct Function<'a> {
        name = "name",
        arguments = "arguments",
        input = "input",
        args = "args",
        parameters = "parameters",
        params = "params",
        kwargs = "kwargs",
    }
}

/// The role with that name.
pub(crate) fn role(name: &str) -> Option<Role> {
    match name {
        "system" | "developer" => Some(Role::System),
        "user" | "human" => Some(Role::User),
        "assistant" | "ai" | "model" | "gpt" | "bot" => Some(Role::Assistant),
        "tool" | "function" | "observation" => Some(Role::Tool),
        _ if name.bytes().any(|byte| byte.is_ascii_uppercase()) => role(&name.to_ascii_lowercase()),
        _ => None,
    }
}

/// One chat message; anything else is reported and gives `None`.
pub(crate) fn message<'a>(raw: impl Written<'a>, out: &mut Reading<'_>) -> Option<Message> {
    message_with(raw, &[], out)
}

/// The same, where the caller reads the members `known` if the message has no text.
pub(crate) fn message_with<'a>(raw: impl Written<'a>, known: &[&str], out: &mut Reading<'_>) -> Option<Message> {
    let raw = raw.written();
    let wire: ChatMessage<'_> = out.object(Some(raw), "message", "a chat message (an object)")?;
    let named = out.string(wire.role.or(wire.from), "role");
    let Some(role) = role(named.as_deref().unwrap_or_default()) else {
        if let Some(named) = named {
            out.unknown_role(&named, &Node::from_written(raw));
        } else if wire.role.or(wire.from).is_none() {
            let node = Node::from_written(raw);
            out.part_of_run(&node.some_word("type").unwrap_or_else(|| "message without a role".to_owned()), &node);
            out.error_at(raw, "a message without a `role`", "the message is left out");
        }
        return None;
    };
    if let Some(recipient) = wire.recipient
        && let Some(tool) = json::string(recipient)
        && tool.starts_with(parts::HARMONY_TOOLS)
    {
        out.part_of_run(&format!("recipient {tool}"), &Node::from_written(raw));
        let what = format!("a message to the tool `{tool}`, which is a call as Harmony writes it");
        out.error_at(raw, what, "it is not read: export the messages with `tool_calls`, as chat APIs have them");
        return None;
    }
    let mut message = Message::new(role);
    message.content = out.content(wire.content.or(wire.value), "content");
    if message.content.is_none() {
        message.content = out.content(wire.refusal, "refusal");
    }
    message.set_reasoning(out.content(wire.reasoning_content.or(wire.reasoning), "reasoning_content"));
    message.tool_calls = tool_calls(wire.tool_calls.as_ref(), out);
    if let Some(call) = wire.function_call {
        message.tool_calls.extend(tool_call(call, out));
    }
    message.tool_call_id = out.word(wire.tool_call_id, "tool_call_id").map(Into::into);
    message.name = out.string(wire.name, "name").map(Into::into);
    message.set_usage(usage(wire.usage, out));
    message.set_cost(out.dollars(wire.cost, "cost"));
    message.ts = out.instant(wire.timestamp.or(wire.created_at).or(wire.created).or(wire.ts), "timestamp");
    message.set_model(out.string(wire.model, "model").map(Into::into));
    message.set_finish_reason(out.string(wire.finish_reason, "finish_reason").map(Into::into));
    message.is_error = out.flag(wire.is_error, "is_error");
    if role == Role::Tool {
        complete_result(raw, &mut message, out);
    } else if says_nothing(&message) && message.usage().is_none() {
        out.left_untaken(Of::Message, raw, &[&["tool_calls", "content"], known].concat());
    }
    Some(message)
}

fn says_nothing(message: &Message) -> bool {
    !message.has_text() && message.tool_calls.is_empty() && message.reasoning().is_none()
}

fields! {
    /// Fields that a tool result may have instead of, or in addition to, its content.
    struct ResultFields<'a> {
        error = "error",
        output = "output",
        result = "result",
        response = "response",
    }
}

/// Fills in what only results have: the text of an error, and content under another name.
fn complete_result(raw: &str, message: &mut Message, out: &mut Reading<'_>) {
    let is_empty = !message.has_text();
    if !is_empty && !has_member(raw, "\"error\"") {
        return;
    }
    let Ok(found) = ResultFields::from_text(raw) else { return };
    let error = found.error.and_then(json::text).filter(|error| !error.is_empty());
    let is_flagged = message.is_error.is_some();
    message.is_error = message.is_error.or(error.as_ref().map(|_| true));
    // An `error` field that is null means the call succeeded.
    let says_none = |(name, value): &(String, &RawValue)| name == "error" && value.get() == "null";
    if !is_flagged && error.is_none() && json::fields_of(raw).unwrap_or_default().iter().any(says_none) {
        message.is_error = Some(false);
    }
    if is_empty {
        match (error, found.output.or(found.result).or(found.response)) {
            (Some(error), _) => message.content = Some(error),
            (None, Some(said)) => message.content = Some(json::content(said).unwrap_or_else(|| Text::plain(said))),
            (None, None) => out.left_untaken(Of::Result, raw, &["content", "tool_call", "tool_calls"]),
        }
    }
}

/// Whether the object may have that member, judged by its raw text; can be wrong in favour of true.
fn has_member(raw: &str, quoted: &str) -> bool {
    memchr::memmem::find(raw.as_bytes(), quoted.as_bytes()).is_some()
}

/// One tool call: `{id, function: {name, arguments}}`, `{custom: {name, input}}`, or flat.
pub(crate) fn tool_call<'a>(raw: impl Written<'a>, out: &mut Reading<'_>) -> Option<ToolCall> {
    call(&Inner::from_written(raw.written()), out)
}

/// The calls of a message.
pub(crate) fn calls_of(message: &Node<'_>, out: &mut Reading<'_>) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    for call in message.list("tool_calls", out) {
        calls.extend(tool_call(&call, out));
    }
    calls
}

/// The calls in a list.
pub(crate) fn tool_calls(list: Option<&List<'_, Inner<'_, WireCall<'_>>>>, out: &mut Reading<'_>) -> Vec<ToolCall> {
    let Some(list) = list else { return Vec::new() };
    if let Some(calls) = &list.elements {
        // Elements may be invalid, so do not reserve memory for millions of calls.
        let mut all = Vec::with_capacity(calls.len().min(64));
        all.extend(calls.iter().filter_map(|found| call(found, out)));
        return all;
    }
    let mut all = Vec::new();
    // One at a time: there may be millions of invalid elements, and a list of them would be many times as large as the
    // record.
    if json_text::array(list.written, |_| ()) {
        json_text::array(list.written, |raw| all.extend(tool_call(raw, out)));
    } else {
        let calls = out.elements(Some(list.written), "tool_calls");
        all.extend(calls.into_iter().filter_map(|raw| tool_call(raw, out)));
    }
    all
}

fn call(found: &Inner<'_, WireCall<'_>>, out: &mut Reading<'_>) -> Option<ToolCall> {
    let call = out.inner(found, "tool call", "an object")?;
    let raw = found.written;
    let (mut name, mut named_arguments) = (call.name, call.arguments);
    if let Some(function) = call.function.as_ref().or(call.custom.as_ref()) {
        if json::string(function.written).is_some() {
            name = Some(function.written);
        } else {
            let inner = out.inner(function, "function", "an object")?;
            name = inner.name;
            let own = [inner.arguments, inner.input, inner.args, inner.parameters, inner.params, inner.kwargs];
            let own = own.into_iter().flatten().next();
            if own.is_none() {
                out.left_untaken(Of::Call, function.written, &[]);
            }
            named_arguments = own.or(named_arguments);
        }
    }
    let Some(name) = out.string(name, "name") else {
        if name.is_none() {
            out.error_at(raw, "a tool call without a name", "the call is left out");
        }
        return None;
    };
    let id = out.name(call.id.or(call.other_id), "id");
    let asked = [named_arguments, call.input, call.args, call.parameters, call.params, call.kwargs];
    let asked = asked.into_iter().flatten().next();
    if asked.is_none() {
        out.left_untaken(Of::Call, raw, &["function", "custom"]);
    }
    Some(ToolCall::new(id.as_deref(), &name, arguments(asked)))
}
