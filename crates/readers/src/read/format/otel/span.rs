//! Interprets a single OpenTelemetry span under any convention: GenAI (current and old), OpenInference, OpenLLMetry
//! and the Vercel AI SDK.

use std::borrow::Cow;

use super::attributes::Attributes;
use crate::read::dialect;
use crate::read::format::object_of;
use crate::read::spans::{ModelCall, SpanContent, ToolRun};
use crate::record::node::Node;
use crate::record::reading::Reading;
use crate::record::tokens::recorded;
use crate::text::word_list;
use crate::transcript::{Message, Role, Usage, Usd};
use crate::value::json;
use crate::value::json::plausible;

/// A span's event, or a log record that belongs to a span.
#[derive(Clone, Debug)]
pub(super) struct SpanEvent<'r> {
    pub(super) name: String,
    pub(super) attributes: Attributes<'r>,
    /// Its JSON.
    pub(super) body: Cow<'r, str>,
}

/// Names of token counts under the current convention, the old one, OpenInference and OpenLLMetry.
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

/// What a span records, judged by its attributes; `failed` is from its status. Findings point to its `line`.
pub(super) fn kind(
    attributes: &Attributes<'_>,
    events: &[SpanEvent<'_>],
    failed: bool,
    line: &str,
    out: &mut Reading<'_>,
) -> SpanContent {
    if let Some(operation) = unknown_operation(attributes) {
        let what = format!("a span of the unknown operation `{operation}`, which has tokens or an agent");
        out.error_at(line, what, "it is judged by what else it has: is the operation misspelt, or new?");
    }
    match role(attributes) {
        SpanRole::Model => SpanContent::Model(Box::new(model_call(attributes, events, failed, line, out))),
        SpanRole::Tool => SpanContent::Tool(tool_run(attributes, failed)),
        SpanRole::Agent => SpanContent::Agent,
        SpanRole::Other => SpanContent::Other,
    }
}

/// The role of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpanRole {
    Model,
    Tool,
    Agent,
    Other,
}

/// An operation that the convention does not have, on a span that is a part of the run. Those of the Vercel AI SDK
/// begin with `ai.`.
fn unknown_operation(attributes: &Attributes<'_>) -> Option<String> {
    let operation = attributes.word(&["gen_ai.operation.name"]).filter(|name| !name.starts_with("ai."))?;
    let tells = [INPUT, OUTPUT, &["gen_ai.agent.name", "gen_ai.tool.call.id"]];
    let is_part = tells.iter().any(|names| attributes.get(names).is_some());
    if is_part && role_of_operation(&operation).is_none() { Some(operation) } else { None }
}

/// The role of a span by its operation; `None` for one that the convention, current and old, does not have.
fn role_of_operation(operation: &str) -> Option<SpanRole> {
    match operation {
        "chat" | "generate_content" | "text_completion" | "completion" | "message" | "responses" => {
            Some(SpanRole::Model)
        }
        "execute_tool" => Some(SpanRole::Tool),
        "invoke_agent" => Some(SpanRole::Agent),
        "create_agent" | "invoke_workflow" | "plan" | "embeddings" | "retrieval" => Some(SpanRole::Other),
        _ => None,
    }
}

