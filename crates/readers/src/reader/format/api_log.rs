//! Logs of chat APIs: one call a line, with the messages of its request and the reply of its response
//! (FORMATS 15), as loggers, proxies and gateways write them.
//!
//! Each request repeats the conversation so far, so calls are joined again:
//!
//! - calls that name the same trace, conversation, session or run are one run, in file order;
//! - otherwise a call goes on with the conversation whose last reply stands in its request;
//! - a request without any reply in it begins a run.
//!
//! A step is a call. Replies that a request quotes and the log does not have are no steps: nobody knows
//! what they cost.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use serde_json::value::RawValue;

use super::{Format, Layout};
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::value_dialect::{self as dialect, as_count, as_number, as_word, pick, unwrapped, word};
use crate::reader::{json, openai, time};
use crate::transcript::{
    Draft, EndCause, Event, Fingerprint, Grade, Header, Instant, Lane, Message, Note, Role, Usage, Usd, fingerprint,
};

/// Logs of chat APIs.
pub(super) struct ApiLog;

/// Names a request goes by.
const REQUEST: &[&str] = &["request", "request_body", "requestBody", "input", "req", "kwargs"];
/// Names a response goes by.
const RESPONSE: &[&str] = &["response", "response_body", "responseBody", "output", "res", "completion"];
/// Objects that some loggers put around both.
const AROUND: &[&str] = &["attributes", "standard_logging_object", "data", "record", "body"];
/// Fields that say which calls belong together, in the line or in its metadata.
const TOGETHER: &[&str] = &[
    "run_id",
    "trace_id",
    "traceId",
    "conversation_id",
    "conversationId",
    "session_id",
    "sessionId",
    "thread_id",
    "threadId",
    "litellm_trace_id",
    "litellm_session_id",
    "custom_id",
];

impl Format for ApiLog {
    fn id(&self) -> &'static str {
        "api-log"
    }

    fn summary(&self) -> &'static str {
        "request and response logs of chat APIs, a call a line"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let lists = probe.document().map(Sketch::elements).unwrap_or_default();
        // OpenHands logs its calls so, each with the whole conversation.
        let is_openhands =
            |value: &Sketch| value.has(&["fncall_messages"]) || value.has(&["args", "kwargs", "timestamp"]);
        probe.values.iter().chain(lists).filter(|value| !is_openhands(value)).find_map(|value| {
            let inner = AROUND.iter().filter_map(|name| value.get(name)).filter(|inner| !is_openhands(inner));
            std::iter::once(value).chain(inner).find_map(looks_like_call)
        })
    }

    fn joins_lines(&self, _first: &Sketch) -> bool {
        true
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let mut log = Log::default();
        for text in calls(record) {
            match json::value(text) {
                Ok(value) => log.add(text, &value, out),
                Err(error) => out.error(record.broken(text, &error)),
            }
        }
        let alone = log.runs.len() == 1;
        for (n, conversation) in log.runs.into_iter().enumerate() {
            let stem = &record.file.stem;
            let run_id = match &conversation.id {
                Some(id) => id.clone(),
                None if alone => stem.clone(),
                None => format!("{stem}/{n}"),
            };
            out.run(conversation.into_draft(run_id));
        }
    }
}

/// Why a value is a call, if it is one.
fn looks_like_call(value: &Sketch) -> Option<String> {
    let has_roles = |list: Option<&Sketch>| {
        let first = list.and_then(|list| list.elements().first());
        first.and_then(|message| message.text_of("role")).is_some_and(|role| openai::role(&role).is_some())
    };
    let is_request = |value: &Sketch| {
        let asks = value.get("messages").or(value.get("input"));
        has_roles(asks) || (asks.is_some() && value.get("model").is_some())
    };
    let is_reply = |value: &Sketch| {
        let kind = [value.text_of("object"), value.text_of("type")].into_iter().flatten();
        value.get("choices").is_some_and(Sketch::is_array)
            || kind.into_iter().any(|kind| matches!(kind.as_str(), "chat.completion" | "response" | "message"))
    };
    let response = RESPONSE.iter().find_map(|name| Some((*name, value.get(name)?)));
    let bodied = |inner: &Sketch, is: &dyn Fn(&Sketch) -> bool| is(inner) || inner.get("body").is_some_and(is);
    let request = REQUEST.iter().find(|name| value.get(name).is_some_and(|inner| bodied(inner, &is_request)));
    if let (Some(request), Some((response, _))) = (request, response) {
        return Some(format!("calls: `{request}` with messages, and `{response}`"));
    }
    if value.get("choices").is_some_and(Sketch::is_array) && is_reply(value) {
        return Some("responses of an API with `choices`".to_owned());
    }
    let (name, found) = response?;
    let whole = is_request(value) || value.has(&["custom_id"]);
    (whole && bodied(found, &is_reply)).then(|| format!("calls: messages, and `{name}` of an API"))
}

