//! Qwen Code sessions (`chats/*.jsonl`): lines as Claude Code names them, around contents as Google has them.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::google;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Grade, Header, Message, Origin, PromptedBy, Role};

/// Qwen Code sessions.
pub(super) static FORMAT: Format = Format {
    id: "qwen-code",
    summary: "Qwen Code sessions: lines with `sessionId` and a `message` of `parts`",
    recognise,
    joins_lines: |_| true,
    prompted_by: PromptedBy::Person,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_line = |value: &Sketch| value.has(&["uuid", "sessionId"]) && value.has_within("message", &["parts"]);
    reason_if(probe.any(is_line), "lines with `sessionId` and a `message` of `parts`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let agent = Some("qwen-code".to_owned());
    let mut header = Header { run_id: record.file.stem.clone(), agent, ..Header::default() };
    let mut turns = Turns::default();
    for line in Node::values(record, out) {
        let Some(line) = line.into_object("line", out) else { continue };
        if let Some(session) = line.some_word("sessionId") {
            if line.is_true("isSidechain") {
                header.agent = Some("qwen-code subagent".to_owned());
                header.parent = Some(session);
            } else {
                header.run_id = session;
            }
        }
        match line.some_string("type").as_deref() {
            Some("user") => push(&line, Role::User, &mut turns, out),
            Some("assistant") => push(&line, Role::Assistant, &mut turns, out),
            Some("tool_result") => push(&line, Role::Tool, &mut turns, out),
            Some("system") if line.some_string("subtype").unwrap_or_default().contains("compress") => {
                turns.note("qwen-code.compression", line.kept());
            }
            Some("system") => out.unknown_kind("system"),
            Some(kind) => out.unknown(kind, &line),
            None => out.error_at(line.place(), "a line without a `type`", "it is left out"),
        }
    }
    out.run(turns.into_draft(header, Grade::default()));
}

/// Adds what one line says, and the results inside it.
fn push(line: &Node<'_>, role: Role, turns: &mut Turns, out: &mut Reading<'_>) {
    let ts = line.instant("timestamp", out);
    let said = google::parts(line.under("message", out).get("parts").as_ref(), out);
    let failed = match line.within("toolCallResult").some_string("status").as_deref() {
        Some("error" | "cancelled") => Some(true),
        Some("success") => Some(false),
        _ => None,
    };
    for mut result in said.results {
        result.ts = ts;
        result.is_error = failed;
        turns.push(result);
    }
    if role == Role::Tool {
        return;
    }
    let mut message = Message::new(role);
    message.ts = ts;
    message.content = said.text;
    if line.is("subtype", "notification") {
        message.origin = Origin::Notification;
    }
    message.set_reasoning(said.reasoning);
    message.tool_calls = said.calls;
    if role == Role::Assistant {
        message.set_model(line.string("model", out).map(Into::into));
        message.set_usage(google::usage(line, out));
    } else if message.content.is_none() {
        return;
    }
    turns.push(message);
}
