//! `codex exec --json` event streams: a thread's items a line, tokens once a turn (FORMATS 9).
//!
//! The stream does not say where a model call ends. A reply is everything up to the first result that
//! follows: tools that were begun before it belong to the same reply. The counts of a turn are those of
//! the thread so far, so the turn's own are the difference, and stand on the turn's last reply.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Format, Layout, Raw, codex};
use crate::reader::openai;
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::transcript::{Draft, EndCause, Event, Grade, Header, Instant, Message, Note, Role, Text, ToolCall, Usage};

/// `codex exec --json` event streams.
pub(super) struct CodexExec;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow)]
    thread_id: Raw<'a>,
    #[serde(borrow)]
    session_id: Raw<'a>,
    #[serde(borrow)]
    item: Raw<'a>,
    #[serde(borrow)]
    usage: Raw<'a>,
    #[serde(borrow)]
    model: Raw<'a>,
    #[serde(borrow)]
    timestamp: Raw<'a>,
}

/// Every field of every item that is read.
#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow, rename = "item_type")]
    old_kind: Raw<'a>,
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    command: Raw<'a>,
    #[serde(borrow)]
    aggregated_output: Raw<'a>,
    #[serde(borrow)]
    exit_code: Raw<'a>,
    #[serde(borrow)]
    status: Raw<'a>,
    #[serde(borrow)]
    changes: Raw<'a>,
    #[serde(borrow)]
    server: Raw<'a>,
    #[serde(borrow)]
    tool: Raw<'a>,
    #[serde(borrow)]
    arguments: Raw<'a>,
    #[serde(borrow)]
    prompt: Raw<'a>,
    #[serde(borrow)]
    query: Raw<'a>,
    #[serde(borrow)]
    result: Raw<'a>,
    #[serde(borrow)]
    error: Raw<'a>,
}

impl Format for CodexExec {
    fn id(&self) -> &'static str {
        "codex-exec"
    }

    fn summary(&self) -> &'static str {
        "OpenAI Codex CLI event streams (`codex exec --json`)"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_event = |value: &Sketch| {
            let kind = value.text_of("type").unwrap_or_default();
            let item = value.get("item").is_some_and(|item| item.get("type").or(item.get("item_type")).is_some());
            match kind.as_str() {
                "thread.started" => value.has(&["thread_id"]),
                "item.started" | "item.updated" | "item.completed" => item,
                _ => false,
            }
        };
        let lists = probe.document().map(Sketch::elements).unwrap_or_default();
        let found = probe.values.iter().chain(lists).any(is_event);
        found.then(|| "events `thread.started` or `item.…` with an `item`".to_owned())
    }

    fn joins_lines(&self, _first: &Sketch) -> bool {
        true
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn counts_by_turn(&self) -> bool {
        true
    }

    fn prompted_by(&self) -> crate::transcript::PromptedBy {
        crate::transcript::PromptedBy::Program
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let mut threads = vec![Thread::default()];
        for text in lines(record) {
            let line = match serde_json::from_str::<Line<'_>>(text) {
                Ok(line) => line,
                Err(error) => {
                    out.error(record.broken(text, &error));
                    continue;
                }
            };
            let id = out.word(line.thread_id.or(line.session_id), "thread_id");
            let other = |thread: &Thread| thread.id.is_some() && id.is_some() && thread.id != id;
            if threads.last().is_some_and(other) {
                threads.push(Thread::default());
            }
            if let Some(thread) = threads.last_mut() {
                thread.id = thread.id.take().or(id);
                thread.add(text, &line, out);
            }
        }
        let alone = threads.len() == 1;
        for thread in threads {
            let stem = &record.file.stem;
            let run_id = match &thread.id {
                Some(id) if !alone => format!("{stem}/{id}"),
                _ => stem.clone(),
            };
            let meta = thread.id.map(|id| format!("{{\"thread_id\":{}}}", serde_json::Value::String(id)));
            out.run(Draft {
                header: Header {
                    run_id,
                    model: thread.model,
                    agent: Some("codex".to_owned()),
                    meta: meta.and_then(|meta| RawValue::from_string(meta).ok()),
                    ..Header::default()
                },
                events: thread.events,
                grade: Grade { end: thread.end, ..Grade::default() },
                warnings: Vec::new(),
            });
        }
    }
}

