//! Reads a row of a Parquet table of runs. The row's record is its short fields as an object, followed by the messages
//! as stored in the table.

use std::collections::{HashMap, VecDeque};

use serde_json::value::RawValue;

use super::mapped::push_messages;
use super::swe_agent::{answered, end_cause};
use super::{Format, RecordLayout, object_of};
use crate::read::parquet_tables::{self, RowDialect};
use crate::read::turns::Turns;
use crate::read::{openai, text_calls};
use crate::record::field_map::FieldMap;
use crate::record::node::Node;
use crate::record::outcomes::native_grade;
use crate::record::reading::{Reading, Record};
use crate::transcript::{
    Draft, EndCause, Event, Grade, Header, Instant, Json, Message, Name, Outcome, Role, ToolCall, Usage,
};

/// Tables of runs in Parquet. They are recognised by their columns, before any text is read.
pub(super) static FORMAT: Format = Format {
    id: "parquet",
    summary: "tables of runs in Parquet, in the layouts of public collections",
    layout: |_| RecordLayout::Lines,
    ..Format::reading(read)
};

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut values = serde_json::Deserializer::from_str(record.text).into_iter::<&RawValue>();
    let mut parts = Vec::new();
    let broken = loop {
        match values.next() {
            Some(Ok(value)) => parts.push(value),
            Some(Err(error)) => break Some(error),
            None => break None,
        }
    };
    let row = parts.first().map(Node::from_written).unwrap_or_default();
    let run_id = row.some_word("id").unwrap_or_else(|| format!("{}/{}", record.file.stem, record.key));
    if let Some(error) = broken {
        let mut told = record.broken(record.text, &error);
        told.what = format!("the messages of run `{run_id}`: {}", told.what);
        return out.error(told);
    }
    let (dialect, column, is_known) = match parquet_tables::by_name(record.envelope) {
        Some(layout) => (layout.dialect, layout.outcome_column(), !layout.is_mapped()),
        None => (RowDialect::Chat, "outcome", false),
    };
    let long = |at: usize| parts.get(at).map(Node::from_written).filter(|long| long.written() != "null");
    let grade = grade(&row, column, out);
    if long(1).is_none() {
        let what = format!("run `{run_id}` has no messages: its cell is empty");
        if grade.outcome == Outcome::Unknown {
            return out.error_at(record.text, what, "what it did is unknown, and nobody graded it: it is left out");
        }
        out.warn_at(record.text, what, "it is graded, so it counts as a run of 0 steps");
    }
    let events = match dialect {
        RowDialect::Steps => steps(long(1).as_ref(), out),
        _ => match record.options.columns.as_ref().filter(|map| map.names_inner() && record.envelope == "mapped") {
            Some(map) => described(long(1).as_ref(), map, out),
            None => chat(long(1).as_ref(), long(2).as_ref(), out),
        },
    };
    let header = header(&row, run_id, record, out);
    let mut draft = Draft { header, events, grade, warnings: Vec::new() };
    // The agents of the known collections act by what they write, where they call no tool.
    if is_known {
        text_calls::read(&mut draft, true);
    }
    out.run(draft);
}

