//! Logs of chat APIs: one call per line, with the messages of its request and the reply in its response,
//! as written by loggers, proxies and gateways.
//!
//! Each request repeats the conversation so far, so calls are joined into runs:
//!
//! - calls with the same trace, conversation, session or run id are one run, in file order;
//! - otherwise a call continues the conversation that one of the replies in its request belongs to;
//! - a request without a known reply begins a new run.
//!
//! A step is a logged call. Replies that a request quotes but the log lacks are not steps, because their cost is
//! unknown.

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use super::{Format, first_is};
use crate::open::probe::{Probe, Sketch};
use crate::read::{dialect, openai};
use crate::record::node::{Node, Opened};
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::text::word_list;
use crate::transcript::{
    Draft, EndCause, Event, Fingerprint, Grade, Header, Instant, Lane, Message, Note, Role, Usage,
};
use crate::value::{json, time};

/// Logs of chat APIs.
pub(super) static FORMAT: Format = Format {
    id: "api-log",
    summary: "request and response logs of chat APIs, a call a line",
    recognise,
    joins_lines: |_| true,
    ..Format::reading(read)
};

/// Names used for the request.
const REQUEST: [&str; 7] = ["request", "request_body", "requestBody", "input", "req", "kwargs", "payload"];
/// Names used for the response.
const RESPONSE: [&str; 6] = ["response", "response_body", "responseBody", "output", "res", "completion"];
/// Objects in which HTTP loggers, and Amazon's log of invocations, keep what was sent or returned.
const BODIES: &[&str] = &["body", "inputBodyJson", "outputBodyJson"];
/// Objects that some loggers wrap around both.
const AROUND: &[&str] = &["attributes", "standard_logging_object", "data", "record", "body"];
/// Fields that identify calls of the same run, in the line or in its metadata.
const TOGETHER: &[&str] = word_list!(
    "run_id trace_id traceId conversation_id conversationId session_id sessionId thread_id threadId litellm_trace_id",
    "litellm_session_id custom_id",
);

