//! awaken's trace store: one event per line, for model calls, tools and surrounding activity.
//!
//! A failed model call is a step with finish reason `error`. Runs started by another run in the file are its
//! sub-agents.

use std::collections::HashMap;

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::by_name::ByName;
use crate::record::node::Node;
use crate::record::outcomes::{by_label_or_score, native_grade};
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::transcript::{Draft, Event, Lane, Message, Role, ToolCall, Usage};
use crate::value::json;

/// awaken traces.
pub(super) static FORMAT: Format = Format {
    id: "awaken",
    summary: "awaken trace store (.ndjson): model calls, tools, delegations",
    recognise,
    joins_lines: |_| true,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
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
    reason_if(probe.any(is_event), "events of type `inference` or `tool` of a run")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut rows = Vec::new();
    let mut parents: HashMap<String, Option<String>> = HashMap::new();
    for value in Node::values(record, out) {
        let Some(event) = value.into_object("event", out) else { continue };
        let row = AwakenEvent::from_fields(event, &record.file.stem);
        let parent = parents.entry(row.run.clone()).or_default();
        if parent.is_none() {
            parent.clone_from(&row.parent);
        }
        rows.push(row);
    }
    let mut runs: ByName<AwakenRun> = ByName::default();
    for row in &rows {
        let root = root_of(&row.run, &parents);
        let lane = if row.run == root { Lane::Main } else { Lane::Side(row.run.as_str().into()) };
        runs.named(root).take_in(row, lane, record.options.outcome_key.as_deref(), out);
    }
    for (id, run) in runs.all {
        out.run(run.into_draft(id));
    }
}

/// The top-level run in the file that `run` descends from.
fn root_of(run: &str, parents: &HashMap<String, Option<String>>) -> String {
    let mut root = run;
    // The limit ends a cycle of parents.
    for _ in 0..parents.len() {
        match parents.get(root) {
            Some(Some(parent)) if parent != run && parents.contains_key(parent) => root = parent,
            _ => break,
        }
    }
    root.to_owned()
}

/// One event and the run it belongs to; the context fields are beside the event's fields or in an object of their own.
struct AwakenEvent<'a> {
    fields: Node<'a>,
    run: String,
    parent: Option<String>,
    agent: Option<String>,
}

impl<'a> AwakenEvent<'a> {
    fn from_fields(fields: Node<'a>, stem: &str) -> Self {
        let inner = fields.within("context");
        let word =
            |name: &str| inner.some_word(name).or_else(|| fields.some_word(name)).filter(|word| !word.is_empty());
        let delegates = fields.is("type", "delegation");
        Self {
            run: word("run_id").unwrap_or_else(|| stem.to_owned()),
            parent: word("parent_run_id").filter(|_| !delegates),
            agent: word("agent_id"),
            fields,
        }
    }
}

/// A step being read: a tool's event may come after the next model call's.
struct AwakenStep {
    index: Option<u64>,
    lane: Lane,
    reply: Option<Message>,
    after: Vec<Event>,
}

/// A run being read.
#[derive(Default)]
struct AwakenRun {
    draft: Draft,
    pieces: Vec<AwakenStep>,
}

impl AwakenRun {
    fn take_in(&mut self, row: &AwakenEvent<'_>, lane: Lane, key: Option<&str>, out: &mut Reading<'_>) {
        let fields = &row.fields;
        let Some(kind) = fields.string("type", out) else {
            if !fields.has("type") {
                out.error_at(fields.place(), "an event without a `type`", "the event is left out");
            }
            return;
        };
        let header = &mut self.draft.header;
        if lane == Lane::Main && header.agent.is_none() {
            header.agent.clone_from(&row.agent);
        }
        match &*kind {
            "inference" => {
                let started = fields.instant("started_at_ms", out);
                header.started_at = header.started_at.or(started);
                let reply = reply(fields, lane.clone(), out);
                if header.model.is_none() {
                    header.model = reply.model().map(str::to_owned);
                }
                let index = fields.count("step_index", out);
                self.pieces.push(AwakenStep { index, lane, reply: Some(reply), after: Vec::new() });
            }
            "tool" => self.tool(row, lane, out),
            "evaluation_result" => self.grade(fields, key, out),
            "suspension" | "handoff" | "delegation" | "background_task" => {
                self.last_piece(lane).after.extend(fields.note(format!("awaken.{kind}")));
            }
            other => out.unknown(other, fields),
        }
    }

