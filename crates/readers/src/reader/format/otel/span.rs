//! What one OpenTelemetry span records, in any of the conventions: the GenAI ones, old and new,
//! OpenInference, OpenLLMetry and the Vercel AI SDK.

use serde_json::Value;

use super::attributes::Attributes;
use crate::reader::spans::{Kind, ModelCall, ToolRun};
use crate::reader::value_dialect::{self as dialect, as_count, as_text, as_word};
use crate::transcript::{Message, Role, Usage, Usd};

/// A span's event, or a log record that belongs to a span.
#[derive(Clone, Debug)]
pub(super) struct SpanEvent {
    pub(super) name: String,
    pub(super) attributes: Attributes,
    pub(super) body: Value,
}

/// Names of token counts: the current convention, the old one, OpenInference, OpenLLMetry.
const INPUT: &[&str] =
    &["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "llm.usage.prompt_tokens"];
const OUTPUT: &[&str] = &[
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
];
const CACHE_READ: &[&str] = &[
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.input_tokens.cached",
    "llm.token_count.prompt_details.cache_read",
    "llm.usage.cache_read_input_tokens",
];
const CACHE_WRITE: &[&str] = &[
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "llm.token_count.prompt_details.cache_write",
    "llm.usage.cache_creation_input_tokens",
];
const REASONING: &[&str] = &[
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.details.reasoning_tokens",
    "gen_ai.usage.reasoning_tokens",
    "llm.token_count.completion_details.reasoning",
    "llm.usage.reasoning_tokens",
];

/// What a span records, judged by its attributes; `failed` is its status. Counts that are none are
/// named in `odd`.
pub(super) fn kind(attributes: &Attributes, events: &[SpanEvent], failed: bool, odd: &mut Vec<String>) -> Kind {
    match role(attributes) {
        SpanRole::Model => Kind::Model(Box::new(model_call(attributes, events, failed, odd))),
        SpanRole::Tool => Kind::Tool(tool_run(attributes, failed)),
        SpanRole::Agent => Kind::Agent,
        SpanRole::Other => Kind::Other,
    }
}

/// What kind of span it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpanRole {
    Model,
    Tool,
    Agent,
    Other,
}

fn role(attributes: &Attributes) -> SpanRole {
    if let Some(operation) = attributes.word(&["gen_ai.operation.name"]) {
        match operation.as_str() {
            "chat" | "generate_content" | "text_completion" | "completion" | "message" | "responses" => {
                return SpanRole::Model;
            }
            "execute_tool" => return SpanRole::Tool,
            "invoke_agent" => return SpanRole::Agent,
            "create_agent" | "invoke_workflow" | "plan" | "embeddings" | "retrieval" => return SpanRole::Other,
            // The Vercel AI SDK writes its own operation ids here.
            _ => {}
        }
    }
    if let Some(kind) = attributes.word(&["openinference.span.kind", "traceloop.span.kind"]) {
        match kind.to_ascii_lowercase().as_str() {
            "llm" => return SpanRole::Model,
            "tool" => return SpanRole::Tool,
            "agent" => return SpanRole::Agent,
            _ => return SpanRole::Other,
        }
    }
    if let Some(id) = attributes.word(&["ai.operationId"]) {
        return match id.as_str() {
            "ai.toolCall" => SpanRole::Tool,
            id if id.ends_with(".doGenerate") || id.ends_with(".doStream") => SpanRole::Model,
            _ => SpanRole::Other,
        };
    }
    let has_usage = attributes.get(INPUT).is_some() || attributes.get(OUTPUT).is_some();
    if attributes.get(&["gen_ai.tool.name", "gen_ai.tool.call.id", "tool.name"]).is_some() && !has_usage {
        return SpanRole::Tool;
    }
    let asks_model = attributes.get(&["gen_ai.request.model", "llm.request.type", "llm.model_name"]).is_some();
    if asks_model || has_usage { SpanRole::Model } else { SpanRole::Other }
}