fn recognise(probe: &Probe) -> Option<String> {
    let lists = probe.document().map(Sketch::elements).unwrap_or_default();
    // OpenHands logs its calls this way, each with the whole conversation.
    let is_openhands = |value: &Sketch| value.has(&["fncall_messages"]) || value.has(&["args", "kwargs", "timestamp"]);
    for value in probe.values.iter().chain(lists).filter(|value| !is_openhands(value)) {
        if let Some(reason) = looks_like_call(value) {
            return Some(reason);
        }
        for name in AROUND {
            if let Some(inner) = value.get(name)
                && !is_openhands(inner)
                && let Some(reason) = looks_like_call(inner)
            {
                return Some(reason);
            }
        }
    }
    None
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut log = ApiConversations::default();
    for call in calls(record) {
        if let Some(call) = Node::row(call, out) {
            log.add(&call, out);
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

/// Whether a message has a role.
fn has_role(message: &Sketch) -> bool {
    openai::role(&message.text_of("role").unwrap_or_default()).is_some()
}

fn is_request(value: &Sketch) -> bool {
    let Some(asks) = value.get("messages").or(value.get("input")) else { return false };
    first_is(asks, has_role) || value.get("model").is_some()
}

fn is_reply(value: &Sketch) -> bool {
    let kinds = [value.text_of("object"), value.text_of("type")];
    value.has_array("choices")
        || kinds.into_iter().flatten().any(|kind| matches!(&*kind, "chat.completion" | "response" | "message"))
}

/// Whether it fits, or what stands in its body.
fn fits_in_body(value: &Sketch, fits: fn(&Sketch) -> bool) -> bool {
    fits(value) || BODIES.iter().any(|name| matches!(value.get(name), Some(body) if fits(body)))
}

/// The reason why a value is a call; `None` if it is not.
fn looks_like_call(value: &Sketch) -> Option<String> {
    let response = RESPONSE.iter().find(|name| value.has(&[name]));
    let asks = |name: &&&str| matches!(value.get(name), Some(inner) if fits_in_body(inner, is_request));
    if let (Some(request), Some(response)) = (REQUEST.iter().find(asks), response) {
        return Some(format!("calls: `{request}` with messages, and `{response}`"));
    }
    if value.has_array("choices") && is_reply(value) {
        return Some("responses of an API with `choices`".to_owned());
    }
    if value.is("object", "response") && value.has_array("output") {
        return Some("responses of an API with `output`".to_owned());
    }
    let name = response?;
    let is_whole = is_request(value) || value.has(&["custom_id"]);
    let is_call = is_whole && fits_in_body(value.get(name)?, is_reply);
    if is_call { Some(format!("calls: messages, and `{name}` of an API")) } else { None }
}

/// The calls: lines, or the elements of an array.
fn calls<'r>(record: &Record<'r>) -> Vec<&'r str> {
    match Node::parsed(record.text, record) {
        Ok(whole) => json::elements(&whole).unwrap_or_else(|| vec![record.text]),
        Err(_) => record.lines().collect(),
    }
}

/// The conversations in a log so far.
#[derive(Default)]
struct ApiConversations {
    runs: Vec<ApiConversation>,
    by_id: HashMap<String, usize>,
    /// The conversation with the latest reply that has each mark.
    by_mark: HashMap<Fingerprint, usize>,
    /// The conversation of each response id.
    by_response: HashMap<String, usize>,
}

#[derive(Default)]
struct ApiConversation {
    id: Option<String>,
    model: Option<String>,
    events: Vec<Event>,
    /// The marks of the last reply.
    last: Vec<Fingerprint>,
    /// Number of messages requested after the last reply.
    asked: usize,
    /// All messages so far that are not logged replies.
    said: HashSet<Fingerprint>,
    failed: bool,
    /// A response could not be read, so what the others used is not the whole.
    is_usage_unread: bool,
}

impl ApiConversations {
    fn add(&mut self, call: &Node<'_>, out: &mut Reading<'_>) {
        let line = line_of(call);
        let request = line.get(REQUEST).map(|request| body(&request)).filter(|request| request.node().is_object());
        let request = request.unwrap_or_else(|| line.opened());
        let is_output = line.has_list("output") && !line.has(["messages", "request"]);
        let bare = line.mentions("choices") || is_output && line.has("id");
        let response = if bare {
            line.opened()
        } else if let Some(found) = line.get(RESPONSE) {
            body(&found)
        } else {
            Opened::null()
        };
        let (request, response) = (request.node(), response.node());
        let said = request.get(["messages", "input", "contents"]);
        if said.is_none() && response.is_null() {
            if let Some(kind) = call.some_word(["type", "event", "level"]) {
                out.unknown(&kind, call);
            } else {
                let what = "neither the messages of a request nor a response";
                out.error_at(call.place(), what, "the line is left out");
            }
            return;
        }
        let asked = said.map(|said| dialect::messages(&said, Role::User, out)).unwrap_or_default();
        let reply = dialect::reply(&response, out).filter(|_| !response.has("error"));
        let at = self.conversation(call, &line, &request, &asked);
        let Some(conversation) = self.runs.get_mut(at) else { return };
        conversation.ask(&request, asked, out);
        let Some(mut reply) = reply else {
            // A failed call has no reply and is not a step.
            conversation.failed = true;
            let why = response.get("error").map(|why| why.compact());
            let why = why.or_else(|| line.get(["error", "error_str", "exception"]).map(|why| why.compact()));
            if why.is_none() && !response.is_null() {
                let what = "a response with neither a reply nor an error";
                out.error_at(call.place(), what, "the call counts as failed, and the tokens of its run are unknown");
                conversation.is_usage_unread = true;
            }
            if let Ok(body) = RawValue::from_string(why.unwrap_or_else(|| "null".to_owned())) {
                conversation.events.push(Event::Note(Note { kind: "api-log.failed_call".into(), body }));
            }
            return;
        };
        about(&mut reply, call, &line, (&request, &response), out);
        if conversation.model.is_none() {
            conversation.model = reply.model().map(str::to_owned);
        }
        conversation.last = marks(&reply);
        for mark in &conversation.last {
            self.by_mark.insert(*mark, at);
        }
        if let Some(id) = response.some_word("id") {
            self.by_response.insert(id, at);
        }
        (conversation.asked, conversation.failed) = (0, false);
        conversation.events.push(Event::Message(reply));
    }

    /// The index of the conversation that a call belongs to, which may be new.
    fn conversation(&mut self, call: &Node<'_>, line: &Node<'_>, request: &Node<'_>, asked: &[Message]) -> usize {
        let id = shared_id(call).or_else(|| shared_id(line)).or_else(|| shared_id(request));
        if let Some(id) = id {
            let next = self.runs.len();
            let at = *self.by_id.entry(id.clone()).or_insert(next);
            if at == next {
                self.runs.push(ApiConversation { id: Some(id), ..ApiConversation::default() });
            }
            return at;
        }
        if asked.is_empty() && !request.mentions("previous_response_id") && !self.runs.is_empty() {
            // Bare responses cannot be told apart, so they are one run.
            return self.runs.len() - 1;
        }
        if let Some(before) = request.some_word("previous_response_id")
            && let Some(at) = self.by_response.get(&before)
        {
            return *at;
        }
        let replies = asked.iter().rev().filter(|message| message.role == Role::Assistant);
        for quoted in replies.flat_map(marks) {
            if let Some(at) = self.by_mark.get(&quoted) {
                return *at;
            }
        }
        self.runs.push(ApiConversation::default());
        self.runs.len() - 1
    }
}

/// What has the response: an object that some loggers wrap around a call, or else the call itself.
fn line_of<'a>(call: &Node<'a>) -> Node<'a> {
    for name in AROUND {
        let Some(inner) = call.get(*name) else { continue };
        if inner.has(RESPONSE) {
            return if call.has(RESPONSE) { call.clone() } else { inner };
        }
    }
    call.clone()
}

