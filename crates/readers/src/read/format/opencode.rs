//! OpenCode sessions: `opencode export`, the messages of its server, session, messages and parts as concatenated
//! values, or the events that `opencode run --format json` prints.
//!
//! A message may hold several model calls, each between `step-start` and `step-finish`, with its tokens at the end.
//! Cached tokens are counted separately from the input.

use std::collections::HashMap;
use std::mem;

use super::{Format, RecordLayout, joined, reason_if};
use crate::find::file_name::OtherFile;
use crate::open::probe::{Probe, Shape, Sketch};
use crate::read::openai;
use crate::read::subagents;
use crate::read::texts::agent_name;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::tokens::is_spent;
use crate::transcript::{EndCause, Event, Grade, Header, Instant, Lane, Message, Role, ToolCall, Usage};
use crate::value::json;

/// OpenCode sessions.
pub(super) static FORMAT: Format = Format {
    id: "opencode",
    summary: "OpenCode sessions (exports, messages with parts, `run --format json`)",
    recognise,
    joins_lines: |first| !first.has(&["messages"]),
    layout,
    prompted_by: crate::transcript::PromptedBy::Person,
    keeps_sub_agents_apart: true,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let has_info = |value: &Sketch| value.text_within("info", "role").is_some() && value.has_array("parts");
    let holds =
        |value: &Sketch| value.elements().iter().any(has_info) || value.elements_of("messages").iter().any(has_info);
    if probe.any(|value| has_info(value) || holds(value)) {
        return Some("messages with `info` and `parts`".to_owned());
    }
    let is_event = |value: &Sketch| {
        let part = value.has_within("part", &["messageID", "type"]);
        part && value.has(&["type", "sessionID"])
    };
    if probe.values.iter().any(is_event) {
        return Some("events of `opencode run --format json`: lines with a `sessionID` and a `part`".to_owned());
    }
    let parts = probe.any_with(&["messageID", "sessionID", "type"]);
    let messages = probe.any_with(&["sessionID", "role", "time"]);
    reason_if(parts && messages, "messages and parts with a `sessionID`")
}

fn layout(probe: &Probe) -> RecordLayout {
    let exports = probe.shape == Shape::Lines && probe.values.iter().all(|value| value.has(&["messages"]));
    if exports { RecordLayout::Lines } else { RecordLayout::Whole }
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut session = OpenCodeSession::from_record(record, out);
    if session.turns.len() == 0 && session.id.is_none() {
        out.error_at(record.text, "no session and no messages", "it is left out");
        return;
    }
    for child in record.children {
        session.turns.insert_by_time(sub_agent(child, record, out));
    }
    for child in mem::take(&mut session.children) {
        session.turns.insert_by_time(started(&child, record, out));
    }
    let header = Header {
        run_id: session.id.unwrap_or_else(|| record.file.stem.clone()),
        parent: session.parent,
        model: session.model,
        agent: Some(agent_name("opencode", session.version)),
        ..Header::default()
    };
    out.run(session.turns.into_draft(header, Grade { end: session.end, ..Grade::default() }));
}

/// A session being read.
#[derive(Default)]
struct OpenCodeSession<'a> {
    id: Option<String>,
    /// The session whose agent started this one.
    parent: Option<String>,
    version: Option<String>,
    model: Option<String>,
    turns: Turns,
    /// The sessions that it started, where they are parts of its document.
    children: Vec<Node<'a>>,
    /// Messages whose parts are recorded separately.
    loose: Vec<(Node<'a>, Vec<Node<'a>>)>,
    by_id: HashMap<String, usize>,
    /// The parts that the program printed, by the id of their message.
    printed: Vec<(String, Vec<Node<'a>>)>,
    end: EndCause,
    /// Whether the program printed an error.
    failed: bool,
}

/// The messages of a sub-agent, whose session is in another file.
fn sub_agent(child: &OtherFile, record: &Record<'_>, out: &mut Reading<'_>) -> Vec<Event> {
    subagents::read_file(child, record, out, side_events).unwrap_or_default()
}

/// The messages of a sub-agent, whose session stands in the document of the one that started it.
fn started(child: &Node<'_>, record: &Record<'_>, out: &mut Reading<'_>) -> Vec<Event> {
    side_events(&Record { text: child.written(), ..*record }, out)
}

/// The messages of a sub-agent, and of those it started, on lanes of their own.
fn side_events(record: &Record<'_>, out: &mut Reading<'_>) -> Vec<Event> {
    let mut session = OpenCodeSession::from_record(record, out);
    for child in mem::take(&mut session.children) {
        session.turns.insert_by_time(started(&child, record, out));
    }
    let lane = Lane::Side(session.id.unwrap_or_else(|| record.file.stem.clone()).into());
    let mut events = session.turns.into_draft(Header::default(), Grade::default()).events;
    subagents::on_lane(&mut events, &lane);
    events
}

