//! Messages as OpenAI's chat completions spell them, which many formats share; and token counts in
//! the conventions in use.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::format::Raw;
use super::json;
use super::reading::Reading;
use crate::transcript::{Message, Role, Text, ToolCall, Usage, Usd};

/// A chat message, with the additions that are common.
#[derive(Deserialize)]
pub(super) struct ChatMessage<'a> {
    #[serde(borrow)]
    role: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    refusal: Raw<'a>,
    #[serde(borrow)]
    reasoning_content: Raw<'a>,
    #[serde(borrow)]
    reasoning: Raw<'a>,
    #[serde(borrow)]
    tool_calls: Raw<'a>,
    #[serde(borrow)]
    function_call: Raw<'a>,
    #[serde(borrow)]
    tool_call_id: Raw<'a>,
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    usage: Raw<'a>,
    #[serde(borrow)]
    cost: Raw<'a>,
    #[serde(borrow)]
    timestamp: Raw<'a>,
    #[serde(borrow)]
    created_at: Raw<'a>,
    #[serde(borrow)]
    created: Raw<'a>,
    #[serde(borrow)]
    ts: Raw<'a>,
    #[serde(borrow)]
    from: Raw<'a>,
    #[serde(borrow)]
    value: Raw<'a>,
    #[serde(borrow)]
    model: Raw<'a>,
    #[serde(borrow)]
    finish_reason: Raw<'a>,
    #[serde(borrow)]
    is_error: Raw<'a>,
}

/// A tool call in any of its spellings.
#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names of the formats")]
struct Call<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    call_id: Raw<'a>,
    #[serde(borrow)]
    function: Raw<'a>,
    #[serde(borrow)]
    custom: Raw<'a>,
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    arguments: Raw<'a>,
    #[serde(borrow)]
    input: Raw<'a>,
}

/// The role of that name.
pub(super) fn role(name: &str) -> Option<Role> {
    match name.to_ascii_lowercase().as_str() {
        "system" | "developer" => Some(Role::System),
        "user" | "human" => Some(Role::User),
        "assistant" | "ai" | "model" | "gpt" | "bot" => Some(Role::Assistant),
        "tool" | "function" | "observation" => Some(Role::Tool),
        _ => None,
    }
}

/// One chat message; `None`, and a finding, when it is none.
pub(super) fn message(raw: &RawValue, out: &mut Reading<'_>) -> Option<Message> {
    let wire: ChatMessage<'_> = out.part(Some(raw), "message", "a chat message (an object)")?;
    let named = out.string(wire.role.or(wire.from), "role");
    let Some(role) = named.as_deref().and_then(role) else {
        if let Some(named) = named {
            out.error_at(
                raw.get(),
                format!("`{named}` is no role"),
                "roles are system, developer, user, assistant, tool and function; the message is left out",
            );
        } else if wire.role.or(wire.from).is_none() {
            out.error_at(raw.get(), "a message without a `role`", "the message is left out");
        }
        return None;
    };
    let mut message = Message::new(role);
    message.content =
        out.content(wire.content.or(wire.value), "content").or_else(|| out.content(wire.refusal, "refusal"));
    message.reasoning = out.content(wire.reasoning_content.or(wire.reasoning), "reasoning_content");
    for call in out.list(wire.tool_calls, "tool_calls") {
        message.tool_calls.extend(tool_call(call, out));
    }
    if let Some(call) = wire.function_call {
        message.tool_calls.extend(tool_call(call, out));
    }
    message.tool_call_id = out.word(wire.tool_call_id, "tool_call_id").map(Into::into);
    message.name = out.string(wire.name, "name").map(Into::into);
    message.usage = usage(wire.usage, out);
    message.cost = out.number(wire.cost, "cost").map(Usd);
    message.ts = out.instant(wire.timestamp.or(wire.created_at).or(wire.created).or(wire.ts), "timestamp");
    message.model = out.string(wire.model, "model").map(Into::into);
    message.finish_reason = out.string(wire.finish_reason, "finish_reason").map(Into::into);
    message.is_error = out.flag(wire.is_error, "is_error");
    Some(message)
}