/// The id that a call has in common with the others of its run.
fn shared_id(node: &Node<'_>) -> Option<String> {
    if let Some(id) = node.some_word(TOGETHER) {
        return Some(id);
    }
    node.get("metadata")?.some_word(TOGETHER)
}

impl ApiConversation {
    /// Adds the new messages of a request.
    fn ask(&mut self, request: &Node<'_>, asked: Vec<Message>, out: &mut Reading<'_>) {
        let known = |message: &Message| {
            message.role == Role::Assistant && marks(message).iter().any(|mark| self.last.contains(mark))
        };
        let last = asked.iter().rposition(known);
        let begin = match last {
            Some(last) => last + 1,
            // The last reply is not in the request: it is a first request, a shortened one, or a retry.
            None if self.events.is_empty() => 0,
            None => match asked.iter().rposition(|message| message.role == Role::Assistant) {
                Some(at) => at + 1,
                None => 0,
            },
        };
        // A failed request before this one already added some of them.
        let heard = if last.is_some() { self.asked } else { 0 };
        self.asked = if last.is_some() { asked.len().saturating_sub(begin) } else { 0 };
        if self.events.is_empty() {
            for name in ["system", "instructions"] {
                let Some(instructions) = request.get(name) else { continue };
                let said = dialect::messages(&instructions, Role::System, out);
                self.events.extend(said.into_iter().map(Event::Message));
            }
        }
        for mut message in asked.into_iter().skip(begin + heard) {
            let first = self.said.insert(Fingerprint::from_text(&format!(
                "{}\n{}\n{}",
                message.role.name(),
                message.tool_call_id.as_deref().unwrap_or_default(),
                message.text()
            )));
            // A retry adds nothing new.
            if !first && last.is_none() {
                continue;
            }
            if message.role == Role::Assistant {
                message.lane = Lane::Canned;
                message.set_usage(None);
            }
            self.events.push(Event::Message(message));
        }
    }