impl<'a> OpenCodeSession<'a> {
    /// Reads everything in a record.
    fn from_record(record: &Record<'a>, out: &mut Reading<'_>) -> Self {
        let mut session = Self::default();
        for value in Node::values(record, out) {
            let Some(entry) = value.into_object("entry", out) else { continue };
            session.take_in(entry, out);
        }
        let loose = std::mem::take(&mut session.loose);
        for (message, parts) in loose {
            session.message(&message, &parts, out);
        }
        for (_, parts) in std::mem::take(&mut session.printed) {
            // Only replies are printed.
            session.message(&Node::from_written(r#"{"role":"assistant"}"#), &parts, out);
            session.end = match parts.last() {
                Some(last) if last.is("type", "step-finish") && last.is("reason", "stop") => EndCause::SelfFinish,
                _ => EndCause::Unknown,
            };
        }
        if session.failed {
            session.end = EndCause::Error;
        }
        session
    }

    /// Reads a session, a message with its parts, a message, or a part.
    fn take_in(&mut self, entry: Node<'a>, out: &mut Reading<'_>) {
        if entry.has("messages") {
            self.begin(&entry.within("info"));
            for message in entry.list("messages", out) {
                if let Some(message) = message.into_object("message", out) {
                    self.whole(&message, out);
                }
            }
            self.children.extend(entry.list("children", out));
            return;
        }
        if entry.has("info") {
            return self.whole(&entry, out);
        }
        if entry.has("part") && entry.has("sessionID") {
            return self.print(&entry);
        }
        if entry.is("type", "error") && entry.has("sessionID") {
            self.failed = true;
            return;
        }
        if let Some(of) = entry.some_word("messageID") {
            if let Some(at) = self.by_id.get(&of)
                && let Some((_, parts)) = self.loose.get_mut(*at)
            {
                parts.push(entry);
            }
            return;
        }
        if entry.has("role") {
            self.by_id.extend(entry.some_word("id").map(|id| (id, self.loose.len())));
            self.name_after(&entry);
            self.loose.push((entry, Vec::new()));
            return;
        }
        self.begin(&entry);
    }

    /// Takes the session's id from the first entry.
    fn name_after(&mut self, entry: &Node<'a>) {
        if self.id.is_none() {
            self.id = entry.some_word("sessionID");
        }
    }

    /// Reads an event that the program printed.
    fn print(&mut self, event: &Node<'a>) {
        self.name_after(event);
        let part = event.within("part");
        let of = part.some_word("messageID").unwrap_or_default();
        match self.printed.iter_mut().rev().find(|(known, _)| *known == of) {
            Some((_, parts)) => parts.push(part),
            None => self.printed.push((of, vec![part])),
        }
    }

    fn begin(&mut self, info: &Node<'a>) {
        self.id = info.some_word("id").or(self.id.take());
        self.parent = info.some_word("parentID").filter(|id| !id.is_empty()).or(self.parent.take());
        self.version = info.some_word("version").or(self.version.take());
    }

    fn whole(&mut self, entry: &Node<'a>, out: &mut Reading<'_>) {
        let info = entry.within("info");
        self.name_after(&info);
        let parts = entry.list("parts", out);
        self.message(&info, &parts, out);
    }

    fn message(&mut self, info: &Node<'a>, parts: &[Node<'a>], out: &mut Reading<'_>) {
        let time = info.within("time");
        let created = out.instant(time.get("created").as_ref(), "time.created");
        let completed = out.instant(time.get("completed").as_ref(), "time.completed");
        let Some(role) = info.role("role", openai::role, out) else { return };
        if role != Role::Assistant {
            for part in parts.iter().filter(|part| part.is_object()) {
                let Some(text) = part.text("text", out) else { continue };
                // Text that the program adds to the user's message.
                let put_in = part.is_true("synthetic");
                let mut said = Message::saying(if put_in { Role::System } else { Role::User }, text);
                said.ts = created;
                self.turns.push(said);
            }
            return;
        }
        let model = info.some_word("modelID");
        self.model = self.model.take().or_else(|| model.clone());
        let error = info.within("error").some_word("name");
        let is_aborted = error.as_deref() == Some("MessageAbortedError");
        let mut steps = MessageSteps {
            session: self,
            model,
            ts: completed.or_else(|| last_written(parts, out)).or(created),
            reply: None,
            results: Vec::new(),
            counted: false,
        };
        for part in parts.iter().filter(|part| part.is_object()) {
            steps.part(part, out);
        }
        steps.close(info, out);
        if is_aborted {
            self.turns.interrupted();
        }
        self.end = match error {
            Some(_) if is_aborted => EndCause::Killed,
            Some(_) => EndCause::Error,
            None if info.is("finish", "stop") => EndCause::SelfFinish,
            None => EndCause::Unknown,
        };
    }
}

/// The model calls of one message.
struct MessageSteps<'s, 'a> {
    session: &'s mut OpenCodeSession<'a>,
    model: Option<String>,
    ts: Option<Instant>,
    reply: Option<Message>,
    results: Vec<Message>,
    /// Whether a step has token counts. The message's counts are then the sum of its steps.
    counted: bool,
}

impl MessageSteps<'_, '_> {
    #[expect(clippy::match_same_arms, reason = "one arm a kind of part")]
    fn part(&mut self, part: &Node<'_>, out: &mut Reading<'_>) {
        match part.some_word("type").unwrap_or_default().as_str() {
            // A second start continues the same call: the first attempt was interrupted.
            "step-start" => {}
            "step-finish" => {
                let (usage, cost) = (usage(part, out), part.dollars("cost", out));
                self.counted |= usage.is_some();
                let reply = self.reply();
                reply.set_usage(usage);
                reply.set_cost(cost);
                reply.set_finish_reason(part.some_word("reason").map(Into::into));
                self.flush();
            }
            "text" => {
                let text = part.text("text", out);
                let reply = self.reply();
                reply.content = joined(reply.content.take(), text);
            }
            "reasoning" => {
                let text = part.text("text", out);
                let reply = self.reply();
                reply.set_reasoning(joined(reply.reasoning().cloned(), text));
            }
            "tool" => self.tool(part, out),
            "compaction" => self.session.turns.note("opencode.compaction", json::kept("null")),
            "snapshot" | "patch" | "file" | "agent" | "subtask" | "retry" => {}
            other => out.unknown(&format!("part {other}"), part),
        }
    }