    fn last_piece(&mut self, lane: Lane) -> &mut AwakenStep {
        if self.pieces.is_empty() {
            self.pieces.push(AwakenStep { index: None, lane, reply: None, after: Vec::new() });
        }
        let last = self.pieces.len() - 1;
        &mut self.pieces[last]
    }

    /// Adds a tool's call and result to the model call of the same step, or else to the last one.
    fn tool(&mut self, row: &AwakenEvent<'_>, lane: Lane, out: &mut Reading<'_>) {
        let fields = &row.fields;
        let index = fields.count("step_index", out);
        let Some(name) = fields.string("name", out) else {
            return out.error_at(fields.place(), "a tool without a name", "the event is left out");
        };
        let of_lane = |piece: &&mut AwakenStep| piece.lane == lane && piece.reply.is_some();
        let exact = self.pieces.iter().rposition(|p| p.lane == lane && p.reply.is_some() && p.index == index);
        let piece = match exact.filter(|_| index.is_some()) {
            Some(at) => self.pieces.get_mut(at),
            None => self.pieces.iter_mut().rev().find(of_lane),
        };
        let Some(piece) = piece else {
            return out.error_at(fields.place(), "a tool before any model call", "the event is left out");
        };
        let id = fields.some_word("call_id");
        let arguments = fields.arguments("call_arguments");
        if let Some(reply) = &mut piece.reply {
            reply.tool_calls.push(ToolCall::new(id.as_deref(), &name, arguments));
        }
        let mut result = Message::new(Role::Tool);
        result.content = fields.get("call_result").map(|said| said.as_text());
        result.tool_call_id = id.map(Into::into);
        result.name = Some(name.as_ref().into());
        result.is_error = Some(fields.has("error_type"));
        result.ts = fields.instant("ended_at_ms", out);
        result.lane = lane;
        piece.after.push(Event::Message(result));
    }

    /// Reads an evaluation, if it is the one that the user named.
    fn grade(&mut self, fields: &Node<'_>, key: Option<&str>, out: &mut Reading<'_>) {
        if key.is_none() || fields.some_word("name").as_deref() != key {
            return;
        }
        let score = fields.number("score_value", out);
        let graded = by_label_or_score(fields.some_word("score_label").as_deref(), score);
        self.draft.grade = native_grade("evaluation_result", graded, score);
    }

    fn into_draft(mut self, run_id: String) -> Draft {
        self.draft.header.run_id = run_id;
        for piece in self.pieces {
            self.draft.events.extend(piece.reply.map(Event::Message));
            self.draft.events.extend(piece.after);
        }
        self.draft
    }
}

/// A model call.
fn reply(fields: &Node<'_>, lane: Lane, out: &mut Reading<'_>) -> Message {
    let mut message = Message::new(Role::Assistant);
    message.lane = lane;
    message.content = fields.content(["content", "output_text", "response_text", "output"], out);
    message.set_model(fields.some_word(["response_model", "model"]).map(Into::into));
    message.ts = fields.instant("ended_at_ms", out);
    message.set_usage(usage(fields, out));
    let reasons = fields.list("finish_reasons", out);
    let failed = fields.has(["error_type", "error_class"]);
    message.set_finish_reason(match reasons.first().and_then(json::word) {
        _ if failed => Some("error".into()),
        reason => reason.map(Into::into),
    });
    message
}

/// The token counts of one call: cached tokens are part of the input, thinking is part of the output.
fn usage(fields: &Node<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let mut count = |name: &str| fields.tokens(name, out);
    let usage = Usage {
        input: count("input_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
        output: count("output_tokens"),
        reasoning: count("thinking_tokens"),
    };
    tokens::recorded(usage)
}
