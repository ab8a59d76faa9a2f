//! Google ADK sessions: one session per document, a list of sessions, or only the events.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::turns::Turns;
use crate::read::{failed_requests, google};
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{EndCause, Grade, Header, Lane, Message, Role, Text};

/// Google ADK sessions.
pub(super) static FORMAT: Format = Format {
    id: "adk",
    summary: "Google ADK sessions: documents with `events`, or the events one a line",
    recognise,
    joins_lines: |first| !first.has(&["events"]) && !first.has(&["session"]),
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_event = |value: &Sketch| value.has_any(&["invocation_id", "invocationId"]) && value.has(&["author"]);
    let holds = |value: &Sketch| value.elements_of("events").iter().any(is_event);
    let inner = |value: &Sketch| holds(value) || matches!(value.get("session"), Some(session) if holds(session));
    let is_session = |value: &Sketch| {
        (value.has(&["appName", "userId"]) || value.has(&["app_name", "user_id"])) && value.has(&["events"])
    };
    if probe.any(|value| inner(value) || value.elements().iter().any(inner)) {
        return Some("`events` with an author and an invocation".to_owned());
    }
    if probe.any(|value| is_event(value) || value.elements().iter().any(is_event)) {
        return Some("events with an author and an invocation".to_owned());
    }
    reason_if(probe.any(is_session), "an app's `events` of a user")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let values = Node::values(record, out);
    let mut loose = Vec::new();
    let many = values.len() > 1;
    for (index, value) in values.enumerate() {
        let Some(value) = value.into_object("session", out) else { continue };
        let inner = value.get("session").filter(Node::is_object).filter(|_| !value.has("events"));
        let session = inner.as_ref().unwrap_or(&value);
        if !session.has("events") {
            loose.push(value);
            continue;
        }
        let events = session.list("events", out);
        let key = if many { format!("{}/{index}", record.file.stem) } else { record.file.stem.clone() };
        push_run(session, key, events, out);
    }
    if !loose.is_empty() {
        push_run(&Node::default(), record.file.stem.clone(), loose, out);
    }
}

/// Delivers one session.
fn push_run(session: &Node<'_>, name: String, elements: Vec<Node<'_>>, out: &mut Reading<'_>) {
    let mut events = Vec::new();
    for element in elements {
        let Some(event) = element.into_object("event", out) else { continue };
        if event.has(["content", "author", "invocation_id", "invocationId"]) {
            events.push(event);
        } else {
            out.error_at(event.place(), "an event without author and content", "the event is left out");
        }
    }
    // Agents that run in parallel have a branch each; the agent that started them has none.
    let is_reply = |event: &Node<'_>| role_of(event) == Some(Role::Assistant);
    let has_trunk = events.iter().any(|event| is_reply(event) && branch(event).is_none());
    let (mut turns, mut end) = (Turns::default(), EndCause::Unknown);
    for event in &events {
        let lane = match branch(event).filter(|_| has_trunk) {
            Some(branch) => Lane::Side(branch.into()),
            None => Lane::Main,
        };
        end = push_event(event, &lane, &mut turns, out).unwrap_or(end);
    }
    let header = Header {
        run_id: session.some_word(["id", "session_id", "sessionId"]).unwrap_or(name),
        model: turns.messages().find_map(|m| m.model()).map(str::to_owned),
        agent: session.some_word(["app_name", "appName"]),
        ..Header::default()
    };
    out.run(turns.into_draft(header, Grade { end, ..Grade::default() }));
}

/// The branch of an agent that runs in parallel with others.
fn branch(event: &Node<'_>) -> Option<String> {
    event.some_word("branch").filter(|branch| !branch.is_empty())
}

/// The role of an event's author. Function responses have the user's role in the recording.
fn role_of(event: &Node<'_>) -> Option<Role> {
    let content = event.within("content");
    match content.some_word("role").as_deref() {
        Some("model" | "assistant") => Some(Role::Assistant),
        Some("user" | "function" | "tool") => Some(Role::User),
        Some("system") => Some(Role::System),
        Some(_) => None,
        None => match event.some_word("author").as_deref() {
            Some("user") => Some(Role::User),
            // A model's failed call has no content.
            _ => Some(Role::Assistant),
        },
    }
}

/// Adds an event's content. Returns the end cause if it is the agent's last event.
fn push_event(event: &Node<'_>, lane: &Lane, turns: &mut Turns, out: &mut Reading<'_>) -> Option<EndCause> {
    // Streamed pieces are repeated in a complete event.
    if event.is_true("partial") {
        return None;
    }
    let content = event.object("content", out).unwrap_or_default();
    let said = google::parts(content.get("parts").as_ref(), out);
    let usage = google::usage(event, out);
    let failed = event.some_word(["error_code", "errorCode"]).filter(|code| !matches!(code.as_str(), "" | "STOP"));
    let ts = event.instant("timestamp", out);
    let author = event.some_word("author");
    let says_nothing = said.text.is_none() && said.reasoning.is_none() && said.calls.is_empty();
    let interrupted = author.as_deref() != Some("user") && event.is_true("interrupted");
    let end = match &failed {
        _ if author.as_deref() == Some("user") => None,
        _ if interrupted => Some(EndCause::Killed),
        Some(_) => Some(EndCause::Error),
        None => Some(EndCause::Unknown),
    };
    if interrupted {
        turns.interrupted();
    }
    for mut result in said.results {
        (result.lane, result.ts) = (lane.clone(), ts);
        turns.push(result);
    }
    let Some(role) = role_of(event) else {
        out.unknown_role(&content.some_word("role").unwrap_or_default(), event);
        return end;
    };
    // Events that only change state, transfer control or carry results are not messages.
    if says_nothing && usage.is_none() && failed.is_none() {
        return end;
    }
    let mut message = Message::new(role);
    (message.content, message.tool_calls) = (said.text, said.calls);
    message.set_reasoning(said.reasoning);
    (message.lane, message.ts, message.name) = (lane.clone(), ts, author.map(Into::into));
    if role == Role::Assistant {
        message.set_usage(usage);
        message.set_model(event.some_word(["model_version", "modelVersion", "model"]).map(Into::into));
        message.set_finish_reason(event.some_word(["finish_reason", "finishReason"]).map(Into::into));
        if failed.is_some() {
            message.set_finish_reason(Some("error".into()));
            failed_requests::set_aside(&mut message);
            let why = event.some_word(["error_message", "errorMessage"]);
            message.content = message.content.or(why.map(Text::plain));
        }
    }
    turns.push(message);
    end
}
