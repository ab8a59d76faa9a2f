//! OpenClaw's trajectory export: events of a session, one per line. Transcript events hold the messages, in the format
//! of the Pi agent that OpenClaw is built on; runtime events tell how a run ended.

use super::{Format, pi, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::agent_session::AgentSession;
use crate::read::failed_requests;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{EndCause, Message, PromptedBy, Role};

/// OpenClaw's trajectory export.
pub(super) static FORMAT: Format = Format {
    id: "openclaw",
    summary: "OpenClaw's trajectory export: events.jsonl",
    recognise,
    joins_lines: |_| true,
    prompted_by: PromptedBy::Person,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_event = |value: &Sketch| {
        value.text_of("traceSchema").as_deref() == Some("openclaw-trajectory") && value.has(&["type", "source"])
    };
    reason_if(probe.any(is_event), "`traceSchema` is `openclaw-trajectory`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut session = AgentSession::default();
    for line in record.lines() {
        if let Some(event) = Node::value(line, record, out) {
            add_event(&mut session, &event, out);
        }
    }
    session.name_if_unnamed(&record.file.stem);
    session.header.agent = Some("openclaw".to_owned());
    out.run(session.into_draft());
}

fn add_event(session: &mut AgentSession, event: &Node<'_>, out: &mut Reading<'_>) {
    let ts = event.instant("ts", out);
    if session.header.run_id.is_empty() {
        session.header.run_id = event.word("sessionId", out).unwrap_or_default();
        session.header.started_at = ts;
    }
    let kind = event.string("type", out).unwrap_or_default();
    let data = event.object("data", out);
    match (&*kind, data) {
        ("user.message" | "assistant.message" | "tool.result", Some(data)) if event.is("source", "transcript") => {
            let Some(written) = data.object("message", out) else { return };
            if let Some(mut message) = pi::message_of(&written, out) {
                message.ts = ts;
                session.end = EndCause::Unknown;
                failed_requests::set_aside(&mut message);
                session.turns.push(message);
            }
        }
        ("session.custom_message", Some(data)) => {
            let mut message = Message::new(Role::System);
            (message.content, message.ts) = (data.content("content", out), ts);
            session.turns.push(message);
        }
        ("session.compaction" | "session.branch_summary", Some(data)) => {
            session.turns.note(format!("openclaw.{}", kind.trim_start_matches("session.")), data.kept());
        }
        ("session.ended", Some(data)) => {
            session.header.ended_at = ts;
            session.end = match data.some_word("status").as_deref() {
                Some("success" | "completed" | "ok") => EndCause::SelfFinish,
                Some("interrupted" | "aborted" | "cancelled") => EndCause::Killed,
                Some("timeout") => EndCause::Timeout,
                Some("error" | "failed") => EndCause::Error,
                _ => session.end,
            };
        }
        // Repeats calls that are in the replies, or the runtime's own notes.
        ("tool.call", _) => {}
        ("user.message" | "assistant.message" | "tool.result", _) if event.is("source", "runtime") => {}
        ("user.message" | "assistant.message" | "tool.result", _) => {
            out.unknown(&format!("source {}", event.some_word("source").unwrap_or_default()), event);
        }
        (kind, _)
            if ["session.", "trace.", "context.", "prompt.", "model.", "message."]
                .iter()
                .any(|own| kind.starts_with(own)) => {}
        (other, _) => out.unknown(other, event),
    }
}
