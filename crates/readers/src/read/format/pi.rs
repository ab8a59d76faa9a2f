//! Pi coding agent sessions: a tree of entries, one per line. The run is the path to the last entry;
//! replies on other branches were paid for but are not steps.

use std::collections::{HashMap, HashSet};

use super::{Format, elements_under, object_of, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::agent_session::AgentSession;
use crate::read::failed_requests;
use crate::read::texts::lines;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::tokens::is_spent;
use crate::transcript::{EndCause, Header, Json, Lane, Message, Origin, Role, Text, ToolCall, Usage};

/// Pi coding agent sessions.
pub(super) static FORMAT: Format = Format {
    id: "pi",
    summary: "Pi coding agent sessions: entries with `parentId`, one a line",
    recognise,
    joins_lines: |_| true,
    prompted_by: crate::transcript::PromptedBy::Person,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_session = |value: &Sketch| value.is("type", "session") && value.has(&["id", "cwd"]);
    let is_entry = |value: &Sketch| match value.text_within("message", "role") {
        Some(role) if value.is("type", "message") => value.has(&["parentId"]) || role == "toolResult",
        _ => false,
    };
    if probe.any(is_session) {
        return Some("a `session` line with its folder".to_owned());
    }
    reason_if(probe.any(is_entry), "`message` entries with a `parentId`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let header = Header { run_id: record.file.stem.clone(), agent: Some("pi".to_owned()), ..Header::default() };
    let mut session = AgentSession { header, ..AgentSession::default() };
    let mut entries = Vec::new();
    for value in Node::values(record, out) {
        let Some(entry) = value.into_object("entry", out) else { continue };
        if entry.is("type", "session") {
            session.header.run_id = entry.some_word("id").unwrap_or(session.header.run_id);
            session.header.started_at = entry.instant("timestamp", out);
            continue;
        }
        entries.push(entry);
    }
    let path = path_to_last(&entries);
    let mut aside = 0;
    for entry in &entries {
        let on_path = match entry.some_word("id") {
            Some(id) => path.is_empty() || path.contains(&id),
            None => true,
        };
        let is_reply = add_entry(&mut session, entry, on_path, out);
        aside += usize::from(!on_path && is_reply);
    }
    let mut draft = session.into_draft();
    if aside > 0 {
        draft.warnings.push(format!("{aside} replies stand on branches that were left: paid for, but no steps"));
    }
    out.run(draft);
}

/// The ids on the path from the last entry up to the root. Where an entry answers one that is not in the file, because
/// its line could not be read, the path goes on with the entry before it in the file.
fn path_to_last(entries: &[Node<'_>]) -> HashSet<String> {
    let mut ids: Vec<(String, Option<String>)> = Vec::new();
    for entry in entries {
        if let Some(id) = entry.some_word("id") {
            ids.push((id, entry.some_word("parentId")));
        }
    }
    let places: HashMap<&str, usize> = ids.iter().enumerate().map(|(at, (id, _))| (id.as_str(), at)).collect();
    let mut path = HashSet::new();
    let mut next = ids.len().checked_sub(1);
    while let Some(at) = next {
        let (id, parent) = &ids[at];
        if !path.insert(id.clone()) {
            break;
        }
        let Some(parent) = parent else { break };
        next = places.get(parent.as_str()).copied().or(at.checked_sub(1));
    }
    path
}

/// Reads one entry; true if it was a reply.
fn add_entry(session: &mut AgentSession, entry: &Node<'_>, on_path: bool, out: &mut Reading<'_>) -> bool {
    match entry.some_word("type").as_deref() {
        Some("message") => return add_message(session, entry, on_path, out),
        Some("custom_message") if on_path => {
            let mut message = Message::new(Role::User);
            message.origin = Origin::Host;
            message.content = entry.content("content", out);
            session.turns.push(message);
        }
        Some(kind @ ("compaction" | "branch_summary")) if on_path => {
            session.turns.note(format!("pi.{kind}"), entry.kept());
        }
        Some(
            "custom_message"
            | "compaction"
            | "branch_summary"
            | "model_change"
            | "thinking_level_change"
            | "custom"
            | "label"
            | "session_info",
        ) => {}
        Some(other) => out.unknown(other, entry),
        None => out.error_at(entry.place(), "an entry without a `type`", "the entry is left out"),
    }
    false
}

fn add_message(session: &mut AgentSession, entry: &Node<'_>, on_path: bool, out: &mut Reading<'_>) -> bool {
    let Some(written) = entry.get("message").filter(Node::is_object) else {
        out.error_at(entry.place(), "a message entry without a `message`", "the entry is left out");
        return false;
    };
    let timed = if entry.has("timestamp") { entry } else { &written };
    let ts = timed.instant("timestamp", out);
    let Some(mut message) = message_of(&written, out) else { return false };
    message.ts = ts;
    let is_reply = message.role == Role::Assistant;
    if !on_path {
        message.lane = Lane::Side("left branch".into());
        if is_reply {
            session.turns.push(message);
        }
        return is_reply;
    }
    let is_aborted = is_reply && message.finish_reason() == Some("aborted");
    if is_reply {
        session.end = match message.finish_reason() {
            Some("aborted") => EndCause::Killed,
            Some("error") => EndCause::Error,
            _ => EndCause::Unknown,
        };
        session.header.model = session.header.model.take().or(message.model().map(str::to_owned));
    }
    let texts = [message.content.as_ref(), message.reasoning()];
    let says_nothing = message.tool_calls.is_empty() && texts.into_iter().flatten().all(Text::is_empty);
    if is_aborted && says_nothing {
        // A call aborted before any output keeps only the interruption mark and its cost.
        message.lane = Lane::Side("unseen aborted".into());
    }
    failed_requests::set_aside(&mut message);
    session.turns.push(message);
    if is_aborted {
        session.turns.interrupted();
    }
    is_reply
}

/// A message in Pi's format, which other recorders copy.
pub(super) fn message_of(fields: &Node<'_>, out: &mut Reading<'_>) -> Option<Message> {
    let named = fields.some_word("role");
    let role = match named.as_deref() {
        Some("user" | "custom" | "bashExecution" | "branchSummary" | "compactionSummary") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("toolResult") => Role::Tool,
        Some("system") => Role::System,
        _ => {
            out.unknown_role(&named.unwrap_or_default(), fields);
            return None;
        }
    };
    let mut message = Message::new(role);
    if role == Role::User && named.as_deref() != Some("user") {
        message.origin = Origin::Host;
    }
    match elements_under(fields, "content").filter(|_| role == Role::Assistant) {
        Some(blocks) => push_blocks(blocks, &mut message, out),
        None => message.content = fields.content(["content", "output", "summary"], out),
    }
    match role {
        Role::Tool => {
            message.tool_call_id = fields.some_word("toolCallId").map(Into::into);
            message.name = fields.some_word("toolName").map(Into::into);
            message.is_error = fields.flag("isError", out);
            message.set_extra(details(fields));
        }
        Role::Assistant => {
            message.set_model(fields.some_word("model").map(Into::into));
            message.set_finish_reason(fields.some_word("stopReason").map(Into::into));
            let counted = fields.counts("usage", out).unwrap_or_default();
            message.set_usage(usage(&counted, out));
            message.set_cost(out.dollars(counted.at(&["cost", "total"]).as_ref(), "cost.total"));
        }
        Role::User | Role::System => {}
    }
    Some(message)
}

/// What a tool returned besides its text, in the form of our own format; some rules compare it.
fn details(result: &Node<'_>) -> Option<Json> {
    let told = result.get("details").filter(Node::is_object)?;
    object_of([("native", object_of([("details", Some(told.written()))]))])
}

fn push_blocks(blocks: Vec<Node<'_>>, message: &mut Message, out: &mut Reading<'_>) {
    let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
    for block in blocks {
        let Some(block) = block.into_object("content block", out) else { continue };
        match block.some_word("type").as_deref() {
            Some("thinking") => thoughts.extend(block.some_word(["thinking", "text"])),
            Some("toolCall") => match block.some_word("name") {
                Some(name) => {
                    let arguments = block.arguments(["arguments", "input"]);
                    message.tool_calls.push(ToolCall::new(block.some_word("id").as_deref(), &name, arguments));
                }
                None => out.error_at(block.place(), "a tool call without a name", "the call is left out"),
            },
            _ => {
                out.plain_content(&block);
                texts.extend(out.content(Some(&block), "content").map(|text| text.as_str().into_owned()));
            }
        }
    }
    message.content = lines(&texts);
    message.set_reasoning(lines(&thoughts));
}

/// The token counts of one call: cached tokens are separate from the input, unless the total leaves no room for them.
fn usage(counted: &Node<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let mut count = |name: &str| out.tokens(counted.get(name).as_ref(), &format!("usage.{name}"));
    let (input, output, total) = (count("input"), count("output"), count("totalTokens"));
    let (read, write) = (count("cacheRead"), count("cacheWrite"));
    let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
    let plain = input.unwrap_or(0).saturating_add(output.unwrap_or(0));
    let inside = cached > 0 && total == Some(plain);
    let usage = Usage {
        input: input.map(|input| if inside { input } else { input.saturating_add(cached) }),
        cache_read: read,
        cache_write: write,
        output,
        reasoning: None,
    };
    // Zeros mean that a call failed before it was counted.
    Some(usage).filter(is_spent)
}