/// The calls: lines, or the elements of an array.
fn calls<'r>(record: &Record<'r>) -> Vec<&'r str> {
    match serde_json::from_str::<Vec<&RawValue>>(record.text) {
        Ok(elements) => elements.into_iter().map(RawValue::get).collect(),
        Err(_) if serde_json::from_str::<&RawValue>(record.text).is_ok() => vec![record.text],
        Err(_) => record.lines().collect(),
    }
}

/// The conversations of a log so far.
#[derive(Default)]
struct Log {
    runs: Vec<Conversation>,
    by_id: BTreeMap<String, usize>,
    /// Which conversation said a reply last, by its marks.
    by_mark: BTreeMap<Fingerprint, usize>,
    /// Which conversation a response of that id belongs to.
    by_response: BTreeMap<String, usize>,
}

#[derive(Default)]
struct Conversation {
    id: Option<String>,
    model: Option<String>,
    events: Vec<Event>,
    /// What the last reply is known by.
    last: Vec<Fingerprint>,
    /// Messages that were asked with since then.
    asked: usize,
    /// What others than the agent said so far.
    said: BTreeSet<Fingerprint>,
    failed: bool,
}

impl Log {
    fn add(&mut self, text: &str, value: &Value, out: &mut Reading<'_>) {
        let inner = AROUND.iter().filter_map(|name| value.get(name));
        let line = std::iter::once(value).chain(inner).find(|line| pick(line, RESPONSE).is_some()).unwrap_or(value);
        let request = pick(line, REQUEST).map(body).filter(Value::is_object).unwrap_or_else(|| line.clone());
        let bare = line.get("choices").is_some();
        let response = if bare { line.clone() } else { pick(line, RESPONSE).map(body).unwrap_or_default() };
        let said = pick(&request, &["messages", "input", "contents"]);
        let other = word(value, &["type", "event", "level"]).filter(|_| said.is_none() && response.is_null());
        if let Some(kind) = other {
            out.unknown(&kind);
            return;
        }
        if said.is_none() && response.is_null() {
            out.error_at(text, "neither the messages of a request nor a response", "the line is left out");
            return;
        }
        let asked = said.map(|said| dialect::messages(said, Role::User)).unwrap_or_default();
        let reply = dialect::reply(&response).filter(|_| response.get("error").is_none_or(Value::is_null));
        let at = self.conversation(value, line, &request, &asked);
        let Some(conversation) = self.runs.get_mut(at) else { return };
        conversation.ask(&request, asked);
        let Some(mut reply) = reply else {
            // A call that failed has no reply, and is no step.
            conversation.failed = true;
            let why = pick(&response, &["error"]).or_else(|| pick(line, &["error", "error_str", "exception"]));
            if let Ok(body) = serde_json::value::to_raw_value(&why.cloned().unwrap_or_default()) {
                conversation.events.push(Event::Note(Note { kind: "api-log.failed_call".into(), body }));
            }
            return;
        };
        about(&mut reply, value, line, &request, &response);
        conversation.model = conversation.model.take().or_else(|| reply.model.as_deref().map(str::to_owned));
        conversation.last = marks(&reply);
        for mark in &conversation.last {
            self.by_mark.insert(*mark, at);
        }
        if let Some(id) = word(&response, &["id"]) {
            self.by_response.insert(id, at);
        }
        (conversation.asked, conversation.failed) = (0, false);
        conversation.events.push(Event::Message(reply));
    }

    /// The conversation a call belongs to, which may be a new one.
    fn conversation(&mut self, value: &Value, line: &Value, request: &Value, asked: &[Message]) -> usize {
        let metadata = [value, line, request].into_iter().flat_map(|at| [Some(at), at.get("metadata")]);
        let id = metadata.flatten().find_map(|at| word(at, TOGETHER));
        if let Some(id) = id {
            let next = self.runs.len();
            let at = *self.by_id.entry(id.clone()).or_insert(next);
            if at == next {
                self.runs.push(Conversation { id: Some(id), ..Conversation::default() });
            }
            return at;
        }
        if asked.is_empty() && request.get("previous_response_id").is_none() && !self.runs.is_empty() {
            // Responses by themselves: nothing tells them apart, so the file is one run.
            return self.runs.len() - 1;
        }
        let before = word(request, &["previous_response_id"]).and_then(|id| self.by_response.get(&id).copied());
        let replies = asked.iter().rev().filter(|message| message.role == Role::Assistant);
        let quoted = || replies.flat_map(marks).find_map(|mark| self.by_mark.get(&mark).copied());
        before.or_else(quoted).unwrap_or_else(|| {
            self.runs.push(Conversation::default());
            self.runs.len() - 1
        })
    }
}