    fn tool(&mut self, part: &Node<'_>, out: &mut Reading<'_>) {
        let state = part.within("state");
        let id = part.some_word("callID");
        let Some(name) = part.some_word("tool") else { return };
        self.reply().tool_calls.push(ToolCall::new(id.as_deref(), &name, state.arguments("input")));
        let mut result = Message::new(Role::Tool);
        result.is_error = match state.some_word("status").as_deref() {
            Some("completed") => Some(false),
            Some("error") => Some(true),
            // It was still running when the recording ended.
            _ => return,
        };
        result.tool_call_id = id.map(Into::into);
        result.content = state.content(["output", "error"], out);
        result.ts = out.instant(state.at(&["time", "end"]).as_ref(), "time.end");
        self.results.push(result);
    }

    fn reply(&mut self) -> &mut Message {
        let (model, ts) = (&self.model, self.ts);
        self.reply.get_or_insert_with(|| {
            let mut reply = Message::new(Role::Assistant);
            reply.set_model(model.as_deref().map(Into::into));
            reply.ts = ts;
            reply
        })
    }

    /// Adds the current reply and its results.
    fn flush(&mut self) {
        let messages = self.reply.take().into_iter().chain(self.results.drain(..));
        self.session.turns.push_all(messages);
    }

    /// Adds the last reply, with the message's token counts if its steps have none.
    fn close(mut self, info: &Node<'_>, out: &mut Reading<'_>) {
        let usage = usage(info, out).filter(|_| !self.counted);
        if self.reply.is_some() || usage.is_some() {
            let cost = info.dollars("cost", out).filter(|_| !self.counted);
            let reply = self.reply();
            reply.set_usage(usage);
            reply.set_cost(cost);
        }
        self.flush();
    }
}

/// When the last part of an unfinished message was written.
fn last_written(parts: &[Node<'_>], out: &mut Reading<'_>) -> Option<Instant> {
    let mut last = None;
    for part in parts {
        let end = part.at(&["time", "end"]).or_else(|| part.at(&["state", "time", "start"]));
        last = last.max(out.instant(end.as_ref(), "time.end"));
    }
    last
}

/// The token counts of a message or step. A failed message has zeros everywhere.
fn usage(object: &Node<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let tokens = object.counts("tokens", out).unwrap_or_default();
    let cache = tokens.counts("cache", out).unwrap_or_default();
    let input = out.tokens(tokens.get("input").as_ref(), "tokens.input");
    let output = out.tokens(tokens.get("output").as_ref(), "tokens.output");
    let read = out.tokens(cache.get("read").as_ref(), "tokens.cache.read");
    let written = out.tokens(cache.get("write").as_ref(), "tokens.cache.write");
    let beside = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
    let reasoning = out.tokens(tokens.get("reasoning").as_ref(), "tokens.reasoning");
    let total = out.tokens(tokens.get("total").as_ref(), "tokens.total");
    // Older versions counted reasoning as part of the output. If the total has room for it, it is counted separately.
    let sum = [input, output, Some(beside)].into_iter().flatten().fold(0, u64::saturating_add);
    let is_beside = match total {
        Some(total) => sum.saturating_add(reasoning.unwrap_or(0)) <= total,
        None => reasoning > output,
    };
    let thought = reasoning.filter(|_| is_beside).unwrap_or(0);
    let usage = Usage {
        input: input.map(|input| input.saturating_add(beside)),
        cache_read: read,
        cache_write: written,
        output: output.map(|output| output.saturating_add(thought)),
        reasoning,
    };
    Some(usage).filter(is_spent)
}
