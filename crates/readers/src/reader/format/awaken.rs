//! awaken's trace store: one event a line, of model calls, tools and what happens around them.
//!
//! A failed model call is a step whose finish reason is `error`. Runs that another run of the file
//! started are its sub-agents.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::{Format, Layout};
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::rows::{self, Object};
use crate::reader::{json, labels, openai};
use crate::transcript::{
    Draft, Event, Grade, Header, Lane, Message, Note, Outcome, OutcomeSource, Role, Text, ToolCall, Usage,
};

/// awaken traces.
pub(super) struct Awaken;

impl Format for Awaken {
    fn id(&self) -> &'static str {
        "awaken"
    }

    fn summary(&self) -> &'static str {
        "awaken trace store (.ndjson): model calls, tools, delegations"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_event = |value: &Sketch| {
            let kind = value.text_of("type");
            let inner = value.get("context").unwrap_or(value);
            let names_run = inner.get("run_id").is_some() || inner.get("thread_id").is_some();
            match kind.as_deref() {
                Some("inference") => value.has(&["model"]) && (names_run || value.has(&["step_index"])),
                Some("tool") => value.has(&["call_id", "name"]) && (names_run || value.has(&["step_index"])),
                Some("delegation") => value.has(&["target_agent_id"]),
                _ => false,
            }
        };
        probe.values.iter().any(is_event).then(|| "events of type `inference` or `tool` of a run".to_owned())
    }

    fn joins_lines(&self, _first: &Sketch) -> bool {
        true
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let mut rows = Vec::new();
        let mut parents: BTreeMap<String, Option<String>> = BTreeMap::new();
        for value in rows::values(record, out) {
            let Some(row) = Object::of(value) else {
                out.wrong(value, "event", "an object");
                continue;
            };
            let row = Row::of(value, row, &record.file.stem);
            let parent = parents.entry(row.run.clone()).or_default();
            *parent = parent.take().or_else(|| row.parent.clone());
            rows.push(row);
        }
        let mut runs: Vec<Course> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for row in &rows {
            let root = root_of(&row.run, &parents);
            let at = *places.entry(root.clone()).or_insert_with(|| {
                runs.push(Course::named(root.clone()));
                runs.len() - 1
            });
            let lane = if row.run == root { Lane::Main } else { Lane::Side(row.run.as_str().into()) };
            if let Some(run) = runs.get_mut(at) {
                run.take_in(row, lane, record.options.outcome_key.as_deref(), out);
            }
        }
        for run in runs {
            out.run(run.into_draft());
        }
    }
}

/// The run of the file that in the end started `run`.
fn root_of(run: &str, parents: &BTreeMap<String, Option<String>>) -> String {
    let mut root = run;
    // A circle of parents ends after as many rounds as there are runs.
    for _ in 0..parents.len() {
        match parents.get(root).and_then(Option::as_deref).filter(|parent| parents.contains_key(*parent)) {
            Some(parent) if parent != run => root = parent,
            _ => break,
        }
    }
    root.to_owned()
}

/// One event and the run it belongs to; the context stands beside the fields or in an object of its own.
struct Row<'a> {
    raw: &'a RawValue,
    fields: Object<'a>,
    run: String,
    parent: Option<String>,
    agent: Option<String>,
}

impl<'a> Row<'a> {
    fn of(raw: &'a RawValue, fields: Object<'a>, stem: &str) -> Self {
        let inner = fields.within(&["context"]);
        let word = |name: &str| inner.word(&[name]).or_else(|| fields.word(&[name])).filter(|word| !word.is_empty());
        let delegates = fields.word(&["type"]).as_deref() == Some("delegation");
        Self {
            raw,
            run: word("run_id").unwrap_or_else(|| stem.to_owned()),
            parent: word("parent_run_id").filter(|_| !delegates),
            agent: word("agent_id"),
            fields,
        }
    }
}

/// A step while its events are read: a tool's event may come after the next model call's.
struct Piece {
    index: Option<u64>,
    lane: Lane,
    reply: Option<Message>,
    after: Vec<Event>,
}

/// A run while its events are read.
struct Course {
    draft: Draft,
    pieces: Vec<Piece>,
}

impl Course {
    fn named(id: String) -> Self {
        let header = Header { run_id: id, ..Header::default() };
        Self { draft: Draft { header, ..Draft::default() }, pieces: Vec::new() }
    }