fn model_call(attributes: &Attributes, events: &[SpanEvent], failed: bool, odd: &mut Vec<String>) -> ModelCall {
    let mut reply = output(attributes, events).unwrap_or_else(|| Message::new(Role::Assistant));
    reply.role = Role::Assistant;
    reply.usage = usage(attributes, odd).or(reply.usage);
    let cost = attributes.number(&["gen_ai.usage.cost", "gen_ai.usage.total_cost", "operation.cost", "llm.cost.total"]);
    reply.cost = cost.map(Usd);
    let model =
        attributes.word(&["gen_ai.response.model", "gen_ai.request.model", "llm.response.model", "llm.model_name"]);
    reply.model = model.or_else(|| attributes.word(&["ai.model.id", "llm.request.model"])).map(Into::into);
    let reasons =
        attributes.get(&["gen_ai.response.finish_reasons", "ai.response.finishReason", "llm.response.finish_reason"]);
    let reason = reasons.map(dialect::unwrapped).and_then(|reasons| match reasons {
        Value::Array(reasons) => reasons.first().and_then(as_word),
        other => as_word(&other),
    });
    reply.finish_reason = if failed { Some("error".into()) } else { reason.map(Into::into).or(reply.finish_reason) };
    ModelCall { input: input(attributes, events), reply }
}

/// Tokens of one call. Cached ones are part of the input, unless there are more of them than input:
/// then the recorder counted them beside it.
fn usage(attributes: &Attributes, odd: &mut Vec<String>) -> Option<Usage> {
    let mut count = |names: &[&str]| {
        let found = attributes.get(names)?;
        let count = as_count(found);
        if count.is_none() {
            let name = names.iter().find(|name| attributes.get(&[name]) == Some(found)).unwrap_or(&"usage");
            odd.push(format!("`{name}` should be a whole number, 0 or more, not `{found}`"));
        }
        count
    };
    let (read, write) = (count(CACHE_READ), count(CACHE_WRITE));
    let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
    let beside = |input: u64| if cached > input { input.saturating_add(cached) } else { input };
    let usage = Usage {
        input: count(INPUT).map(beside),
        cache_read: read,
        cache_write: write,
        output: count(OUTPUT),
        reasoning: count(REASONING),
    };
    (!usage.is_empty()).then_some(usage)
}

/// The history a call was sent, wherever the convention keeps it.
fn input(attributes: &Attributes, events: &[SpanEvent]) -> Vec<Message> {
    let mut found = Vec::new();
    if let Some(instructions) = attributes.get(&["gen_ai.system_instructions"]) {
        let mut system = dialect::messages(instructions, Role::System);
        for message in &mut system {
            message.role = Role::System;
        }
        found.append(&mut system);
    }
    let whole = attributes.get(&["gen_ai.input.messages", "gen_ai.prompt", "ai.prompt.messages"]);
    let unfolded = || attributes.unfolded("gen_ai.prompt").or_else(|| attributes.unfolded("llm.input_messages"));
    if let Some(messages) = whole.cloned().or_else(unfolded) {
        found.extend(dialect::messages(&messages, Role::User));
        return found;
    }
    for event in told(attributes, events) {
        let speaker = match event.name.as_str() {
            "gen_ai.system.message" => Role::System,
            "gen_ai.user.message" => Role::User,
            "gen_ai.assistant.message" => Role::Assistant,
            "gen_ai.tool.message" => Role::Tool,
            _ => continue,
        };
        found.extend(event_message(&event, speaker));
    }
    found
}

