//! Messages in any of the dialects that span recorders copy into their fields: OpenAI chat and
//! Responses, Anthropic blocks, LangChain serialisations, OpenTelemetry parts, Google contents.
//!
//! Lenient on purpose: what a message looks like here is the business of the framework that was
//! recorded, not of the recorder. What is not understood is left out.

use serde_json::Value;

use super::{json, openai};
use crate::transcript::{Message, Name, Role, Text, ToolCall, Usage, json_value};

/// Containers opened at most on the way to a message.
const DEPTH: usize = 24;

/// The first of `names` that the object has and that is not null.
pub(super) fn pick<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names.iter().find_map(|name| value.get(name).filter(|found| !found.is_null()))
}

/// A string, or a number as it is written, under the first of `names`.
pub(super) fn word(value: &Value, names: &[&str]) -> Option<String> {
    pick(value, names).and_then(as_word)
}

/// A string, or a number as it is written.
pub(super) fn as_word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A number, also one written as a string.
pub(super) fn as_number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    number.filter(|number: &f64| number.is_finite())
}

/// A whole number, 0 or more, also one written as a string or with a fraction of zero.
pub(super) fn as_count(value: &Value) -> Option<u64> {
    if let Some(count) = value.as_u64() {
        return Some(count);
    }
    let number = as_number(value).filter(|number| *number >= 0.0 && *number < 9e15)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "just checked to lie in 0..9e15")]
    Some(number.round() as u64)
}

/// The value that a string holds as JSON, or the value itself.
pub(super) fn unwrapped(value: &Value) -> Value {
    let Value::String(text) = value else { return value.clone() };
    let begins = text.trim_start().starts_with(['{', '[']);
    let parsed = if begins { json_value(text) } else { None };
    parsed.unwrap_or_else(|| value.clone())
}

/// The value as text: a string as it is, anything else as JSON.
pub(super) fn as_text(value: &Value) -> Text {
    match value {
        Value::String(text) => Text::plain(text.as_str()),
        other => Text::plain(other.to_string()),
    }
}

/// The messages in `value`, in order. A bare string is said by `speaker`.
pub(super) fn messages(value: &Value, speaker: Role) -> Vec<Message> {
    let mut found = Vec::new();
    push(&unwrapped(value), speaker, DEPTH, &mut found);
    found
}

/// The one reply in `value`: all that the assistant says and asks for in it.
pub(super) fn reply(value: &Value) -> Option<Message> {
    let mut whole: Option<Message> = None;
    for message in messages(value, Role::Assistant).into_iter().filter(|message| message.role == Role::Assistant) {
        match &mut whole {
            None => whole = Some(message),
            Some(whole) => super::dialect::join(whole, message),
        }
    }
    whole
}

fn push(value: &Value, speaker: Role, depth: usize, out: &mut Vec<Message>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::String(text) if !text.is_empty() => out.push(Message::saying(speaker, text.as_str())),
        Value::Array(items) => items.iter().for_each(|item| push(item, speaker, depth, out)),
        Value::Object(_) => push_object(value, speaker, depth, out),
        _ => {}
    }
}

fn push_object(value: &Value, speaker: Role, depth: usize, out: &mut Vec<Message>) {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    // LangChain: {"lc": 1, "id": [.., "AIMessage"], "kwargs": {..}} and {"type": "ai", "data": {..}}.
    if let Some(inner) = pick(value, &["kwargs", "data"]).filter(|inner| inner.is_object()) {
        let class = value.get("id").and_then(Value::as_array).and_then(|id| id.last()).and_then(Value::as_str);
        if let Some(role) = class.and_then(class_role).or_else(|| class_role(kind)) {
            return push_message(inner, role, out);
        }
    }
    if let Some(role) = value.get("role").and_then(Value::as_str).and_then(named_role) {
        return push_message(value, role, out);
    }
    match kind {
        "function_call" | "custom_tool_call" | "tool_call" | "tool_use" | "local_shell_call" => {
            let mut message = Message::new(Role::Assistant);
            message.tool_calls.extend(tool_call(value));
            return out.push(message);
        }
        "function_call_output" | "custom_tool_call_output" | "tool_call_response" | "tool_result" => {
            return out.push(tool_result(value));
        }
        "reasoning" => {
            let mut message = Message::new(Role::Assistant);
            message.reasoning = pick(value, &["summary", "content", "text"]).and_then(text_of).map(Text::plain);
            return out.push(message);
        }
        _ => {}
    }
    if let Some(role) = class_role(kind).filter(|_| value.get("content").is_some()) {
        return push_message(value, role, out);
    }
    // Containers, and the finish reason that stands beside a choice's message.
    let containers = [
        "messages",
        "message",
        "choices",
        "candidates",
        "generations",
        "contents",
        "output",
        "input",
        "response",
        "delta",
    ];
    let before = out.len();
    for inner in containers.iter().filter_map(|name| pick(value, &[name])) {
        push(inner, speaker, depth, out);
        if out.len() > before {
            let finish = word(value, &["finish_reason", "stop_reason"]).map(Into::into);
            if let Some(last) = out.last_mut().filter(|last| last.role == Role::Assistant) {
                last.finish_reason = last.finish_reason.take().or(finish);
            }
            return;
        }
    }
    // Google's candidates have their role inside.
    if let Some(inner) = value.get("content").filter(|inner| inner.get("parts").is_some()) {
        return push(inner, speaker, depth, out);
    }
    if let Some(text) = pick(value, &["text", "content"]).and_then(text_of) {
        out.push(Message::saying(speaker, text));
    }
}