    fn take_in(&mut self, row: &Row<'_>, lane: Lane, key: Option<&str>, out: &mut Reading<'_>) {
        let fields = &row.fields;
        let Some(kind) = out.string(fields.get(&["type"]), "type") else {
            if fields.get(&["type"]).is_none() {
                out.error_at(row.raw.get(), "an event without a `type`", "the event is left out");
            }
            return;
        };
        let header = &mut self.draft.header;
        if lane == Lane::Main {
            header.agent = header.agent.take().or_else(|| row.agent.clone());
        }
        match &*kind {
            "inference" => {
                let started = out.instant(fields.get(&["started_at_ms"]), "started_at_ms");
                header.started_at = header.started_at.or(started);
                let reply = reply(fields, lane.clone(), out);
                header.model = header.model.take().or_else(|| reply.model.as_deref().map(str::to_owned));
                let index = out.count(fields.get(&["step_index"]), "step_index");
                self.pieces.push(Piece { index, lane, reply: Some(reply), after: Vec::new() });
            }
            "tool" => self.tool(row, lane, out),
            "evaluation_result" => self.grade(fields, key, out),
            "suspension" | "handoff" | "delegation" | "background_task" => {
                let note = Note { kind: format!("awaken.{kind}").into(), body: row.raw.to_owned() };
                self.last_piece(lane).after.push(Event::Note(note));
            }
            other => out.unknown(other),
        }
    }

    fn last_piece(&mut self, lane: Lane) -> &mut Piece {
        if self.pieces.is_empty() {
            self.pieces.push(Piece { index: None, lane, reply: None, after: Vec::new() });
        }
        let last = self.pieces.len() - 1;
        &mut self.pieces[last]
    }

    /// Adds a tool's call and result to the model call of the same step, else to the last one.
    fn tool(&mut self, row: &Row<'_>, lane: Lane, out: &mut Reading<'_>) {
        let fields = &row.fields;
        let index = out.count(fields.get(&["step_index"]), "step_index");
        let Some(name) = out.string(fields.get(&["name"]), "name") else {
            return out.error_at(row.raw.get(), "a tool without a name", "the event is left out");
        };
        let of_lane = |piece: &&mut Piece| piece.lane == lane && piece.reply.is_some();
        let exact = self.pieces.iter().rposition(|p| p.lane == lane && p.reply.is_some() && p.index == index);
        let piece = match exact.filter(|_| index.is_some()) {
            Some(at) => self.pieces.get_mut(at),
            None => self.pieces.iter_mut().rev().find(of_lane),
        };
        let Some(piece) = piece else {
            return out.error_at(row.raw.get(), "a tool before any model call", "the event is left out");
        };
        let id = fields.word(&["call_id"]);
        let arguments = openai::arguments(fields.get(&["call_arguments"]));
        if let Some(reply) = &mut piece.reply {
            reply.tool_calls.push(ToolCall::new(id.as_deref(), &name, arguments));
        }
        let mut result = Message::new(Role::Tool);
        let as_text = |raw: &RawValue| json::text(raw).unwrap_or_else(|| Text::plain(raw.get()));
        result.content = fields.get(&["call_result"]).map(as_text);
        result.tool_call_id = id.map(Into::into);
        result.name = Some(name.as_ref().into());
        result.is_error = Some(fields.get(&["error_type"]).is_some());
        result.ts = out.instant(fields.get(&["ended_at_ms"]), "ended_at_ms");
        result.lane = lane;
        piece.after.push(Event::Message(result));
    }

    /// An evaluation, if it is the one the user named.
    fn grade(&mut self, fields: &Object<'_>, key: Option<&str>, out: &mut Reading<'_>) {
        if key.is_none() || fields.word(&["name"]).as_deref() != key {
            return;
        }
        let score = out.number(fields.get(&["score_value"]), "score_value");
        let label = fields.word(&["score_label"]).and_then(|label| labels::grade_word(&label));
        let graded = label.or_else(|| score.map(|score| score >= 1.0));
        let source = graded.map_or(OutcomeSource::None, |_| OutcomeSource::Native("evaluation_result"));
        self.draft.grade = Grade { outcome: Outcome::from_grade(graded), score, source, ..Grade::default() };
    }

    fn into_draft(mut self) -> Draft {
        for piece in self.pieces {
            self.draft.events.extend(piece.reply.map(Event::Message));
            self.draft.events.extend(piece.after);
        }
        self.draft
    }
}

/// A model call.
fn reply(fields: &Object<'_>, lane: Lane, out: &mut Reading<'_>) -> Message {
    let mut message = Message::new(Role::Assistant);
    message.lane = lane;
    message.content = out.content(fields.get(&["content", "output_text", "response_text", "output"]), "content");
    message.model = fields.word(&["response_model", "model"]).map(Into::into);
    message.ts = out.instant(fields.get(&["ended_at_ms"]), "ended_at_ms");
    message.usage = usage(fields, out);
    let reasons = out.list(fields.get(&["finish_reasons"]), "finish_reasons");
    let failed = fields.get(&["error_type", "error_class"]).is_some();
    message.finish_reason = match reasons.first().and_then(json::word) {
        _ if failed => Some("error".into()),
        reason => reason.map(Into::into),
    };
    message
}

/// Tokens of one call: cached ones are part of the input, thinking is part of the output.
fn usage(fields: &Object<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let mut count = |name: &str| out.count(fields.get(&[name]), name);
    let usage = Usage {
        input: count("input_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
        output: count("output_tokens"),
        reasoning: count("thinking_tokens"),
    };
    (!usage.is_empty()).then_some(usage)
}