/// The reply, wherever the convention keeps it.
fn output(attributes: &Attributes, events: &[SpanEvent]) -> Option<Message> {
    let whole = attributes.get(&["gen_ai.output.messages", "gen_ai.completion"]);
    let unfolded = || attributes.unfolded("gen_ai.completion").or_else(|| attributes.unfolded("llm.output_messages"));
    if let Some(reply) = whole.cloned().or_else(unfolded).and_then(|value| dialect::reply(&value)) {
        return Some(reply);
    }
    let text = attributes.get(&["ai.response.text"]);
    let calls = attributes.get(&["ai.response.toolCalls"]).map(dialect::unwrapped);
    if text.is_some() || calls.is_some() {
        let said = text.cloned().unwrap_or_default();
        return dialect::reply(&serde_json::json!({"role": "assistant", "content": said, "tool_calls": calls}));
    }
    let choice = told(attributes, events).into_iter().find(|event| event.name == "gen_ai.choice")?;
    event_message(&choice, Role::Assistant)
}

/// The span's message events; some recorders keep them as JSON in one attribute.
fn told(attributes: &Attributes, events: &[SpanEvent]) -> Vec<SpanEvent> {
    if let Some(Value::Array(listed)) = attributes.get(&["events", "all_messages_events"]).map(dialect::unwrapped) {
        let event = |value: &Value| {
            let name = dialect::word(value, &["event.name", "name"])?;
            Some(SpanEvent { name, attributes: Attributes::default(), body: value.clone() })
        };
        return listed.iter().filter_map(event).collect();
    }
    events.to_vec()
}

/// The message of one event: in its body, or in its attributes.
fn event_message(event: &SpanEvent, speaker: Role) -> Option<Message> {
    let content = ["content", "gen_ai.event.content", "gen_ai.prompt", "gen_ai.completion", "message", "body"];
    let fields: &[(&str, &[&str])] = &[
        ("content", &content),
        ("tool_calls", &["tool_calls"]),
        ("id", &["id", "tool_call_id", "gen_ai.tool.call.id"]),
        ("name", &["name", "gen_ai.tool.name"]),
        ("finish_reason", &["finish_reason"]),
    ];
    let mut value = dialect::unwrapped(&event.body);
    if !value.is_object() {
        let mut object = serde_json::Map::new();
        for (field, names) in fields {
            if let Some(found) = event.attributes.get(names) {
                object.insert((*field).to_owned(), dialect::unwrapped(found));
            }
        }
        value = Value::Object(object);
    }
    // A choice's message stands one level deeper, with its finish reason beside it.
    let inner = value.get("message").or_else(|| value.get("content").filter(|c| c.get("role").is_some())).cloned();
    let finish = dialect::word(&value, &["finish_reason"]);
    let mut value = inner.map_or(value, |inner| dialect::unwrapped(&inner));
    if value.is_string() {
        value = serde_json::json!({ "content": value });
    }
    let object = value.as_object_mut()?;
    object.insert("role".to_owned(), Value::from(speaker.name()));
    let messages = dialect::messages(&value, speaker);
    let mut message = messages.into_iter().next_back()?;
    message.finish_reason = message.finish_reason.or(finish.map(Into::into));
    Some(message)
}

fn tool_run(attributes: &Attributes, failed: bool) -> ToolRun {
    let call_id = attributes.word(&[
        "gen_ai.tool.call.id",
        "tool_call.id",
        "tool.call.id",
        "tool.id",
        "ai.toolCall.id",
        "gen_ai.tool_call.id",
    ]);
    let arguments = attributes.get(&[
        "gen_ai.tool.call.arguments",
        "tool_arguments",
        "tool.parameters",
        "ai.toolCall.args",
        "input.value",
        "traceloop.entity.input",
        "gen_ai.tool.input",
    ]);
    let result = attributes.get(&[
        "gen_ai.tool.call.result",
        "tool_response",
        "ai.toolCall.result",
        "output.value",
        "traceloop.entity.output",
        "gen_ai.tool.output",
    ]);
    ToolRun { call_id, arguments: arguments.map(as_text), result: result.map(as_text), is_error: Some(failed) }
}
