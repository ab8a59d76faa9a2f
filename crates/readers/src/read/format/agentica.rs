//! agentica's SessionLog, one row per line, in both releases: 1.4 omits replies that call tools, 1.5 has every reply.
//!
//! Goal rows are kept verbatim for the rules of the standing goal. Rows of type `event` repeat what other rows say and
//! are skipped.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::by_name::ByName;
use crate::read::openai;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Draft, EndCause, Event, Message, Name, Role, ToolCall};

/// agentica session logs.
pub(super) static FORMAT: Format = Format {
    id: "agentica",
    summary: "agentica SessionLog rows (1.4 and 1.5), with the standing goal's rows",
    recognise,
    joins_lines: |_| true,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_row = |value: &Sketch| value.has(&["type", "uuid", "parent_uuid", "session_id"]);
    let is_goal = |value: &Sketch| value.is("type", "goal") && value.has_object("goal");
    if probe.any(is_row) {
        return Some("rows with `uuid`, `parent_uuid` and `session_id`".to_owned());
    }
    reason_if(probe.any(is_goal), "rows of type `goal`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut sessions: ByName<AgenticaSession> = ByName::default();
    for value in Node::values(record, out) {
        let Some(row) = value.into_object("row", out) else { continue };
        let id = row.some_word("session_id").unwrap_or_else(|| record.file.stem.clone());
        sessions.named(id).take_in(&row, out);
    }
    for (id, session) in sessions.all {
        out.run(session.into_draft(id));
    }
}

/// A session being read.
#[derive(Default)]
struct AgenticaSession {
    draft: Draft,
    /// Index of the reply whose calls can still be answered, and the ids of those calls.
    open: Option<(usize, Vec<Name>)>,
    /// Index of a reply that was assumed because results have none.
    assumed: Option<usize>,
    n_assumed: usize,
}

impl AgenticaSession {
    fn take_in(&mut self, row: &Node<'_>, out: &mut Reading<'_>) {
        let Some(kind) = row.string("type", out) else {
            if !row.has("type") {
                out.error_at(row.place(), "a row without a `type`", "the row is left out");
            }
            return;
        };
        if self.draft.header.agent.is_none()
            && let Some(version) = row.some_word("version")
        {
            self.draft.header.agent = Some(format!("agentica {version}"));
        }
        match &*kind {
            "user" | "system" | "assistant" | "tool" => self.message(&kind, row, out),
            "goal" => {
                self.draft.events.extend(row.note("agentica.goal"));
                self.draft.grade.end = end_cause(&row.object("goal", out).unwrap_or_default());
            }
            "compact_boundary" | "tool_audit" => self.draft.events.extend(row.note(format!("agentica.{kind}"))),
            "event" | "provider_checkpoint" => {}
            other => out.unknown(other, row),
        }
    }

    fn message(&mut self, kind: &str, row: &Node<'_>, out: &mut Reading<'_>) {
        let Some(role) = openai::role(kind) else { return };
        let mut message = Message::new(role);
        message.content = row.content("content", out);
        message.ts = row.instant("timestamp", out);
        if role == Role::Tool {
            message.tool_call_id = row.some_word("tool_call_id").map(Into::into);
            message.name = row.some_word(["tool_name", "name"]).map(Into::into);
            message.is_error = row.flag("is_error", out);
            self.settle(&message, row);
        } else {
            self.assumed = None;
        }
        if role == Role::Assistant {
            message.set_reasoning(row.content("reasoning_content", out));
            message.set_model(row.some_word("model").map(Into::into));
            message.set_finish_reason(row.some_word("finish_reason").map(Into::into));
            message.set_usage(row.usage("usage", out));
            message.tool_calls = openai::calls_of(row, out);
            let ids = message.tool_calls.iter().filter_map(|call| call.id.clone()).collect();
            self.open = Some((self.draft.events.len(), ids));
            if self.draft.header.model.is_none() {
                self.draft.header.model = message.model().map(str::to_owned);
            }
        }
        self.draft.events.push(Event::Message(message));
    }

    /// Finds the call that a result answers. If no reply made it (1.4), one reply is assumed for each group of
    /// adjacent results.
    fn settle(&mut self, result: &Message, row: &Node<'_>) {
        if let Some((at, ids)) = &mut self.open {
            let known = ids.iter().position(|id| Some(&**id) == result.tool_call_id.as_deref());
            if let Some(known) = known {
                ids.remove(known);
                return;
            }
            if result.tool_call_id.is_none()
                && let Some(Event::Message(reply)) = self.draft.events.get(*at)
                && !reply.tool_calls.is_empty()
            {
                return;
            }
        }
        let at = self.assumed.unwrap_or_else(|| {
            self.n_assumed += 1;
            self.draft.events.push(Event::Message(Message::new(Role::Assistant)));
            self.draft.events.len() - 1
        });
        (self.assumed, self.open) = (Some(at), None);
        let name = result.name.as_deref().unwrap_or_default();
        let call = ToolCall::new(result.tool_call_id.as_deref(), name, row.arguments("tool_args"));
        if let Some(Event::Message(reply)) = self.draft.events.get_mut(at) {
            reply.ts = reply.ts.or(result.ts);
            reply.tool_calls.push(call);
        }
    }

    fn into_draft(mut self, run_id: String) -> Draft {
        self.draft.header.run_id = run_id;
        if self.n_assumed > 0 {
            self.draft.warnings.push(format!(
                "{} replies that asked for tools are not recorded: one model call is assumed for results that stand \
                 together, and its tokens are in the round's last reply",
                self.n_assumed
            ));
        }
        self.draft
    }
}

/// The end cause according to the last goal row.
fn end_cause(goal: &Node<'_>) -> EndCause {
    match (goal.some_word("status").as_deref(), goal.some_word("paused_reason").as_deref()) {
        (Some("complete"), _) | (Some("paused"), Some("agent-tool")) => EndCause::SelfFinish,
        (Some("budget_limited"), _) | (Some("paused"), Some("budget" | "tool-stuck" | "judge-broken" | "verifier")) => {
            EndCause::Cap
        }
        (Some("paused"), Some("resume-safety") | None) => EndCause::Unknown,
        (Some("paused"), Some(_)) => EndCause::Killed,
        _ => EndCause::Unknown,
    }
}