    fn into_draft(mut self, run_id: String) -> Draft {
        if self.is_usage_unread {
            for event in &mut self.events {
                if let Event::Message(message) = event {
                    message.set_usage(None);
                }
            }
        }
        let end = if self.failed { EndCause::Error } else { EndCause::Unknown };
        Draft {
            header: Header { run_id, model: self.model, ..Header::default() },
            events: self.events,
            grade: Grade { end, ..Grade::default() },
            warnings: Vec::new(),
        }
    }
}

/// What identifies a reply when a later request quotes it: its calls, or else its text.
fn marks(message: &Message) -> Vec<Fingerprint> {
    if message.tool_calls.is_empty() {
        let text = message.text();
        let said = text.trim();
        return if said.is_empty() { Vec::new() } else { vec![Fingerprint::from_text(said)] };
    }
    let mark = |call: &crate::transcript::ToolCall| match call.id.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => Fingerprint::from_text(id),
        None => Fingerprint::from_text(&format!("{}\n{}", call.name, call.arguments.as_str())),
    };
    message.tool_calls.iter().map(mark).collect()
}

/// The `body` of an HTTP logger's request or response, or else the value itself.
fn body<'a>(node: &Node<'a>) -> Opened<'a> {
    let whole = node.opened();
    for name in BODIES {
        if let Some(body) = whole.inner(name) {
            return body;
        }
    }
    whole
}

/// Sets the reply's model, tokens, cost and time from its call.
fn about<'a>(
    reply: &mut Message,
    call: &Node<'a>,
    line: &Node<'a>,
    (request, response): (&Node<'_>, &Node<'_>),
    out: &mut Reading<'_>,
) {
    reply.lane = Lane::Main;
    let usage = match response.get(["usage", "usageMetadata", "usage_metadata"]) {
        Some(counted) => dialect::usage(&counted, out),
        None => dialect::usage_under(line, "usage", out),
    };
    reply.set_usage(usage.or_else(|| counted_in(line, out)));
    let model = response.some_word("model").or_else(|| request.some_word("model"));
    let model = model.or_else(|| line.some_word(["model", "modelId"]));
    reply.set_model(model.map(Into::into));
    let told = line.dollars(["response_cost", "cost_usd", "cost", "total_cost"], out);
    let told = told.or_else(|| response.within("_hidden_params").dollars("response_cost", out));
    reply.set_cost(told.or_else(|| response.within("usage").dollars("cost", out)));
    reply.ts = recorded_time(&[line, call]).or_else(|| instant(&response.get("created")?));
}

/// The first time in one of these objects.
fn recorded_time(nodes: &[&Node<'_>]) -> Option<Instant> {
    for node in nodes {
        for name in TIMES {
            if let Some(found) = node.get(*name)
                && let Some(time) = instant(&found)
            {
                return Some(time);
            }
        }
    }
    None
}

/// Names for a call's time; its end is preferred to its start.
const TIMES: &[&str] =
    word_list!("endTime end_time completed_at response_time timestamp time ts created_at startTime start_time");

/// Token counts that are in the line itself.
fn counted_in(line: &Node<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let usage = Usage {
        input: line.tokens(["prompt_tokens", "input_tokens"], out),
        output: line.tokens(["completion_tokens", "output_tokens"], out),
        ..Usage::default()
    };
    if usage.is_empty() && line.has("modelId") {
        let side = |name: &str| line.get(name).filter(Node::is_object).unwrap_or_default();
        let (input, output) = (side("input"), side("output"));
        let usage = Usage {
            input: input.tokens("inputTokenCount", out),
            output: output.tokens("outputTokenCount", out),
            ..Usage::default()
        };
        return tokens::recorded(usage);
    }
    tokens::recorded(usage)
}

/// A time; a small number is a duration and ignored.
fn instant(node: &Node<'_>) -> Option<Instant> {
    match json::number(node) {
        Some(number) if number < 1e8 => None,
        _ => time::instant(node),
    }
}
