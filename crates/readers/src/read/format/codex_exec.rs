//! `codex exec --json` event streams: a thread's items one per line, with tokens once per turn.
//!
//! The stream does not mark the ends of model calls. A reply is everything up to the first result after it; tools
//! started before that result belong to the same reply. A turn's counts are running totals of the thread, so the
//! turn's own tokens are the difference and are put on its last reply.

use std::collections::HashSet;

use serde_json::Value;

use super::{Format, codex, joined, object_of, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::usage;
use crate::transcript::{
    Draft, EndCause, Event, Grade, Header, Instant, Message, PromptedBy, Role, Text, ToolCall, Usage,
};
use crate::value::json;

/// `codex exec --json` event streams.
pub(super) static FORMAT: Format = Format {
    id: "codex-exec",
    summary: "OpenAI Codex CLI event streams (`codex exec --json`)",
    recognise,
    joins_lines: |_| true,
    counts_by_turn: true,
    prompted_by: PromptedBy::Program,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_event = |value: &Sketch| {
        let kind = value.text_of("type").unwrap_or_default();
        match &*kind {
            "thread.started" => value.has(&["thread_id"]),
            "item.started" | "item.updated" | "item.completed" => {
                value.has_within("item", &["type"]) || value.has_within("item", &["item_type"])
            }
            _ => false,
        }
    };
    let lists = probe.document().map(Sketch::elements).unwrap_or_default();
    let found = probe.values.iter().chain(lists).any(is_event);
    reason_if(found, "events `thread.started` or `item.…` with an `item`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut threads = vec![Thread::default()];
    // The events, or an array of them.
    let lines = json::elements(record.text).unwrap_or_else(|| record.lines().collect());
    for line in lines {
        let Some(line) = Node::line(line, out) else { continue };
        let id = line.word(["thread_id", "session_id"], out);
        if let Some(thread) = threads.last()
            && thread.id.is_some()
            && id.is_some()
            && thread.id != id
        {
            threads.push(Thread::default());
        }
        if let Some(thread) = threads.last_mut() {
            thread.id = thread.id.take().or(id);
            thread.add(&line, out);
        }
    }
    let alone = threads.len() == 1;
    for thread in threads {
        let stem = &record.file.stem;
        let run_id = match &thread.id {
            Some(id) if !alone => format!("{stem}/{id}"),
            _ => stem.clone(),
        };
        let header = Header {
            run_id,
            model: thread.model,
            agent: Some("codex".to_owned()),
            meta: object_of([("thread_id", thread.id.map(Value::String))]),
            ..Header::default()
        };
        let grade = Grade { end: thread.end, ..Grade::default() };
        out.run(Draft { header, events: thread.events, grade, warnings: Vec::new() });
    }
}

/// A thread being read.
#[derive(Default)]
struct Thread {
    id: Option<String>,
    model: Option<String>,
    events: Vec<Event>,
    /// Index of the reply that no result has followed yet.
    open: Option<usize>,
    /// Index of the turn's last reply.
    last: Option<usize>,
    /// Ids of items whose call was added when they started.
    begun: HashSet<String>,
    total: Usage,
    end: EndCause,
}

impl Thread {
    fn add(&mut self, line: &Node<'_>, out: &mut Reading<'_>) {
        let ts = line.instant("timestamp", out);
        if self.model.is_none() {
            self.model = line.word("model", out);
        }
        match &*line.string("type", out).unwrap_or_default() {
            "turn.started" => (self.open, self.last, self.end) = (None, None, EndCause::Unknown),
            "turn.completed" => {
                self.end = EndCause::SelfFinish;
                self.count(line, ts, out);
            }
            "turn.failed" => {
                self.end = EndCause::Error;
                self.count(line, ts, out);
            }
            // Lost connections that were restored are reported this way too.
            "error" => {
                self.end = EndCause::Error;
                self.events.extend(line.note("codex.error"));
            }
            "item.started" => self.item(line, ts, false, out),
            "item.completed" => self.item(line, ts, true, out),
            "thread.started" | "session.created" | "item.updated" => {}
            other => out.unknown(other, line),
        }
    }

    fn item(&mut self, line: &Node<'_>, ts: Option<Instant>, done: bool, out: &mut Reading<'_>) {
        let Some(item) = line.object("item", out) else { return };
        let kind = item.string(["type", "item_type"], out).unwrap_or_default();
        let said = |out: &mut Reading<'_>| item.text("text", out).filter(|text| !text.is_empty());
        if !matches!(&*kind, "error" | "todo_list") {
            self.end = EndCause::Unknown;
        }
        match &*kind {
            "agent_message" | "assistant_message" if done => {
                let said = said(out);
                self.reply(ts, |reply| reply.content = joined(reply.content.take(), said));
            }
            "reasoning" if done => {
                let said = said(out);
                self.reply(ts, |reply| reply.set_reasoning(joined(reply.reasoning().cloned(), said)));
            }
            "todo_list" | "error" if done => self.events.extend(line.note(format!("codex.{kind}"))),
            "agent_message" | "assistant_message" | "reasoning" | "todo_list" | "error" => {}
            "command_execution" | "file_change" | "mcp_tool_call" | "web_search" | "collab_tool_call" => {
                self.tool(&kind, &item, ts, done, out);
            }
            other => out.unknown(&format!("item {other}"), &item),
        }
    }

    /// A tool that was started or finished: adds its call unless it was already added, and its result.
    fn tool(&mut self, kind: &str, item: &Node<'_>, ts: Option<Instant>, done: bool, out: &mut Reading<'_>) {
        let id = item.word("id", out);
        let known = id.as_ref().is_some_and(|id| self.begun.contains(id));
        if !known {
            let (name, arguments) = call(kind, item, out);
            self.reply(ts, |reply| reply.tool_calls.push(ToolCall::new(id.as_deref(), &name, arguments)));
        }
        if !done {
            self.begun.extend(id);
            return;
        }
        // Items of another thread may have the same ids.
        if let Some(id) = &id {
            self.begun.remove(id);
        }
        let mut result = Message::new(Role::Tool);
        result.tool_call_id = id.map(Into::into);
        result.ts = ts;
        let error = item.get("error");
        result.content = match &error {
            // The text of an error `{"message": …}`, or else its JSON.
            Some(error) => error.some_text("message").or_else(|| item.content("error", out)),
            None => item.content(["aggregated_output", "result"], out).or_else(|| item.text("status", out)),
        };
        let status = item.string("status", out);
        let by_status = match status.as_deref() {
            Some("failed" | "declined") => Some(true),
            Some("completed") => Some(false),
            _ => None,
        };
        result.is_error = match item.number("exit_code", out) {
            Some(code) => Some(code != 0.0),
            None if error.is_some() => Some(true),
            None => by_status,
        };
        self.events.push(Event::Message(result));
        self.open = None;
    }

    /// Reads the counts at the end of a turn, which are running totals of the thread.
    fn count(&mut self, line: &Node<'_>, ts: Option<Instant>, out: &mut Reading<'_>) {
        let Some(counts) = line.counts("usage", out) else { return };
        let total = codex::usage(&counts, out);
        let before = std::mem::replace(&mut self.total, total);
        if total.is_empty() {
            return;
        }
        if self.last.is_none() {
            self.reply(ts, |_| {});
        }
        let Some(last) = self.last else { return };
        let Some(Event::Message(reply)) = self.events.get_mut(last) else { return };
        reply.set_usage(Some(since(total, before)));
    }

    /// Changes the current reply, or creates one.
    fn reply(&mut self, ts: Option<Instant>, change: impl FnOnce(&mut Message)) {
        let Self { open, events, model, .. } = self;
        self.last = Some(codex::change_reply(open, events, model.as_deref(), ts, change));
    }
}

/// The name and arguments of a tool call.
fn call(kind: &str, item: &Node<'_>, out: &mut Reading<'_>) -> (String, Text) {
    let object = |key: &str| match item.get(key) {
        Some(value) => Text::plain(format!("{{\"{key}\":{}}}", value.written())),
        None => Text::default(),
    };
    match kind {
        "command_execution" => ("shell".to_owned(), object("command")),
        "file_change" => ("file_change".to_owned(), object("changes")),
        "web_search" => ("web_search".to_owned(), object("query")),
        "collab_tool_call" => (item.word("tool", out).unwrap_or_else(|| kind.to_owned()), object("prompt")),
        _ => {
            let tool = item.word("tool", out).unwrap_or_else(|| kind.to_owned());
            let name = match item.word("server", out) {
                Some(server) => format!("{server}__{tool}"),
                None => tool,
            };
            (name, item.arguments("arguments"))
        }
    }
}

/// What a turn added to the thread's total; the whole total if it was restarted.
fn since(total: Usage, before: Usage) -> Usage {
    let fell = |now: Option<u64>, then: Option<u64>| matches!((now, then), (Some(now), Some(then)) if now < then);
    if fell(total.input, before.input) || fell(total.output, before.output) {
        return total;
    }
    usage::difference(total, before)
}
