//! Google ADK sessions: one document a session, a list of them, or the events alone (FORMATS 17).

use serde_json::value::RawValue;

use super::{Format, Layout};
use crate::reader::google;
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::rows::{self, Object};
use crate::transcript::{Draft, EndCause, Event, Header, Lane, Message, Role, Text};

/// Google ADK sessions.
pub(super) struct Adk;

impl Format for Adk {
    fn id(&self) -> &'static str {
        "adk"
    }

    fn summary(&self) -> &'static str {
        "Google ADK sessions: documents with `events`, or the events one a line"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_event = |value: &Sketch| {
            ["invocation_id", "invocationId"].iter().any(|key| value.get(key).is_some()) && value.has(&["author"])
        };
        let holds = |value: &Sketch| value.get("events").is_some_and(|events| events.elements().iter().any(is_event));
        let inner = |value: &Sketch| holds(value) || value.get("session").is_some_and(holds);
        let is_session = |value: &Sketch| {
            (value.has(&["appName", "userId"]) || value.has(&["app_name", "user_id"])) && value.has(&["events"])
        };
        if probe.values.iter().any(|value| inner(value) || value.elements().iter().any(inner)) {
            return Some("`events` with an author and an invocation".to_owned());
        }
        if probe.values.iter().any(|value| is_event(value) || value.elements().iter().any(is_event)) {
            return Some("events with an author and an invocation".to_owned());
        }
        probe.values.iter().any(is_session).then(|| "an app's `events` of a user".to_owned())
    }

    fn joins_lines(&self, first: &Sketch) -> bool {
        !first.has(&["events"]) && !first.has(&["session"])
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let values = rows::values(record, out);
        let mut loose = Vec::new();
        let many = values.len() > 1;
        for (index, value) in values.into_iter().enumerate() {
            let Some(fields) = Object::of(value) else {
                out.wrong(value, "session", "an object");
                continue;
            };
            let fields = match fields.get(&["session"]).and_then(Object::of) {
                Some(inner) if fields.get(&["events"]).is_none() => inner,
                _ => fields,
            };
            if fields.get(&["events"]).is_none() {
                loose.push(value);
                continue;
            }
            let events = out.list(fields.get(&["events"]), "events");
            let key = if many { format!("{}/{index}", record.file.stem) } else { record.file.stem.clone() };
            push_run(&fields, key, &events, out);
        }
        if !loose.is_empty() {
            push_run(&Object::default(), record.file.stem.clone(), &loose, out);
        }
    }
}

/// Hands over one session.
fn push_run(session: &Object<'_>, name: String, raws: &[&RawValue], out: &mut Reading<'_>) {
    let mut turns = Vec::new();
    for raw in raws {
        match Object::of(raw) {
            Some(fields) if fields.get(&["content", "author", "invocation_id", "invocationId"]).is_some() => {
                turns.push((fields, *raw));
            }
            Some(_) => out.error_at(raw.get(), "an event without author and content", "the event is left out"),
            None => out.wrong(raw, "event", "an object"),
        }
    }
    // Agents that run side by side have a branch each; the agent that started them has none.
    let is_reply = |fields: &Object<'_>| role_of(fields) == Some(Role::Assistant);
    let has_trunk = turns.iter().any(|(fields, _)| is_reply(fields) && branch(fields).is_none());
    let mut draft = Draft {
        header: Header {
            run_id: session.word(&["id", "session_id", "sessionId"]).unwrap_or(name),
            agent: session.word(&["app_name", "appName"]),
            ..Header::default()
        },
        ..Draft::default()
    };
    for (fields, _) in &turns {
        let lane = match branch(fields).filter(|_| has_trunk) {
            Some(branch) => Lane::Side(branch.into()),
            None => Lane::Main,
        };
        push_event(fields, &lane, &mut draft, out);
    }
    draft.header.model =
        draft.events.iter().filter_map(Event::message).find_map(|m| m.model.as_deref()).map(str::to_owned);
    out.run(draft);
}

/// The branch of an agent that runs beside others.
fn branch(fields: &Object<'_>) -> Option<String> {
    fields.word(&["branch"]).filter(|branch| !branch.is_empty())
}

/// Who an event's content is from; responses of functions are the user's role on the wire.
fn role_of(fields: &Object<'_>) -> Option<Role> {
    let content = fields.within(&["content"]);
    match content.word(&["role"]).as_deref() {
        Some("model" | "assistant") => Some(Role::Assistant),
        Some("user" | "function" | "tool") => Some(Role::User),
        Some("system") => Some(Role::System),
        Some(_) => None,
        None => match fields.word(&["author"]).as_deref() {
            Some("user") => Some(Role::User),
            // A model's failed call has no content.
            _ => Some(Role::Assistant),
        },
    }
}

fn push_event(fields: &Object<'_>, lane: &Lane, draft: &mut Draft, out: &mut Reading<'_>) {
    // What is streamed comes once more, whole.
    if fields.get(&["partial"]).is_some_and(|raw| raw.get() == "true") {
        return;
    }
    let content = Object::part(fields.get(&["content"]), "content", out);
    let said = google::parts(content.get(&["parts"]), out);
    let usage = google::usage(fields.get(&["usage_metadata", "usageMetadata"]), out);
    let failed = fields.word(&["error_code", "errorCode"]).filter(|code| !matches!(code.as_str(), "" | "STOP"));
    let ts = out.instant(fields.get(&["timestamp"]), "timestamp");
    let author = fields.word(&["author"]);
    let says_nothing = said.text.is_none() && said.reasoning.is_none() && said.calls.is_empty();
    if author.as_deref() != Some("user") {
        note_end(fields, failed.as_deref(), draft);
    }
    for mut result in said.results {
        (result.lane, result.ts) = (lane.clone(), ts);
        draft.events.push(Event::Message(result));
    }
    let Some(role) = role_of(fields) else {
        if let Some(role) = content.get(&["role"]) {
            out.wrong(role, "role", "model or user");
        }
        return;
    };
    // Events that only change the state, hand over or carry results are no messages.
    if says_nothing && usage.is_none() && failed.is_none() {
        return;
    }
    let mut message = Message::new(role);
    (message.content, message.reasoning, message.tool_calls) = (said.text, said.reasoning, said.calls);
    (message.lane, message.ts, message.name) = (lane.clone(), ts, author.map(Into::into));
    if role == Role::Assistant {
        message.usage = usage;
        message.model = fields.word(&["model_version", "modelVersion", "model"]).map(Into::into);
        message.finish_reason = fields.word(&["finish_reason", "finishReason"]).map(Into::into);
        if failed.is_some() {
            message.finish_reason = Some("error".into());
            let why = fields.word(&["error_message", "errorMessage"]);
            message.content = message.content.or(why.map(Text::plain));
        }
    }
    draft.events.push(Event::Message(message));
}

/// How the recording ends as far as its last event says so.
fn note_end(fields: &Object<'_>, failed: Option<&str>, draft: &mut Draft) {
    let interrupted = fields.get(&["interrupted"]).is_some_and(|raw| raw.get() == "true");
    if interrupted {
        draft.events.push(Event::interruption());
    }
    draft.grade.end = match failed {
        _ if interrupted => EndCause::Killed,
        Some(_) => EndCause::Error,
        None => EndCause::Unknown,
    };
}
