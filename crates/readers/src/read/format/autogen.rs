//! What a team or an agent of AutoGen did: `TaskResult.messages` as they are dumped. A model call is a text, or a request
//! for calls with the thought before it; what the framework writes out of results is no reply.

use super::{Format, Layout};
use crate::open::probe::{Probe, Shape, Sketch};
use crate::read::dialect;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{EndCause, Grade, Header, Lane, Message, Role, ToolCall};

/// Task results of AutoGen.
pub(super) struct AutoGen;

/// Kinds of messages that hold nothing about the run.
const IGNORED: &[&str] = &[
    "ModelClientStreamingChunkEvent",
    "SelectSpeakerEvent",
    "SelectorEvent",
    "SpeakerSelectionEvent",
    "UserInputRequestedEvent",
];

impl Format for AutoGen {
    fn id(&self) -> &'static str {
        "autogen"
    }

    fn summary(&self) -> &'static str {
        "AutoGen's `TaskResult`: `messages` with a `source` and `models_usage`"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_message = |value: &Sketch| value.has(&["source", "models_usage", "type"]);
        let first = probe.first()?;
        let mut listed = [Some(first), first.get("messages")].into_iter().flatten().flat_map(Sketch::elements);
        (listed.any(is_message) || probe.values.iter().any(is_message))
            .then(|| "messages with `source` and `models_usage`".to_owned())
    }

    fn joins_lines(&self, first: &Sketch) -> bool {
        first.has(&["source"])
    }

    fn layout(&self, probe: &Probe) -> Layout {
        let are_results = probe.shape == Shape::Lines && probe.first().is_some_and(|first| first.has(&["messages"]));
        if are_results { Layout::Lines } else { Layout::Whole }
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let (mut turns, mut end) = (Turns::default(), EndCause::Unknown);
        for value in Node::values(record, out) {
            let Some(value) = value.into_object("task result", out) else { continue };
            if !value.has("messages") {
                push_message(&value, &mut turns, out);
                continue;
            }
            for message in value.list("messages", out) {
                if let Some(message) = message.into_object("message", out) {
                    push_message(&message, &mut turns, out);
                }
            }
            end = match value.string("stop_reason", out) {
                Some(reason) if reason.to_lowercase().contains("max") => EndCause::Cap,
                Some(_) => EndCause::SelfFinish,
                None => EndCause::Unknown,
            };
        }
        let header =
            Header { run_id: record.file.stem.clone(), agent: Some("autogen".to_owned()), ..Header::default() };
        out.run(turns.into_draft(header, Grade { end, ..Grade::default() }));
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
        "ToolCallRequestEvent" => {
            for call in node.list("content", out) {
                let Some(name) = call.word("name", out) else {
                    out.error_at(call.place(), "a tool call without a name", "the call is left out");
                    continue;
                };
                let id = call.word("id", out);
                message.tool_calls.push(ToolCall::new(id.as_deref(), &name, call.arguments("arguments")));
            }
        }
        "ToolCallExecutionEvent" => {
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

/// Adds a message; a thought and what follows it are one reply.
fn push(message: Message, kind: &str, turns: &mut Turns) {
    let is_thought =
        |message: &Message| message.reasoning().is_some() && message.content.is_none() && message.tool_calls.is_empty();
    let last = turns.events().last().and_then(|event| event.message());
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