impl Conversation {
    /// Adds what a request says that was not said before.
    fn ask(&mut self, request: &Value, asked: Vec<Message>) {
        let known = |message: &Message| {
            message.role == Role::Assistant && marks(message).iter().any(|mark| self.last.contains(mark))
        };
        let last = asked.iter().rposition(known);
        let begin = match last {
            Some(last) => last + 1,
            // Nothing of the last reply: a first request, one that was shortened, or one that was made again.
            None if self.events.is_empty() => 0,
            None => asked.iter().rposition(|message| message.role == Role::Assistant).map_or(0, |at| at + 1),
        };
        // A request that failed has said a part of it already.
        let heard = if last.is_some() { self.asked } else { 0 };
        self.asked = if last.is_some() { asked.len().saturating_sub(begin) } else { 0 };
        if self.events.is_empty() {
            for instructions in ["system", "instructions"].iter().filter_map(|name| pick(request, &[name])) {
                let said = dialect::messages(instructions, Role::System);
                self.events.extend(said.into_iter().map(Event::Message));
            }
        }
        for mut message in asked.into_iter().skip(begin + heard) {
            let first = self.said.insert(fingerprint::of_text(&format!(
                "{}\n{}\n{}",
                message.role.name(),
                message.tool_call_id.as_deref().unwrap_or_default(),
                message.text()
            )));
            // A request made again says nothing new.
            if !first && last.is_none() {
                continue;
            }
            if message.role == Role::Assistant {
                (message.lane, message.usage) = (Lane::Canned, None);
            }
            self.events.push(Event::Message(message));
        }
    }

    fn into_draft(self, run_id: String) -> Draft {
        let end = if self.failed { EndCause::Error } else { EndCause::Unknown };
        Draft {
            header: Header { run_id, model: self.model, ..Header::default() },
            events: self.events,
            grade: Grade { end, ..Grade::default() },
            warnings: Vec::new(),
        }
    }
}

/// What a reply is known by when a later request quotes it: its calls, or its words.
fn marks(message: &Message) -> Vec<Fingerprint> {
    if message.tool_calls.is_empty() {
        let text = message.text();
        let said = text.trim();
        return if said.is_empty() { Vec::new() } else { vec![fingerprint::of_text(said)] };
    }
    let mark = |call: &crate::transcript::ToolCall| match call.id.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => fingerprint::of_text(id),
        None => fingerprint::of_text(&format!("{}\n{}", call.name, call.arguments.as_str())),
    };
    message.tool_calls.iter().map(mark).collect()
}

/// What an HTTP logger has as the `body` of a request or a response, or the thing itself.
fn body(value: &Value) -> Value {
    let value = unwrapped(value);
    value.get("body").filter(|body| !body.is_null()).map(unwrapped).unwrap_or(value)
}

/// Puts model, tokens, cost and time of a call on its reply.
fn about(reply: &mut Message, value: &Value, line: &Value, request: &Value, response: &Value) {
    reply.lane = Lane::Main;
    reply.usage = pick(response, &["usage", "usageMetadata", "usage_metadata"])
        .or_else(|| pick(line, &["usage"]))
        .and_then(dialect::usage)
        .or_else(|| counted(line));
    let model = word(response, &["model"]).or_else(|| word(request, &["model"])).or_else(|| word(line, &["model"]));
    reply.model = model.map(Into::into);
    let costs = [
        pick(line, &["response_cost", "cost_usd", "cost", "total_cost"]),
        response.pointer("/_hidden_params/response_cost"),
        response.pointer("/usage/cost"),
    ];
    reply.cost = costs.into_iter().flatten().find_map(as_number).map(Usd);
    let times = ["endTime", "end_time", "completed_at", "response_time", "timestamp", "time", "ts"];
    let times = times.iter().copied().chain(["created_at", "startTime", "start_time"]);
    let recorded = |at: &Value| times.clone().find_map(|name| pick(at, &[name]).and_then(instant));
    reply.ts = recorded(line).or_else(|| recorded(value)).or_else(|| pick(response, &["created"]).and_then(instant));
}

/// Tokens that stand in the line itself.
fn counted(line: &Value) -> Option<Usage> {
    let count = |names: &[&str]| pick(line, names).and_then(as_count);
    let usage = Usage {
        input: count(&["prompt_tokens", "input_tokens"]),
        output: count(&["completion_tokens", "output_tokens"]),
        ..Usage::default()
    };
    (!usage.is_empty()).then_some(usage)
}

/// A time; a small number is a duration.
fn instant(value: &Value) -> Option<Instant> {
    let is_duration = as_number(value).is_some_and(|number| number < 1e8) && as_word(value).is_some();
    if is_duration { None } else { time::of_value(value) }
}
