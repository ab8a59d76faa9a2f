//! goose sessions: a document with a `conversation`, as `goose session export` and its database have it, or a header and
//! a message per line, as versions before 1.10 wrote them.

use super::{Format, lines_with, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::texts;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::transcript::{Grade, Header, Message, PromptedBy, Role, ToolCall, Totals, Usage};

/// goose sessions.
pub(super) static FORMAT: Format = Format {
    id: "goose",
    summary: "goose sessions (its database, exports, JSONL)",
    recognise,
    joins_lines: |first| !first.has(&["conversation"]),
    layout: |probe| lines_with("conversation", probe),
    prompted_by: PromptedBy::Person,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_message = |value: &Sketch| {
        let blocks = value.elements_of("content");
        let is_call = |block: &Sketch| matches!(block.text_of("type").as_deref(), Some("toolRequest" | "toolResponse"));
        value.has(&["role", "created"]) && blocks.iter().any(is_call)
    };
    let is_session = |value: &Sketch| value.elements_of("conversation").iter().any(is_message);
    if probe.any(is_session) {
        return Some("a `conversation` with `toolRequest`s".to_owned());
    }
    reason_if(probe.any(is_message), "messages with `created` and `toolRequest`s")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut turns = Turns::default();
    let mut header = Header { agent: Some("goose".to_owned()), ..Header::default() };
    for value in Node::values(record, out) {
        let Some(value) = value.into_object("entry", out) else { continue };
        if value.has("role") {
            push_message(&value, &mut turns, out);
            continue;
        }
        header.run_id = value.some_word("id").unwrap_or_default();
        header.totals = totals(&value, out).or(header.totals);
        for message in value.list("conversation", out) {
            push_message(&message, &mut turns, out);
        }
    }
    if header.run_id.is_empty() {
        header.run_id.clone_from(&record.file.stem);
    }
    out.run(turns.into_draft(header, Grade::default()));
}

/// What goose adds up over all requests of a session.
fn totals(session: &Node<'_>, out: &mut Reading<'_>) -> Option<Totals> {
    let usage = Usage {
        input: session.tokens("accumulated_input_tokens", out),
        output: session.tokens("accumulated_output_tokens", out),
        ..Usage::default()
    };
    tokens::totals(usage)
}

/// Adds a message: a reply, or a text of the user's and results.
fn push_message(node: &Node<'_>, turns: &mut Turns, out: &mut Reading<'_>) {
    let role = match node.some_string("role").as_deref() {
        Some("assistant") => Role::Assistant,
        Some("user") => Role::User,
        other => return out.unknown_role(other.unwrap_or_default(), node),
    };
    let mut message = Message::new(role);
    message.ts = node.instant("created", out);
    let (mut texts, mut thoughts, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for block in node.list("content", out) {
        match block.some_string("type").as_deref() {
            Some("text") => texts.extend(block.string("text", out)),
            Some("thinking") => thoughts.extend(block.string("thinking", out)),
            Some("toolRequest" | "frontendToolRequest") => {
                let call = block.within("toolCall");
                let called = call.get("value").unwrap_or(call);
                let name = called.some_string("name").unwrap_or_default();
                let id = block.word("id", out);
                message.tool_calls.push(ToolCall::new(id.as_deref(), &name, called.arguments("arguments")));
            }
            Some("toolResponse") => results.push(result(&block, message.ts, out)),
            // Of the program's own.
            None
            | Some(
                "redactedThinking"
                | "toolConfirmationRequest"
                | "contextLengthExceeded"
                | "summarizationRequested"
                | "conversationCompacted"
                | "systemNotification"
                | "image",
            ) => {}
            Some(kind) => out.unknown(&format!("block {kind}"), &block),
        }
    }
    message.content = texts::lines(&texts);
    message.set_reasoning(texts::lines(&thoughts));
    turns.push_all(results);
    if message.role == Role::Assistant || message.content.is_some() {
        turns.push(message);
    }
}

fn result(block: &Node<'_>, ts: Option<crate::transcript::Instant>, out: &mut Reading<'_>) -> Message {
    let mut result = Message::new(Role::Tool);
    result.ts = ts;
    result.tool_call_id = block.word("id", out).map(Into::into);
    let answer = block.within("toolResult");
    let value = answer.get("value");
    let told = answer.within("value").some_flag("isError");
    result.is_error = Some(told.unwrap_or(answer.has("error")));
    let content = value.as_ref().map(|value| value.get("content").unwrap_or_else(|| value.clone()));
    result.content = content.or_else(|| answer.get("error")).map(|said| said.as_content());
    result
}