/// The role of that name in any dialect.
fn named_role(name: &str) -> Option<Role> {
    match name.to_ascii_lowercase().as_str() {
        "developer" | "instructions" => Some(Role::System),
        "function" | "tool_result" | "toolresult" => Some(Role::Tool),
        name => openai::role(name),
    }
}

/// The role of a LangChain class or type name.
fn class_role(name: &str) -> Option<Role> {
    match name {
        "HumanMessage" | "HumanMessageChunk" | "human" | "user" => Some(Role::User),
        "AIMessage" | "AIMessageChunk" | "ai" | "assistant" => Some(Role::Assistant),
        "SystemMessage" | "SystemMessageChunk" | "system" => Some(Role::System),
        "ToolMessage" | "ToolMessageChunk" | "FunctionMessage" | "tool" | "function" => Some(Role::Tool),
        _ => None,
    }
}

/// One message whose role is known. Results inside a user's message become messages of their own.
fn push_message(value: &Value, role: Role, out: &mut Vec<Message>) {
    let mut message = Message::new(role);
    let before = out.len();
    let content = pick(value, &["content", "contents", "parts"]).map(unwrapped);
    let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
    match &content {
        // What a tool gave back may be a list of anything.
        Some(found @ Value::Array(parts)) if role == Role::Tool && !parts.is_empty() && !parts.iter().any(is_part) => {
            message.content = Some(as_text(found));
        }
        Some(Value::Array(parts)) => {
            for part in parts {
                push_part(part, &mut message, &mut texts, &mut thoughts, out);
            }
            message.content = (!texts.is_empty()).then(|| Text::plain(texts.join("\n")));
        }
        Some(other) => message.content = text_of(other).map(Text::plain),
        None => {}
    }
    let named = pick(value, &["reasoning_content", "reasoning", "thinking"]).and_then(text_of);
    thoughts.extend(named);
    message.reasoning = (!thoughts.is_empty()).then(|| Text::plain(thoughts.join("\n")));
    let nested = value.get("additional_kwargs").and_then(|more| more.get("tool_calls"));
    let calls =
        pick(value, &["tool_calls", "toolCalls"]).filter(|calls| calls.as_array().is_none_or(|c| !c.is_empty()));
    if let Some(Value::Array(calls)) = calls.or(nested).map(unwrapped) {
        let known: Vec<Option<Name>> = message.tool_calls.iter().map(|call| call.id.clone()).collect();
        let new = calls.iter().filter_map(tool_call).filter(|call| call.id.is_none() || !known.contains(&call.id));
        message.tool_calls.extend(new);
    }
    message.tool_calls.extend(value.get("function_call").and_then(tool_call));
    message.finish_reason = word(value, &["finish_reason", "stop_reason"]).map(Into::into);
    message.usage = pick(value, &["usage_metadata", "usage"]).and_then(usage);
    if role == Role::Tool {
        if out.len() > before && texts.is_empty() {
            return;
        }
        message.tool_call_id = word(value, &["tool_call_id", "toolCallId", "call_id", "id"]).map(Into::into);
        message.name = word(value, &["name", "tool_name", "toolName"]).map(Into::into);
        message.is_error = flagged(value);
    }
    let only_results = out.len() > before && message.content.is_none();
    if !only_results {
        out.push(message);
    }
}

/// Is it a part of a message in any dialect, rather than data?
fn is_part(value: &Value) -> bool {
    let fields =
        ["type", "text", "functionCall", "function_call", "functionResponse", "function_response", "inlineData"];
    value.is_string() || fields.iter().any(|field| value.get(*field).is_some())
}

