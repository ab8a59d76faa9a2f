//! Cursor's command line: the agent's transcripts, and its stream of events. A transcript has messages without results; a
//! stream has calls and results in lines of their own.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::agent_session::AgentSession;
use crate::read::dialect;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::transcript::{EndCause, Header, Message, PromptedBy, Role, Text, ToolCall, Usage};

/// Recordings of Cursor's command line.
pub(super) static FORMAT: Format = Format {
    id: "cursor",
    summary: "Cursor's command line: agent transcripts, and its stream of `tool_call` events",
    recognise,
    joins_lines: |_| true,
    prompted_by: PromptedBy::Person,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_call =
        |value: &Sketch| value.is("type", "tool_call") && value.has_object("tool_call") && value.has(&["call_id"]);
    if probe.any(is_call) {
        return Some("lines of type `tool_call` with a `call_id`".to_owned());
    }
    let is_message = |value: &Sketch| match value {
        Sketch::Object(members) => {
            let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
            names == ["role", "message"] && value.has_within("message", &["content"])
        }
        _ => false,
    };
    let is_end = |value: &Sketch| value.is("type", "turn_ended");
    let is_transcript = probe.any(is_message) && probe.any(is_end);
    reason_if(is_transcript, "lines of a `role` and a `message`, and `turn_ended`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let agent = Some("cursor".to_owned());
    let header = Header { run_id: record.file.stem.clone(), agent, ..Header::default() };
    let mut session = AgentSession { header, ..AgentSession::default() };
    for line in Node::values(record, out) {
        if let Some(line) = line.into_object("line", out) {
            add_line(&mut session, &line, out);
        }
    }
    out.run(session.into_draft());
}

fn add_line(session: &mut AgentSession, line: &Node<'_>, out: &mut Reading<'_>) {
    match line.some_string("type").as_deref() {
        None | Some("user" | "assistant") => add_message(session, line, out),
        Some("system") => {
            session.header.model = line.some_word("model").or(session.header.model.take());
            session.header.run_id = line.some_word("session_id").unwrap_or_else(|| session.header.run_id.clone());
        }
        Some("tool_call") => add_tool_call(session, line, out),
        Some("turn_ended") => session.end = EndCause::SelfFinish,
        Some("result") => {
            session.end = if line.is_true("is_error") { EndCause::Error } else { EndCause::SelfFinish };
            count(session, line, out);
        }
        // Words of a thought as they are streamed.
        Some("thinking") => {}
        Some(kind) => out.unknown(kind, line),
    }
}

fn add_message(session: &mut AgentSession, line: &Node<'_>, out: &mut Reading<'_>) {
    let inner = line.under("message", out);
    let place = if line.has("role") { line } else { &inner };
    let Some(role) = place.role("role", dialect::named_role, out) else { return };
    for mut message in dialect::messages_of(&inner, role, out) {
        message.ts = line.instant(["timestamp_ms", "timestamp"], out);
        session.turns.push(message);
    }
}

/// Adds a call where it is `started`, and its result where it is `completed`.
fn add_tool_call(session: &mut AgentSession, line: &Node<'_>, out: &mut Reading<'_>) {
    let id = line.word("call_id", out);
    let held = line.under("tool_call", out);
    let Some((kind, _)) = held.members().first() else {
        return out.error_at(line.place(), "a `tool_call` that names no tool", "it is left out");
    };
    let kind = kind.to_string();
    let call = held.within(kind.as_str());
    let ts = line.instant(["timestamp_ms", "timestamp"], out);
    match line.some_string("subtype").as_deref() {
        Some("started") => {
            session.turns.begin_reply_after_result();
            let own = call.some_word("name");
            let name = own.as_deref().unwrap_or_else(|| kind.strip_suffix("ToolCall").unwrap_or(&kind));
            let arguments = call.arguments(["args", "arguments"]);
            session.turns.call(ToolCall::new(id.as_deref(), name, arguments), ts);
        }
        Some("completed") => {
            let mut result = Message::new(Role::Tool);
            result.tool_call_id = id.map(Into::into);
            result.ts = ts;
            if let Some(said) = call.get("result") {
                result.is_error = Some(!said.has("success"));
                let inner = said.each().next().map(|(_, inner)| inner).unwrap_or_default();
                let text = inner.some_text(["content", "stdout", "message"]);
                result.content = Some(text.unwrap_or_else(|| Text::plain(said.compact())));
            }
            session.turns.push(result);
        }
        _ => out.unknown("tool_call", line),
    }
}

/// Takes the tokens of the whole session.
fn count(session: &mut AgentSession, line: &Node<'_>, out: &mut Reading<'_>) {
    let Some(counts) = line.counts("usage", out) else { return };
    let usage = Usage {
        cache_read: counts.tokens(["cacheReadTokens", "cache_read_tokens"], out),
        cache_write: counts.tokens(["cacheWriteTokens", "cache_write_tokens"], out),
        input: counts.tokens(["inputTokens", "input_tokens"], out),
        output: counts.tokens(["outputTokens", "output_tokens"], out),
        reasoning: None,
    };
    session.header.totals = tokens::totals(tokens::with_cached_beside(usage)).or(session.header.totals);
}