/// One tool call: `{id, function: {name, arguments}}`, `{custom: {name, input}}`, or flat.
pub(super) fn tool_call(raw: &RawValue, out: &mut Reading<'_>) -> Option<ToolCall> {
    let mut call: Call<'_> = out.part(Some(raw), "tool call", "an object")?;
    if let Some(inner) = call.function.or(call.custom) {
        if json::string(inner).is_some() {
            call.name = Some(inner);
        } else {
            let inner: Call<'_> = out.part(Some(inner), "function", "an object")?;
            (call.name, call.arguments) = (inner.name, inner.arguments.or(inner.input));
        }
    }
    let Some(name) = out.string(call.name, "name") else {
        if call.name.is_none() {
            out.error_at(raw.get(), "a tool call without a name", "the call is left out");
        }
        return None;
    };
    let id = out.word(call.id.or(call.call_id), "id");
    Some(ToolCall::new(id.as_deref(), &name, arguments(call.arguments.or(call.input))))
}

/// The arguments of a call, which may be JSON or a string that holds JSON; absent ones are empty.
pub(super) fn arguments(raw: Raw<'_>) -> Text {
    raw.map_or_else(Text::default, |raw| json::text(raw).unwrap_or_else(|| Text::plain(raw.get())))
}

/// Tokens in any spelling.
#[derive(Deserialize)]
struct WireUsage<'a> {
    #[serde(borrow)]
    prompt_tokens: Raw<'a>,
    #[serde(borrow)]
    completion_tokens: Raw<'a>,
    #[serde(borrow)]
    input_tokens: Raw<'a>,
    #[serde(borrow)]
    output_tokens: Raw<'a>,
    #[serde(borrow)]
    prompt_tokens_details: Raw<'a>,
    #[serde(borrow)]
    completion_tokens_details: Raw<'a>,
    #[serde(borrow)]
    input_tokens_details: Raw<'a>,
    #[serde(borrow)]
    output_tokens_details: Raw<'a>,
    #[serde(borrow)]
    cache_read_input_tokens: Raw<'a>,
    #[serde(borrow)]
    cache_creation_input_tokens: Raw<'a>,
}

/// The details of either side.
#[derive(Default, Deserialize)]
struct Details<'a> {
    #[serde(borrow)]
    cached_tokens: Raw<'a>,
    #[serde(borrow)]
    reasoning_tokens: Raw<'a>,
}

/// Tokens of one call. OpenAI's names count cached tokens inside the input; `input_tokens` with
/// `cache_read_input_tokens` or `cache_creation_input_tokens` beside it are Anthropic's, which count
/// them apart.
pub(super) fn usage(raw: Raw<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let wire: WireUsage<'_> = out.part(raw, "usage", "an object")?;
    let of_input = wire.prompt_tokens_details.or(wire.input_tokens_details);
    let of_output = wire.completion_tokens_details.or(wire.output_tokens_details);
    let prompt: Details<'_> = out.part(of_input, "prompt_tokens_details", "an object").unwrap_or_default();
    let completion: Details<'_> = out.part(of_output, "completion_tokens_details", "an object").unwrap_or_default();
    let read = out.count(wire.cache_read_input_tokens, "cache_read_input_tokens");
    let written = out.count(wire.cache_creation_input_tokens, "cache_creation_input_tokens");
    let beside = wire.prompt_tokens.is_none() && (read.is_some() || written.is_some());
    let input = match out.count(wire.prompt_tokens, "prompt_tokens") {
        Some(input) => Some(input),
        None => out.count(wire.input_tokens, "input_tokens"),
    };
    let output = match out.count(wire.completion_tokens, "completion_tokens") {
        Some(output) => Some(output),
        None => out.count(wire.output_tokens, "output_tokens"),
    };
    let all_input = |input: u64| input.saturating_add(read.unwrap_or(0)).saturating_add(written.unwrap_or(0));
    let usage = Usage {
        input: if beside { input.map(all_input) } else { input },
        cache_read: out.count(prompt.cached_tokens, "cached_tokens").or(read),
        cache_write: written,
        output,
        reasoning: out.count(completion.reasoning_tokens, "reasoning_tokens"),
    };
    (!usage.is_empty()).then_some(usage)
}
