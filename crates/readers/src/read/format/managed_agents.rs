//! Sessions of Claude Managed Agents: their events, one a line or in a list. A step is a model request, which the
//! recorder's spans delimit; without them, results do.

use super::{Format, RecordLayout, elements_under, reason_if};
use crate::open::probe::{Probe, Shape, Sketch};
use crate::read::turns::Turns;
use crate::read::{dialect, subagents};
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{EndCause, Grade, Header, Instant, Lane, Message, Role, ToolCall};

/// Events of managed agents' sessions.
pub(super) static FORMAT: Format = Format {
    id: "managed-agents",
    summary: "session events of Claude Managed Agents",
    recognise,
    // A page of a session's events is a file of its own.
    joins_lines: |first| first.has(&["type"]),
    layout,
    ..Format::reading(read)
};

/// What spans of model calls begin with: one of an unknown kind may hold tokens.
const REQUEST: &str = "span.model_request";
/// Kinds of events that hold nothing about the run.
const IGNORED: &[&str] = &["session.", "span.", "agent.thread_", "user.tool_confirmation", "user.define_outcome"];

fn recognise(probe: &Probe) -> Option<String> {
    let is_event = |value: &Sketch| {
        let kind = value.text_of("type").unwrap_or_default();
        let of_agent = ["agent.message", "agent.tool_use", "agent.custom_tool_use", "agent.mcp_tool_use"];
        of_agent.contains(&&*kind)
            || (kind == "user.message" && value.has(&["content"]))
            || (kind.starts_with("span.model_request") && value.has(&["id"]))
    };
    let first = probe.first()?;
    let lists = [Some(first), first.get("data"), first.get("events")];
    let mut listed = lists.into_iter().flatten().flat_map(Sketch::elements);
    let are_events = probe.any(is_event) || listed.any(is_event);
    reason_if(are_events, "events of types such as `agent.message` and `user.message`")
}

fn layout(probe: &Probe) -> RecordLayout {
    let is_page = |value: &Sketch| value.has(&["data"]) || value.has(&["events"]);
    let are_pages = probe.shape == Shape::Lines && probe.values.iter().all(is_page);
    if are_pages { RecordLayout::Lines } else { RecordLayout::Whole }
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut session = ManagedAgentsSession::default();
    for value in Node::values(record, out) {
        for event in elements_under(&value, ["data", "events"]).unwrap_or_else(|| vec![value]) {
            if let Some(event) = event.into_object("event", out) {
                session.event(&event, out);
            }
        }
    }
    let run_id = session.id.unwrap_or_else(|| record.file.stem.clone());
    let header = Header { run_id, agent: Some("managed-agents".to_owned()), ..Header::default() };
    out.run(session.turns.into_draft(header, Grade { end: session.end, ..Grade::default() }));
}

/// A session being read.
#[derive(Default)]
struct ManagedAgentsSession {
    id: Option<String>,
    turns: Turns,
    /// The number of the model request, and whether a reply of it was seen.
    request: usize,
    /// Whether spans delimit the requests.
    has_spans: bool,
    end: EndCause,
}

impl ManagedAgentsSession {
    fn event(&mut self, event: &Node<'_>, out: &mut Reading<'_>) {
        let kind = event.some_word("type").unwrap_or_default();
        let ts = event.some_instant(["processed_at", "created_at", "timestamp"]);
        self.id = self.id.take().or_else(|| event.some_word("session_id"));
        match kind.as_str() {
            "user.message" => self.prompt(event, ts),
            "user.interrupt" => {
                self.turns.interrupted();
                self.end = EndCause::Killed;
            }
            "agent.message" => self.piece(ts, event, |reply| reply.content = Some(text(event))),
            "agent.thinking" => self.piece(ts, event, |reply| reply.set_reasoning(Some(text(event)))),
            "agent.tool_use" | "agent.custom_tool_use" | "agent.mcp_tool_use" => {
                let name = event.some_word("name").unwrap_or_else(|| "tool".to_owned());
                let id = event.some_word("id");
                let arguments = event.arguments(["input", "arguments"]);
                self.piece(ts, event, |reply| reply.tool_calls.push(ToolCall::new(id.as_deref(), &name, arguments)));
            }
            "agent.tool_result" | "agent.mcp_tool_result" | "user.custom_tool_result" => self.result(event, ts),
            "span.model_request_start" => {
                self.has_spans = true;
                self.request += 1;
            }
            "span.model_request_end" => {
                let usage = dialect::usage_under(event, ["model_usage", "usage"], out);
                if let Some(reply) = self.turns.last_reply().filter(|reply| reply.usage().is_none()) {
                    reply.set_usage(usage);
                    reply.set_model(event.some_word("model").map(Into::into));
                }
            }
            "session.status_idle" => {
                self.end = match event.within("stop_reason").some_word("type").as_deref() {
                    Some("end_turn") => EndCause::SelfFinish,
                    Some("max_tokens" | "budget_exceeded" | "retries_exhausted") => EndCause::Cap,
                    _ => EndCause::Unknown,
                };
            }
            "session.error" | "session.status_terminated" => self.end = EndCause::Error,
            "agent.thread_context_compacted" => self.turns.note("managed-agents.compaction", event.kept()),
            kind if !kind.starts_with(REQUEST) && IGNORED.iter().any(|begins| kind.starts_with(begins)) => {}
            other => out.unknown(other, event),
        }
    }

    fn prompt(&mut self, event: &Node<'_>, ts: Option<Instant>) {
        let mut message = Message::saying(Role::User, text(event));
        message.ts = ts;
        self.turns.push(message);
        self.next_request();
    }

    fn result(&mut self, event: &Node<'_>, ts: Option<Instant>) {
        let mut result = Message::saying(Role::Tool, text(event));
        let ids = ["tool_use_id", "custom_tool_use_id", "mcp_tool_use_id"];
        result.tool_call_id = event.some_word(ids).map(Into::into);
        result.is_error = Some(event.some_flag("is_error").unwrap_or(false));
        (result.ts, result.lane) = (ts, lane(event));
        self.turns.push(result);
        self.next_request();
    }

    fn next_request(&mut self) {
        if !self.has_spans {
            self.request += 1;
        }
    }

    /// Adds to the reply of the current request.
    fn piece(&mut self, ts: Option<Instant>, event: &Node<'_>, change: impl FnOnce(&mut Message)) {
        let mut piece = Message::new(Role::Assistant);
        (piece.ts, piece.lane) = (ts, lane(event));
        change(&mut piece);
        self.turns.piece(&format!("{} {:?}", self.request, piece.lane), piece);
        self.end = EndCause::Unknown;
    }
}

/// The sub-agent whose thread an event belongs to.
fn lane(event: &Node<'_>) -> Lane {
    subagents::lane(event.some_word("session_thread_id"))
}

fn text(event: &Node<'_>) -> crate::transcript::Text {
    event.get(["content", "thinking", "text"]).map(|content| content.as_content()).unwrap_or_default()
}
