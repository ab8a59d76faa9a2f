//! What a team or an agent of AutoGen did: `TaskResult.messages` as they are dumped, or what `save_state` keeps. A model
//! call is a text, or a request for calls with the thought before it; what the framework writes out of results is no reply.
//! A team's state has the thread of all its agents, with usage; an agent's has what its model was sent and answered.

use super::{Format, RecordLayout, reason_if};
use crate::open::probe::{Probe, Shape, Sketch};
use crate::read::dialect;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{EndCause, Grade, Header, Lane, Message, Role, ToolCall};

/// Task results and saved states of AutoGen.
pub(super) static FORMAT: Format = Format {
    id: "autogen",
    summary: "AutoGen's `TaskResult` (`messages` with a `source` and `models_usage`) and what `save_state` returns",
    recognise,
    joins_lines: |first| first.has(&["source"]),
    layout,
    ..Format::reading(read)
};

/// Kinds of messages that hold nothing about the run.
const IGNORED: &[&str] = &[
    "ModelClientStreamingChunkEvent",
    "SelectSpeakerEvent",
    "SelectorEvent",
    "SpeakerSelectionEvent",
    "UserInputRequestedEvent",
];

fn recognise(probe: &Probe) -> Option<String> {
    let is_message = |value: &Sketch| value.has(&["source", "models_usage", "type"]);
    let first = probe.first()?;
    if is_state(first) {
        return Some("a state with `agent_states` or `llm_context`".to_owned());
    }
    let mut listed = [Some(first), first.get("messages")].into_iter().flatten().flat_map(Sketch::elements);
    reason_if(listed.any(is_message) || probe.any(is_message), "messages with `source` and `models_usage`")
}

fn layout(probe: &Probe) -> RecordLayout {
    let is_whole = |first: &Sketch| first.has(&["messages"]) || is_state(first);
    match (probe.shape, probe.first()) {
        (Shape::Lines, Some(first)) if is_whole(first) => RecordLayout::Lines,
        _ => RecordLayout::Whole,
    }
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let (mut turns, mut end) = (Turns::default(), EndCause::Unknown);
    for value in Node::values(record, out) {
        let Some(value) = value.into_object("task result", out) else { continue };
        if value.has("agent_states") || value.has("llm_context") {
            push_state(&value, &mut turns, out);
            continue;
        }
        if !value.has("messages") {
            push_message(&value, &mut turns, out);
            continue;
        }
        push_messages(value.list("messages", out), &mut turns, out);
        end = match value.string("stop_reason", out) {
            Some(reason) if reason.to_lowercase().contains("max") => EndCause::Cap,
            Some(_) => EndCause::SelfFinish,
            None => EndCause::Unknown,
        };
    }
    let header = Header { run_id: record.file.stem.clone(), agent: Some("autogen".to_owned()), ..Header::default() };
    out.run(turns.into_draft(header, Grade { end, ..Grade::default() }));
}

/// True for what `save_state` returns, of a team or of an agent.
fn is_state(value: &Sketch) -> bool {
    value.has(&["type", "version", "agent_states"]) || value.has(&["type", "version", "llm_context"])
}

/// The messages of a saved state: of a team the thread that its manager keeps, of an agent its model's context.
fn push_state(state: &Node<'_>, turns: &mut Turns, out: &mut Reading<'_>) {
    if let Some(context) = state.object("llm_context", out) {
        return push_messages(context.list("messages", out), turns, out);
    }
    let Some(states) = state.object("agent_states", out) else { return };
    let mut has_thread = false;
    for (_, of_agent) in states.each() {
        let Some(of_agent) = of_agent.into_object("state of an agent", out) else { continue };
        if of_agent.has("message_thread") {
            has_thread = true;
            push_messages(of_agent.list("message_thread", out), turns, out);
        }
    }
    if !has_thread {
        let help = "save the state of the whole team, or of one agent";
        out.error_at(states.place(), "a team's state in which no manager has a `message_thread`", help);
    }
}

fn push_messages(messages: Vec<Node<'_>>, turns: &mut Turns, out: &mut Reading<'_>) {
    for message in messages {
        if let Some(message) = message.into_object("message", out) {
            push_message(&message, turns, out);
        }
    }
}

fn push_message(node: &Node<'_>, turns: &mut Turns, out: &mut Reading<'_>) {
    let kind = node.string("type", out).unwrap_or_default();
    let role = if node.is("source", "user") { Role::User } else { Role::Assistant };
    let mut message = Message::new(role);
    message.name = node.word("source", out).map(Into::into);
    message.ts = node.instant("created_at", out);
    message.set_usage(node.counts("models_usage", out).and_then(|counts| dialect::usage(&counts, out)));
    match &*kind {
        "TextMessage" | "MultiModalMessage" | "StopMessage" | "HandoffMessage" | "CodeGenerationEvent" => {
            message.content = node.content("content", out);
        }
        kind if kind.starts_with("StructuredMessage") => {
            message.content = node.get("content").map(|content| content.compact_text());
        }
        "ThoughtEvent" => message.set_reasoning(node.content("content", out)),
        "ToolCallRequestEvent" => push_calls(node, &mut message, out),
        // What another agent said is sent to the model in a user's message.
        "UserMessage" => (message.role, message.content) = (Role::User, node.content("content", out)),
        "SystemMessage" => (message.role, message.content) = (Role::System, node.content("content", out)),
        "AssistantMessage" => {
            message.set_reasoning(node.content("thought", out));
            if node.has_list("content") {
                push_calls(node, &mut message, out);
            } else {
                message.content = node.content("content", out);
            }
        }
        "ToolCallExecutionEvent" | "FunctionExecutionResultMessage" => {
            for result in node.list("content", out) {
                let mut answer = Message::new(Role::Tool);
                answer.content = result.content("content", out);
                answer.tool_call_id = result.word("call_id", out).map(Into::into);
                answer.is_error = result.flag("is_error", out);
                answer.ts = message.ts;
                turns.push(answer);
            }
            return;
        }
        "ToolCallSummaryMessage" | "MemoryQueryEvent" | "CodeExecutionEvent" => {
            message.content = node.get("content").map(|content| content.as_content());
            message.lane = Lane::Canned;
        }
        kind if IGNORED.contains(&kind) => return,
        other => return out.unknown(other, node),
    }
    push(message, &kind, turns);
}

/// Adds the calls that a reply asks for.
fn push_calls(node: &Node<'_>, message: &mut Message, out: &mut Reading<'_>) {
    for call in node.list("content", out) {
        let Some(name) = call.word("name", out) else {
            out.error_at(call.place(), "a tool call without a name", "the call is left out");
            continue;
        };
        let id = call.word("id", out);
        message.tool_calls.push(ToolCall::new(id.as_deref(), &name, call.arguments("arguments")));
    }
}

/// Adds a message; a thought and what follows it are one reply.
fn push(message: Message, kind: &str, turns: &mut Turns) {
    let is_thought =
        |message: &Message| message.reasoning().is_some() && message.content.is_none() && message.tool_calls.is_empty();
    let last = turns.last_message();
    let goes_on = last.is_some_and(|last| is_thought(last) && last.role == Role::Assistant)
        && message.role == Role::Assistant
        && message.lane == Lane::Main
        && kind != "ThoughtEvent";
    if !goes_on {
        turns.push(message);
        return;
    }
    let mut message = message;
    let (calls, ts) = (std::mem::take(&mut message.tool_calls), message.ts);
    if let Some(reply) = turns.last_reply() {
        dialect::join(reply, message);
        reply.ts = ts.or(reply.ts);
    }
    for call in calls {
        turns.call(call, ts);
    }
}