/// One part of a message.
fn push_part(
    part: &Value,
    message: &mut Message,
    texts: &mut Vec<String>,
    thoughts: &mut Vec<String>,
    out: &mut Vec<Message>,
) {
    let part = part.get("message_content").unwrap_or(part);
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    let call = pick(part, &["functionCall", "function_call"]);
    let response = pick(part, &["functionResponse", "function_response"]);
    match kind {
        "tool_call" | "tool_use" | "tool-call" | "function_call" | "server_tool_use" | "function" => {
            message.tool_calls.extend(tool_call(part));
        }
        "tool_call_response" | "tool_result" | "tool-result" | "function_call_output" => out.push(tool_result(part)),
        "thinking" | "reasoning" => thoughts.extend(pick(part, &["thinking", "content", "text"]).and_then(text_of)),
        _ if call.is_some() => message.tool_calls.extend(call.and_then(tool_call)),
        _ if response.is_some() => out.extend(response.map(tool_result)),
        _ => match text_of(part) {
            Some(text) => texts.push(text),
            None => texts.push(json::mark(if kind.is_empty() { "data" } else { kind }, &part.to_string())),
        },
    }
}

/// A tool's result that stands by itself.
fn tool_result(value: &Value) -> Message {
    let mut message = Message::new(Role::Tool);
    message.tool_call_id = word(value, &["tool_use_id", "call_id", "tool_call_id", "toolCallId", "id"]).map(Into::into);
    message.name = word(value, &["name", "toolName", "tool_name"]).map(Into::into);
    let said = pick(value, &["content", "output", "response", "result"]);
    message.content = said.map(|said| text_of(said).map_or_else(|| as_text(said), Text::plain));
    message.is_error = flagged(value);
    message
}

/// What the dialect itself says of a result: Anthropic's `is_error`, LangChain's `status`.
fn flagged(value: &Value) -> Option<bool> {
    let said = pick(value, &["is_error", "isError"]).and_then(Value::as_bool);
    said.or_else(|| match value.get("status").and_then(Value::as_str) {
        Some("error") => Some(true),
        Some("success") => Some(false),
        _ => None,
    })
}

/// A call in any dialect; `None` without a name.
fn tool_call(value: &Value) -> Option<ToolCall> {
    let value = value.get("tool_call").unwrap_or(value);
    let inner = pick(value, &["function", "custom"]).filter(|inner| inner.is_object()).unwrap_or(value);
    let name = word(inner, &["name", "toolName", "tool_name"])?;
    let id = word(value, &["call_id", "tool_call_id", "toolCallId", "id"]);
    let arguments = pick(inner, &["arguments", "args", "input", "parameters"]).map(as_text).unwrap_or_default();
    Some(ToolCall::new(id.as_deref(), &name, arguments))
}

/// The text of a string, of a part, or of parts together; `None` when there is none.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().filter_map(text_of).collect();
            (!texts.is_empty() || parts.is_empty()).then(|| texts.join("\n"))
        }
        Value::Object(_) => pick(value, &["text", "content"]).filter(|inner| inner.is_string()).and_then(text_of),
        _ => None,
    }
}

/// Tokens in any spelling. Anthropic counts cached tokens beside the input, everybody else inside.
pub(super) fn usage(value: &Value) -> Option<Usage> {
    let count = |value: &Value, names: &[&str]| pick(value, names).and_then(as_count);
    let none = Value::Null;
    let of_input =
        pick(value, &["input_token_details", "input_tokens_details", "prompt_tokens_details", "prompt_token_details"]);
    let of_output = pick(
        value,
        &["output_token_details", "output_tokens_details", "completion_tokens_details", "completion_token_details"],
    );
    let (of_input, of_output) = (of_input.unwrap_or(&none), of_output.unwrap_or(&none));
    let read_beside = count(value, &["cache_read_input_tokens"]);
    let written_beside = count(value, &["cache_creation_input_tokens"]);
    let input = count(value, &["input_tokens", "prompt_tokens", "inputTokens", "promptTokens"]);
    let beside = value.get("prompt_tokens").is_none() && of_input.is_null();
    let extra = read_beside.unwrap_or(0).saturating_add(written_beside.unwrap_or(0));
    let usage = Usage {
        input: if beside { input.map(|input| input.saturating_add(extra)) } else { input },
        cache_read: count(of_input, &["cache_read", "cached_tokens"]).or(read_beside),
        cache_write: count(of_input, &["cache_creation", "cache_write"]).or(written_beside),
        output: count(value, &["output_tokens", "completion_tokens", "outputTokens", "completionTokens"]),
        reasoning: count(of_output, &["reasoning", "reasoning_tokens"]),
    };
    (!usage.is_empty()).then_some(usage)
}
