//! The lines sent to a guard: a run's header, its events, its points.

use std::borrow::Cow;
use std::io;

use serde_json::json;
use whenstop_core::transcript::{Event, Fingerprint, Header, Instant, JudgeReply, Message, Metrics, Note, Point};

use super::{GuardInput, Hello};

/// Writes an event as one line of a trace. This crate reads and writes no formats of its own.
pub type EventWriter = fn(&Event, &mut Vec<u8>) -> io::Result<()>;

/// The id under which a guard sees a run: the same for the same run, and saying nothing about it. Recorded ids often
/// contain the task, or how it ended.
pub(super) fn alias(header: &Header) -> String {
    format!("{:016x}", Fingerprint::from_text(&header.run_id).0)
}

/// The line that begins a run: what the agent's host knows before it starts. It has no outcome, no task and nothing that
/// was recorded afterwards.
pub(super) fn header(header: &Header, hello: &Hello) -> Vec<u8> {
    let mut line = serde_json::Map::new();
    let mut put = |key: &str, value: Option<serde_json::Value>| {
        if let Some(value) = value {
            line.insert(key.to_owned(), value);
        }
    };
    put("type", Some(json!("run")));
    put("run_id", Some(json!(alias(header))));
    put("model", header.model.as_deref().map(|model| json!(model)));
    put("agent", header.agent.as_deref().map(|agent| json!(agent)));
    let started_at = header.started_at.filter(|_| hello.reads(GuardInput::Times)).map(Instant::to_rfc3339);
    put("started_at", started_at.filter(|text| !text.is_empty()).map(|text| json!(text)));
    put("prompted_by", Some(header.prompted_by.name()).filter(|name| !name.is_empty()).map(|name| json!(name)));
    put("redacted", if header.redacted { Some(json!(true)) } else { None });
    let mut bytes = serde_json::Value::Object(line).to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

/// Appends an event, without what the guard does not read. Grades are never sent.
pub(super) fn event(event: &Event, hello: &Hello, write: EventWriter, to: &mut Vec<u8>) -> io::Result<()> {
    match sent(event, hello) {
        Some(event) => write(&event, to),
        None => Ok(()),
    }
}

/// The part of an event that is sent.
fn sent<'e>(event: &'e Event, hello: &Hello) -> Option<Cow<'e, Event>> {
    match event {
        Event::Checkpoint(_) => None,
        Event::Message(message) => Some(sent_message(event, message, hello)),
        Event::Judge(_) if !hello.reads(GuardInput::Judge) => None,
        Event::Judge(judge) if judge.usage.is_none() || hello.reads(GuardInput::Tokens) => Some(Cow::Borrowed(event)),
        Event::Judge(judge) => Some(Cow::Owned(Event::Judge(JudgeReply { usage: None, ..judge.clone() }))),
        Event::Metrics(metrics) => {
            let plan = metrics.plan.clone().filter(|_| hello.reads(GuardInput::Plan));
            match (hello.reads(GuardInput::Metrics), plan) {
                (true, plan) => Some(Cow::Owned(Event::Metrics(Metrics { plan, ..metrics.clone() }))),
                (false, None) => None,
                (false, plan) => Some(Cow::Owned(Event::Metrics(Metrics {
                    experiment: None,
                    status: None,
                    values: Vec::new(),
                    plan,
                }))),
            }
        }
        // The kind says that the context was shortened, for example. The body is whatever the framework kept.
        Event::Note(note) => {
            let body = serde_json::value::RawValue::from_string("{}".to_owned()).ok()?;
            Some(Cow::Owned(Event::Note(Note { kind: note.kind.clone(), body })))
        }
    }
}

fn sent_message<'e>(event: &'e Event, message: &Message, hello: &Hello) -> Cow<'e, Event> {
    let (tokens, cost) = (hello.reads(GuardInput::Tokens), hello.reads(GuardInput::Cost));
    let (times, errors) = (hello.reads(GuardInput::Times), hello.reads(GuardInput::Errors));
    let reasons = hello.reads(GuardInput::FinishReasons);
    let is_whole = (tokens || message.usage().is_none())
        && (cost || message.cost().is_none())
        && (times || message.ts.is_none())
        && (errors || message.is_error.is_none())
        && (reasons || message.finish_reason().is_none())
        && message.extra().is_none();
    if is_whole {
        return Cow::Borrowed(event);
    }
    let mut part = message.clone();
    part.set_extra(None);
    part.ts = message.ts.filter(|_| times);
    part.is_error = message.is_error.filter(|_| errors);
    if !tokens {
        part.set_usage(None);
    }
    if !cost {
        part.set_cost(None);
    }
    if !reasons {
        part.set_finish_reason(None);
    }
    Cow::Owned(Event::Message(part))
}

/// The question at a point: its line, and the id that the answer repeats.
pub(super) fn point(alias: &str, nth: u32, point: Point) -> (String, String) {
    let id = format!("{alias}-{nth}");
    let Point { step, moment } = point;
    (format!("{{\"id\":\"{id}\",\"type\":\"point\",\"step\":{step},\"at\":\"{moment}\"}}\n"), id)
}

/// The question after the last point. Its answer shows that the guard has finished with the run.
pub(super) fn end(alias: &str) -> (String, String) {
    let id = format!("{alias}-end");
    (format!("{{\"id\":\"{id}\",\"type\":\"end\"}}\n"), id)
}