fn role(attributes: &Attributes<'_>) -> SpanRole {
    // The Vercel AI SDK has its own operation ids here.
    if let Some(operation) = attributes.word(&["gen_ai.operation.name"])
        && let Some(role) = role_of_operation(&operation)
    {
        return role;
    }
    if let Some(kind) = attributes.word(&["openinference.span.kind", "traceloop.span.kind"]) {
        match kind.to_ascii_lowercase().as_str() {
            "llm" => return SpanRole::Model,
            "tool" => return SpanRole::Tool,
            "agent" => return SpanRole::Agent,
            "chain" | "retriever" | "embedding" | "reranker" | "guardrail" | "evaluator" | "prompt" | "workflow"
            | "task" | "unknown" => return SpanRole::Other,
            // Judged by what else it has.
            _ => {}
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

fn model_call(
    attributes: &Attributes<'_>,
    events: &[SpanEvent<'_>],
    failed: bool,
    line: &str,
    out: &mut Reading<'_>,
) -> ModelCall {
    let mut reply = output(attributes, events, out).unwrap_or_else(|| Message::new(Role::Assistant));
    reply.role = Role::Assistant;
    reply.set_usage(usage(attributes, line, out).or(reply.usage()));
    let costs: &[&str] = &["gen_ai.usage.cost", "gen_ai.usage.total_cost", "operation.cost", "llm.cost.total"];
    if let Some(cost) = attributes.get(costs) {
        let dollars = json::number(&cost).and_then(plausible);
        if dollars.is_none() {
            out.wrong_at(line, cost.written(), "cost", "dollars, from 0 to a billion");
        }
        reply.set_cost(dollars.map(Usd));
    } else {
        reply.set_cost(None);
    }
    let model =
        attributes.word(&["gen_ai.response.model", "gen_ai.request.model", "llm.response.model", "llm.model_name"]);
    reply.set_model(model.or_else(|| attributes.word(&["ai.model.id", "llm.request.model"])).map(Into::into));
    if failed {
        reply.set_finish_reason(Some("error".into()));
    } else if let Some(reason) = finish_reason(attributes) {
        reply.set_finish_reason(Some(reason.into()));
    }
    ModelCall { input: input(attributes, events, out), reply }
}

fn finish_reason(attributes: &Attributes<'_>) -> Option<String> {
    let names = ["gen_ai.response.finish_reasons", "ai.response.finishReason", "llm.response.finish_reason"];
    let reasons = attributes.get(&names)?.opened();
    match reasons.node().elements() {
        Some(reasons) => reasons.first()?.as_word(),
        None => reasons.node().as_word(),
    }
}

/// The token counts of one call. Cached tokens are part of the input, unless there are more of them than input; then
/// the recorder counted them separately.
fn usage(attributes: &Attributes<'_>, line: &str, out: &mut Reading<'_>) -> Option<Usage> {
    let mut count = |names: &[&str]| {
        let name = names.iter().find(|name| attributes.get(&[name]).is_some())?;
        out.tokens_at(line, attributes.get(&[name])?.written(), name)
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
    recorded(usage)
}

/// The messages a call was sent, wherever the convention puts them.
fn input(attributes: &Attributes<'_>, events: &[SpanEvent<'_>], out: &mut Reading<'_>) -> Vec<Message> {
    let mut found = Vec::new();
    if let Some(instructions) = attributes.get(&["gen_ai.system_instructions"]) {
        let mut system = dialect::messages(&instructions, Role::System, out);
        for message in &mut system {
            message.role = Role::System;
        }
        found.append(&mut system);
    }
    if let Some(whole) = attributes.get(&["gen_ai.input.messages", "gen_ai.prompt", "ai.prompt.messages"]) {
        found.extend(dialect::messages(&whole, Role::User, out));
        return found;
    }
    let unfolded = attributes.unfolded("gen_ai.prompt").or_else(|| attributes.unfolded("llm.input_messages"));
    if let Some(messages) = unfolded {
        found.extend(dialect::messages(&Node::from_written(messages.as_str()), Role::User, out));
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
        found.extend(event_message(&event, speaker, out));
    }
    found
}

/// The reply, wherever the convention puts it.
fn output(attributes: &Attributes<'_>, events: &[SpanEvent<'_>], out: &mut Reading<'_>) -> Option<Message> {
    let unfolded = || attributes.unfolded("gen_ai.completion").or_else(|| attributes.unfolded("llm.output_messages"));
    let reply = if let Some(whole) = attributes.get(&["gen_ai.output.messages", "gen_ai.completion"]) {
        dialect::reply(&whole, out)
    } else if let Some(unfolded) = unfolded() {
        dialect::reply(&Node::from_written(unfolded.as_str()), out)
    } else {
        None
    };
    if reply.is_some() {
        return reply;
    }
    let text = attributes.get(&["ai.response.text"]);
    let calls = attributes.get(&["ai.response.toolCalls"]);
    if text.is_some() || calls.is_some() {
        let text = text.as_ref().map(Node::written);
        let calls = calls.as_ref().map(Node::written);
        let reply = object_of([("role", Some("\"assistant\"")), ("content", text), ("tool_calls", calls)])?;
        return dialect::reply(&Node::from_written(&*reply), out);
    }
    let choice = told(attributes, events).into_iter().find(|event| event.name == "gen_ai.choice")?;
    event_message(&choice, Role::Assistant, out)
}

/// The span's message events; some recorders put them into one attribute as JSON.
fn told<'r>(attributes: &Attributes<'_>, events: &[SpanEvent<'r>]) -> Vec<SpanEvent<'r>> {
    let Some(listed) = attributes.get(&["events", "all_messages_events"]) else { return events.to_vec() };
    let listed = listed.opened();
    let Some(values) = listed.node().elements() else { return events.to_vec() };
    let mut told = Vec::new();
    for value in &values {
        if let Some(name) = value.some_word(["event.name", "name"]) {
            let body = Cow::Owned(value.written().to_owned());
            told.push(SpanEvent { name, attributes: Attributes::default(), body });
        }
    }
    told
}

/// The message in an event's body or attributes.
fn event_message(event: &SpanEvent<'_>, speaker: Role, out: &mut Reading<'_>) -> Option<Message> {
    let body = Node::from_written(&*event.body).opened();
    let gathered = if body.node().is_object() { String::new() } else { gathered(&event.attributes) };
    let value = if gathered.is_empty() { body.node() } else { Node::from_written(gathered.as_str()) };
    // A choice's message is one level deeper, beside its finish reason.
    let inner = value.get("message").or_else(|| value.get("content").filter(|content| content.mentions("role")));
    let inner = inner.as_ref().unwrap_or(&value).opened();
    let mut messages = if inner.node().is_object() {
        dialect::messages_of(&inner.node(), speaker, out)
    } else if inner.node().as_string().is_some() {
        let content = format!("{{\"content\":{}}}", inner.node().written());
        dialect::messages_of(&Node::from_written(content.as_str()), speaker, out)
    } else {
        return None;
    };
    let mut message = messages.pop()?;
    if message.finish_reason().is_none() {
        message.set_finish_reason(value.some_word("finish_reason").map(Into::into));
    }
    Some(message)
}

/// The message spread over an event's attributes, as an object.
fn gathered(attributes: &Attributes<'_>) -> String {
    let content = ["content", "gen_ai.event.content", "gen_ai.prompt", "gen_ai.completion", "message", "body"];
    let fields: [(&str, &[&str]); 5] = [
        ("content", &content),
        ("tool_calls", &["tool_calls"]),
        ("id", &["id", "tool_call_id", "gen_ai.tool.call.id"]),
        ("name", &["name", "gen_ai.tool.name"]),
        ("finish_reason", &["finish_reason"]),
    ];
    let mut members = Vec::new();
    for (name, names) in fields {
        if let Some(found) = attributes.get(names) {
            members.push(format!("\"{name}\":{}", found.opened().node().written()));
        }
    }
    format!("{{{}}}", members.join(","))
}

/// Attributes that may hold the id of a call, best first.
const CALL_IDS: &[&str] =
    word_list!("gen_ai.tool.call.id tool_call.id tool.call.id tool.id ai.toolCall.id gen_ai.tool_call.id");
/// Attributes that may hold the arguments of a call, best first.
const ARGUMENTS: &[&str] = word_list!(
    "gen_ai.tool.call.arguments tool_arguments tool.parameters ai.toolCall.args input.value traceloop.entity.input",
    "gen_ai.tool.input",
);
/// Attributes that may hold the result of a call, best first.
const RESULTS: &[&str] = word_list!(
    "gen_ai.tool.call.result tool_response ai.toolCall.result output.value traceloop.entity.output gen_ai.tool.output",
);

fn tool_run(attributes: &Attributes<'_>, failed: bool) -> ToolRun {
    let call_id = attributes.word(CALL_IDS);
    let arguments = attributes.get(ARGUMENTS);
    let result = attributes.get(RESULTS);
    ToolRun {
        call_id,
        arguments: arguments.map(|found| found.compact_text()),
        result: result.map(|found| found.compact_text()),
        is_error: Some(failed),
    }
}