fn header(row: &Node<'_>, run_id: String, record: &Record<'_>, out: &mut Reading<'_>) -> Header {
    // A task is a set and a number within it, or is part of its trials' ids: `TASK_run3`.
    let task = match (row.some_word("task_set"), row.some_word("task")) {
        (Some(set), Some(task)) => Some(format!("{set}-{task}")),
        (set, task) => task.or(set),
    };
    let trial_in_id =
        run_id.rsplit_once("_run").filter(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let from_id = trial_in_id.map(|(task, trial)| (task.to_owned(), trial.to_owned()));
    let (id_task, id_trial) = from_id.filter(|_| task.is_none()).unzip();
    let has_suite = record.envelope != "mapped" && !record.envelope.is_empty();
    Header {
        run_id,
        task_id: task.or(id_task),
        trial: row.some_word("trial").or(id_trial),
        suite: if has_suite { Some(record.envelope.to_owned()) } else { None },
        model: row.some_word("model"),
        agent: row.some_word("agent"),
        started_at: moment(row, "started_at", out),
        ended_at: moment(row, "ended_at", out),
        meta: totals(row, out),
        ..Header::default()
    }
}

fn moment(row: &Node<'_>, name: &str, out: &mut Reading<'_>) -> Option<Instant> {
    let written = row.get(name).filter(|written| written.written() != "\"\"");
    out.instant(written.as_ref(), name)
}

/// The row's totals for the whole run, which its calls do not have.
fn totals(row: &Node<'_>, out: &mut Reading<'_>) -> Option<Json> {
    let names = ["input_tokens", "output_tokens", "cache_tokens", "total_tokens", "cost_usd", "cost_cents", "seconds"];
    object_of([("run_totals", object_of(names.map(|name| (name, total(row, name, out)))))])
}

fn total(row: &Node<'_>, name: &str, out: &mut Reading<'_>) -> Option<f64> {
    let number = row.number(name, out)?;
    if number < 0.0 {
        out.wrong(&row.get(name)?, name, "a number, 0 or more");
        return None;
    }
    Some(number)
}

/// The grade: success, failure, or unknown for null (or −1, which some collections write).
fn grade(row: &Node<'_>, column: &'static str, out: &mut Reading<'_>) -> Grade {
    let (graded, score) = graded(row, out);
    let said = |name| row.some_word(name).filter(|text| !text.is_empty());
    let end = match (said("limit"), said("error"), said("end")) {
        (Some(limit), ..) if limit.contains("time") => EndCause::Timeout,
        (Some(_), ..) => EndCause::Cap,
        (_, Some(_), _) => EndCause::Error,
        (.., Some(status)) => ended(&status),
        _ => EndCause::Unknown,
    };
    Grade { end, ..native_grade(column, graded, score) }
}

/// The outcome and score of a row; a negative number means that there is none.
fn graded(row: &Node<'_>, out: &mut Reading<'_>) -> (Option<bool>, Option<f64>) {
    match row.outcome("outcome", out) {
        Some((_, Some(score))) if score < 0.0 => (None, None),
        Some((graded, score)) => (Some(graded), score),
        None => (None, None),
    }
}

/// The end cause for a harness's status.
fn ended(status: &str) -> EndCause {
    let status = status.to_ascii_lowercase();
    let names = |words: &[&str]| words.iter().any(|word| status.contains(word));
    match end_cause(&status) {
        EndCause::Unknown if names(&["timeout", "timed out"]) => EndCause::Timeout,
        EndCause::Unknown if names(&["max_iter", "max_turn", "max_step", "length", "limit", "budget"]) => EndCause::Cap,
        EndCause::Unknown if names(&["error", "exception", "crash"]) => EndCause::Error,
        EndCause::Unknown if names(&["submit", "finish", "complete"]) || status == "stop" => EndCause::SelfFinish,
        cause => cause,
    }
}

/// The elements of a long value, empty if it is absent; anything but an array is reported.
fn elements<'a>(long: Option<&Node<'a>>, name: &str, out: &mut Reading<'_>) -> Vec<Node<'a>> {
    out.elements(long, name).into_iter().map(Node::from_written).collect()
}

/// Messages whose fields the user names.
fn described(messages: Option<&Node<'_>>, map: &FieldMap, out: &mut Reading<'_>) -> Vec<Event> {
    let mut turns = Turns::default();
    push_messages(&elements(messages, "messages", out), map, &mut turns, out);
    turns.into_draft(Header::default(), Grade::default()).events
}

/// Messages as in chat completions, with usage and times from the events.
fn chat(messages: Option<&Node<'_>>, events: Option<&Node<'_>>, out: &mut Reading<'_>) -> Vec<Event> {
    let mut read = Vec::new();
    let mut ids = Vec::new();
    for node in elements(messages, "messages", out) {
        if let Some(message) = message(&node, out) {
            ids.push(if events.is_some() { node.some_word("id") } else { None });
            read.push(message);
        }
    }
    if let Some(events) = events {
        price(&mut read, &ids, events, out);
    }
    read.into_iter().map(Event::Message).collect()
}

/// Other names of the text.
const OTHER_NAMES: [&str; 3] = ["text", "system_prompt", "cutoff_date"];

/// One message. SWE-agent names its text `text` or `system_prompt`, and the calls it answers `tool_call_ids`; Inspect
/// names the tool in `function`.
fn message(node: &Node<'_>, out: &mut Reading<'_>) -> Option<Message> {
    let mut message = openai::message_with(node, &OTHER_NAMES, out)?;
    let bare = message.content.is_none() && message.tool_calls.is_empty();
    let unnamed = message.role == Role::Tool && (message.tool_call_id.is_none() || message.name.is_none());
    if !bare && !unnamed {
        return Some(message);
    }
    if bare {
        message.content = node.content(OTHER_NAMES, out);
    }
    if unnamed && message.tool_call_id.is_none() {
        message.tool_call_id = answered(node).map(Into::into);
    }
    if unnamed && message.name.is_none() {
        message.name = node.some_word("function").map(Into::into);
    }
    Some(message)
}

/// Sets the replies' usage and time from the calls' events, matched by message id. If there are no ids, they are
/// matched in order, provided that there are as many calls as replies.
fn price(messages: &mut [Message], ids: &[Option<String>], events: &Node<'_>, out: &mut Reading<'_>) {
    let mut calls: VecDeque<(Option<String>, Option<Usage>, Option<Instant>)> = VecDeque::new();
    for event in elements(Some(events), "events", out) {
        let grades = event.some_word("role").unwrap_or_default().contains("grader");
        if !event.is("event", "model") || grades || event.has("error") {
            continue;
        }
        let output = event.within("output");
        let choice = output.some_list("choices").into_iter().next().unwrap_or_default();
        let id = choice.within("message").some_word("id");
        let cached = event.is("cache", "read");
        let usage = super::inspect::usage(&output.counts("usage", out).unwrap_or_default(), out).filter(|_| !cached);
        calls.push_back((id, usage, event.instant(["completed", "timestamp"], out)));
    }
    let replies = || messages.iter().filter(|message| message.role == Role::Assistant).count();
    let in_order = calls.iter().all(|(id, ..)| id.is_none()) && calls.len() == replies();
    let by_id: HashMap<String, (Option<Usage>, Option<Instant>)> =
        calls.iter().filter_map(|(id, usage, ts)| Some((id.clone()?, (*usage, *ts)))).collect();
    for (message, id) in messages.iter_mut().zip(ids).filter(|(message, _)| message.role == Role::Assistant) {
        let known = match id {
            _ if in_order => calls.pop_front().map(|(_, usage, ts)| (usage, ts)),
            Some(id) => by_id.get(id).copied(),
            None => None,
        };
        if let Some((usage, ts)) = known {
            message.ts = ts;
            message.set_usage(usage);
        }
    }
}

/// Terminal-bench's steps, where the environment's answer is part of the agent's step.
fn steps(list: Option<&Node<'_>>, out: &mut Reading<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    for (n, step) in elements(list, "steps", out).into_iter().enumerate() {
        let Some(step) = step.into_object("step", out) else { continue };
        let known = |who: &str| openai::role(if who == "agent" { "assistant" } else { who });
        let Some(role) = step.role("src", known, out) else { continue };
        let mut message = Message::new(role);
        message.content = step.content("msg", out);
        let mut answered: Option<(Name, Name)> = None;
        for (k, tool) in step.list("tools", out).into_iter().enumerate() {
            let Some(tool) = tool.into_object("tool", out) else { continue };
            let name = tool.some_word("fn").unwrap_or_default();
            let id = format!("s{n}-{k}");
            message.tool_calls.push(ToolCall::new(Some(&id), &name, tool.arguments("cmd")));
            answered = Some((id.into(), name.into()));
        }
        let asked = answered.is_some();
        events.push(Event::Message(message));
        if asked || step.has("obs") {
            let mut result = Message::new(if asked { Role::Tool } else { Role::User });
            let (id, name) = answered.unzip();
            (result.tool_call_id, result.name) = (id, name);
            // A pointer to a text stored elsewhere is not the text.
            result.content = step.content("obs", out).filter(|text| !is_pointer(&text.as_str()));
            if asked || result.content.is_some() {
                events.push(Event::Message(result));
            }
        }
    }
    events
}

/// Whether it is a pointer such as `$1f` to a text stored elsewhere.
fn is_pointer(text: &str) -> bool {
    let Some(id) = text.strip_prefix('$') else { return false };
    (1..=8).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_hexdigit())
}