/// The events; an array of them is taken apart.
fn lines<'r>(record: &Record<'r>) -> Vec<&'r str> {
    match serde_json::from_str::<Vec<&RawValue>>(record.text) {
        Ok(elements) => elements.into_iter().map(RawValue::get).collect(),
        Err(_) => record.lines().collect(),
    }
}

/// A thread in the making.
#[derive(Default)]
struct Thread {
    id: Option<String>,
    model: Option<String>,
    events: Vec<Event>,
    /// Where the reply that no result has followed yet stands.
    open: Option<usize>,
    /// Where the last reply of the turn stands.
    last: Option<usize>,
    /// Items whose call was written when they began.
    begun: BTreeSet<String>,
    total: Usage,
    end: EndCause,
}

impl Thread {
    fn add(&mut self, text: &str, line: &Line<'_>, out: &mut Reading<'_>) {
        let ts = out.instant(line.timestamp, "timestamp");
        self.model = self.model.take().or_else(|| out.word(line.model, "model"));
        match &*out.string(line.kind, "type").unwrap_or_default() {
            "turn.started" => (self.open, self.last, self.end) = (None, None, EndCause::Unknown),
            "turn.completed" => {
                self.end = EndCause::SelfFinish;
                self.count(line.usage, ts, out);
            }
            "turn.failed" => {
                self.end = EndCause::Error;
                self.count(line.usage, ts, out);
            }
            // Lost connections are told this way too, and made up again.
            "error" => {
                self.end = EndCause::Error;
                self.note("codex.error", text);
            }
            "item.started" => self.item(line.item, ts, false, text, out),
            "item.completed" => self.item(line.item, ts, true, text, out),
            "thread.started" | "session.created" | "item.updated" => {}
            other => out.unknown(other),
        }
    }

    fn item(&mut self, raw: Raw<'_>, ts: Option<Instant>, done: bool, text: &str, out: &mut Reading<'_>) {
        let Some(item) = out.part::<Item<'_>>(raw, "item", "an object") else { return };
        let kind = out.string(item.kind.or(item.old_kind), "type").unwrap_or_default();
        let said = |out: &mut Reading<'_>| out.text(item.text, "text").filter(|text| !text.is_empty());
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
                self.reply(ts, |reply| reply.reasoning = joined(reply.reasoning.take(), said));
            }
            "todo_list" | "error" if done => self.note(&format!("codex.{kind}"), text),
            "agent_message" | "assistant_message" | "reasoning" | "todo_list" | "error" => {}
            "command_execution" | "file_change" | "mcp_tool_call" | "web_search" | "collab_tool_call" => {
                self.tool(&kind, &item, ts, done, out);
            }
            other => out.unknown(&format!("item {other}")),
        }
    }

    /// A tool that was begun, or is done: its call, unless that was written already, and its result.
    fn tool(&mut self, kind: &str, item: &Item<'_>, ts: Option<Instant>, done: bool, out: &mut Reading<'_>) {
        let id = out.word(item.id, "id");
        let known = id.as_ref().is_some_and(|id| self.begun.contains(id));
        if !known {
            let (name, arguments) = call(kind, item, out);
            self.reply(ts, |reply| reply.tool_calls.push(ToolCall::new(id.as_deref(), &name, arguments)));
        }
        if !done {
            self.begun.extend(id);
            return;
        }
        // Another thread's items may have the same numbers.
        if let Some(id) = &id {
            self.begun.remove(id);
        }
        let mut result = Message::new(Role::Tool);
        result.tool_call_id = id.map(Into::into);
        result.ts = ts;
        result.content = match (item.error, item.aggregated_output.or(item.result)) {
            (Some(error), _) => message_of(error).or_else(|| out.content(Some(error), "error")),
            (None, Some(output)) => out.content(Some(output), "output"),
            (None, None) => out.text(item.status, "status"),
        };
        let status = out.string(item.status, "status");
        let by_status = match status.as_deref() {
            Some("failed" | "declined") => Some(true),
            Some("completed") => Some(false),
            _ => None,
        };
        result.is_error = match out.number(item.exit_code, "exit_code") {
            Some(code) => Some(code != 0.0),
            None if item.error.is_some() => Some(true),
            None => by_status,
        };
        self.events.push(Event::Message(result));
        self.open = None;
    }

    /// The counts at the end of a turn, which are those of the thread so far.
    fn count(&mut self, raw: Raw<'_>, ts: Option<Instant>, out: &mut Reading<'_>) {
        let Some(counts) = out.part(raw, "usage", "an object") else { return };
        let total = codex::usage(counts, out);
        let before = std::mem::replace(&mut self.total, total);
        if total.is_empty() {
            return;
        }
        if self.last.is_none() {
            self.reply(ts, |_| {});
        }
        let Some(Event::Message(reply)) = self.last.and_then(|at| self.events.get_mut(at)) else { return };
        reply.usage = Some(since(total, before));
    }

    /// Changes the reply that is going on, or begins one.
    fn reply(&mut self, ts: Option<Instant>, change: impl FnOnce(&mut Message)) {
        let at = *self.open.get_or_insert_with(|| {
            let mut reply = Message::new(Role::Assistant);
            reply.model = self.model.as_deref().map(Into::into);
            self.events.push(Event::Message(reply));
            self.events.len() - 1
        });
        self.last = Some(at);
        if let Some(Event::Message(reply)) = self.events.get_mut(at) {
            reply.ts = ts.or(reply.ts);
            change(reply);
        }
    }

    fn note(&mut self, kind: &str, raw: &str) {
        if let Ok(body) = RawValue::from_string(raw.to_owned()) {
            self.events.push(Event::Note(Note { kind: kind.into(), body }));
        }
    }
}

/// What was asked of a tool: its name and its arguments.
fn call(kind: &str, item: &Item<'_>, out: &mut Reading<'_>) -> (String, Text) {
    let object = |key: &str, raw: Raw<'_>| match raw {
        Some(raw) => Text::plain(format!("{{\"{key}\":{}}}", raw.get())),
        None => Text::default(),
    };
    match kind {
        "command_execution" => ("shell".to_owned(), object("command", item.command)),
        "file_change" => ("file_change".to_owned(), object("changes", item.changes)),
        "web_search" => ("web_search".to_owned(), object("query", item.query)),
        "collab_tool_call" => {
            (out.word(item.tool, "tool").unwrap_or_else(|| kind.to_owned()), object("prompt", item.prompt))
        }
        _ => {
            let tool = out.word(item.tool, "tool").unwrap_or_else(|| kind.to_owned());
            let name = match out.word(item.server, "server") {
                Some(server) => format!("{server}__{tool}"),
                None => tool,
            };
            (name, openai::arguments(item.arguments))
        }
    }
}

/// The words of an error `{"message": …}`.
fn message_of(error: &RawValue) -> Option<Text> {
    #[derive(Deserialize)]
    struct Told {
        message: String,
    }
    serde_json::from_str::<Told>(error.get()).ok().map(|told| Text::plain(told.message))
}

fn joined(before: Option<Text>, more: Option<Text>) -> Option<Text> {
    match (before, more) {
        (Some(before), Some(more)) => Some(Text::plain(format!("{}\n{}", before.as_str(), more.as_str()))),
        (before, more) => more.or(before),
    }
}

/// What a turn added to the thread's total; all of it when the total began anew.
fn since(total: Usage, before: Usage) -> Usage {
    let fell = |now: Option<u64>, then: Option<u64>| now.zip(then).is_some_and(|(now, then)| now < then);
    if fell(total.input, before.input) || fell(total.output, before.output) {
        return total;
    }
    codex::difference(total, before)
}
