//! `whenstop trace v1`, our own format: one JSON object per line, with the lines of a run together.

mod write;

use serde_json::value::RawValue;

use super::{Format, RecordLayout, object_of, reason_if};
use crate::json_text::{Inner, List};
use crate::open::probe::{Probe, Sketch};
use crate::read::openai;
use crate::record::node::Node;
use crate::record::outcomes::{by_flag_or_word, native_grade};
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::transcript::{
    Checkpoint, Draft, EndCause, Event, Grade, Header, Json, JudgeReply, Lane, Message, Metrics, Note, Outcome,
    Requests, Totals, Usage,
};
use crate::value::json::{self, DeclaredFields as _, fields};
pub use write::{write, write_event};

/// `whenstop trace v1`.
pub(super) static FORMAT: Format = Format {
    id: "trace",
    summary: "whenstop trace v1: one line a message, the lines of a run together",
    recognise,
    joins_lines: |_| true,
    layout: |_| RecordLayout::Groups(begins_run),
    ..Format::reading(read)
};

/// Memory is reserved for no more events than there could be of lines this long, in bytes: lines may be empty.
const SHORT_LINE: usize = 32;

/// Types of lines that only this format has.
const OWN_TYPES: &[&str] = &["run", "message", "metrics", "judge", "checkpoint", "outcome", "note"];

fields! {
    /// Every field that any line may have, unparsed. One flat struct, because tagged enums buffer the whole line.
    struct TraceLine<'a> {
        type_ = "type",
        role = "role",
        content = "content",
        tool_calls: List<'a, Inner<'a, openai::WireCall<'a>>> = "tool_calls",
        tool_call_id = "tool_call_id",
        name = "name",
        is_error = "is_error",
        usage: Inner<'a, TraceUsage<'a>> = "usage",
        cost_usd = "cost_usd",
        ts = "ts",
        model = "model",
        lane = "lane",
        origin = "origin",
        reasoning = "reasoning",
        finish_reason = "finish_reason",
        invalid_call = "invalid_call",
        native = "native",
        page = "page",
        plan_update = "plan_update",
        target = "target",
        run_id = "run_id",
        parent = "parent",
        task_id = "task_id",
        trial = "trial",
        suite = "suite",
        agent = "agent",
        started_at = "started_at",
        ended_at = "ended_at",
        meta = "meta",
        experiment = "experiment",
        status = "status",
        values = "values",
        plan = "plan",
        reply = "reply",
        error = "error",
        success = "success",
        score = "score",
        threshold = "threshold",
        end = "end",
        secured_step = "secured_step",
        kind = "kind",
        body = "body",
        redacted = "redacted",
        requests = "requests",
        prompted_by = "prompted_by",
        delivered = "delivered",
    }
}

fields! {
    /// The type of a line.
    struct LineType<'a> {
        kind = "type",
    }
}

fields! {
    /// The token counts of a call.
    struct TraceUsage<'a> {
        input = "input",
        cache_read = "cache_read",
        cache_write = "cache_write",
        output = "output",
        reasoning = "reasoning",
    }
}

fn recognise(probe: &Probe) -> Option<String> {
    let is_run = |value: &Sketch| value.is("type", "run") && value.has(&["run_id"]) && !value.has(&["run_type"]);
    reason_if(probe.any(is_run), "a line of type `run` with a `run_id`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut draft: Option<Draft> = None;
    let mut line = TraceLine::default();
    // A record is usually one run, and most of its lines are events. Memory is reserved only for the first run, because
    // a document may hold thousands.
    let mut usual = about_lines(record.text).min(record.text.len() / SHORT_LINE);
    for text in record.lines() {
        if let Err(error) = line.read(text) {
            out.broken_line(text, &error);
            continue;
        }
        // Nearly every line is one.
        if let (Some(r#""message""#), Some(draft)) = (line.type_, &mut draft) {
            add_message(draft, &line, text, out);
            continue;
        }
        let Some(kind) = out.string(line.type_, "type") else {
            if line.type_.is_none() {
                out.error_at(text, "a line without a `type`", "the line is left out; every line says what it is");
            }
            continue;
        };
        if kind == "run" {
            out.drafts.extend(draft.take());
            let mut begun = begin(&line, text, record, out);
            begun.events.reserve_exact(std::mem::take(&mut usual));
            draft = Some(begun);
            continue;
        }
        if !OWN_TYPES.contains(&&*kind) {
            out.unknown(&kind, &Node::from_written(text));
            continue;
        }
        let Some(draft) = &mut draft else {
            out.error_at(
                text,
                format!("a line of type `{kind}` before any line of type `run`"),
                "the line is left out",
            );
            continue;
        };
        add(draft, &kind, &line, text, out);
    }
    out.drafts.extend(draft);
}

/// About how many lines there are in `text`, going by its beginning.
fn about_lines(text: &str) -> usize {
    const SAMPLE: usize = 2048;
    let sample = &text.as_bytes()[..text.len().min(SAMPLE)];
    let in_sample = memchr::memchr_iter(b'\n', sample).count() + 1;
    in_sample * text.len() / sample.len().max(1)
}

/// Whether a line begins a run.
fn begins_run(line: &[u8]) -> bool {
    // Nearly every writer puts the type first.
    if let Some(rest) = line.strip_prefix(b"{\"type\":\"") {
        return rest.starts_with(b"run\"");
    }
    if memchr::memmem::find(line, b"\"run\"").is_none() {
        return false;
    }
    let Ok(line) = std::str::from_utf8(line) else { return false };
    match LineType::from_text(line) {
        Ok(line) => line.kind == Some("\"run\""),
        Err(_) => false,
    }
}

fn begin(line: &TraceLine<'_>, text: &str, record: &Record<'_>, out: &mut Reading<'_>) -> Draft {
    let run_id = out.word(line.run_id, "run_id").unwrap_or_else(|| {
        let id = format!("{}/{}", record.file.stem, record.locate(text).line);
        out.error_at(text, "a run without a `run_id`", format!("it is called `{id}`, after its file and line"));
        id
    });
    let header = Header {
        run_id,
        parent: out.word(line.parent, "parent"),
        task_id: out.word(line.task_id, "task_id"),
        trial: out.word(line.trial, "trial"),
        suite: out.word(line.suite, "suite"),
        model: out.word(line.model, "model"),
        agent: out.word(line.agent, "agent"),
        started_at: out.instant(line.started_at, "started_at"),
        ended_at: out.instant(line.ended_at, "ended_at"),
        totals: totals(line, out),
        meta: line.meta.and_then(json::kept),
        prompted_by: out.string(line.prompted_by, "prompted_by").unwrap_or_default().parse().unwrap_or_default(),
        delivered: out.part(line.delivered, "delivered", "an array of strings"),
        redacted: out.flag(line.redacted, "redacted").unwrap_or(false),
        requests: requests(line.requests, out),
        ..Header::default()
    };
    Draft { header, ..Draft::default() }
}

fn requests(raw: Option<&str>, out: &mut Reading<'_>) -> Requests {
    let (Some(raw), Some(name)) = (raw, out.string(raw, "requests")) else { return Requests::Recorded };
    name.parse().unwrap_or_else(|()| {
        out.wrong(raw, "requests", "recorded, only_runs, no_calls or only_sums");
        Requests::Recorded
    })
}

/// The totals of the whole run, if its calls do not have them.
fn totals(line: &TraceLine<'_>, out: &mut Reading<'_>) -> Option<Totals> {
    let usage = usage(line.usage.as_ref(), out).unwrap_or_default();
    let cost = out.dollars(line.cost_usd, "cost_usd");
    if usage.is_empty() && cost.is_none() { None } else { Some(Totals { usage, cost }) }
}

/// Adds the content of a line to its run.
fn add(draft: &mut Draft, kind: &str, line: &TraceLine<'_>, text: &str, out: &mut Reading<'_>) {
    match kind {
        "message" => add_message(draft, line, text, out),
        "metrics" => draft.events.push(Event::Metrics(metrics(line, out))),
        "judge" => draft.events.push(Event::Judge(JudgeReply {
            reply: out.content(line.reply, "reply"),
            error: out.string(line.error, "error").map(Into::into),
            usage: usage(line.usage.as_ref(), out),
        })),
        "checkpoint" => {
            let score = out.number(line.score, "score");
            match graded(line, score, out) {
                Some(success) => draft.events.push(Event::Checkpoint(Checkpoint { success, score })),
                None => out.error_at(text, "a checkpoint without `success` or `score`", "the line is left out"),
            }
        }
        "outcome" => {
            let (before, now) = (draft.grade.outcome, outcome(line, out));
            let contradict = before != now.outcome && before != Outcome::Unknown && now.outcome != Outcome::Unknown;
            draft.grade = now;
            if contradict {
                draft.grade.outcome = Outcome::Unknown;
                out.error_at(text, "a second outcome, which contradicts the first", "neither counts: keep one");
            }
        }
        _ => {
            let kind = out.string(line.kind, "kind");
            let body = match line.body {
                Some(body) => json::kept(body),
                None => null_body(text),
            };
            let (Some(kind), Some(body)) = (kind, body) else {
                return out.error_at(text, "a note without `kind` or `body`", "the line is left out");
            };
            draft.events.push(Event::Note(Note { kind: kind.into(), body }));
        }
    }
}

/// A body that is explicitly null, which a recorder may well write. Null fields otherwise count as absent, so the line
/// is parsed again to tell the two apart.
fn null_body(line: &str) -> Option<Json> {
    let mut found = false;
    json::parsed_members(line, |key, value| found |= key == "body" && value == "null").ok()?;
    if found { Some(RawValue::NULL.to_owned()) } else { None }
}

fn add_message(draft: &mut Draft, line: &TraceLine<'_>, text: &str, out: &mut Reading<'_>) {
    let help = "the line is left out; roles are system, user, assistant and tool";
    let Some(name) = out.string(line.role, "role") else {
        return out.error_at(text, "a message without a `role`", help);
    };
    let Some(role) = openai::role(&name) else {
        out.part_of_run(&format!("role {name}"), &Node::from_written(text));
        return out.error_at(text, format!("`{name}` is no role"), help);
    };
    let mut message = Message::new(role);
    message.lane = lane(line.lane, out);
    let origin = out.string(line.origin, "origin").unwrap_or_default();
    message.origin = origin.parse().unwrap_or_default();
    message.content = out.content(line.content, "content");
    message.set_reasoning(out.content(line.reasoning, "reasoning"));
    message.tool_calls = openai::tool_calls(line.tool_calls.as_ref(), out);
    message.tool_call_id = out.name(line.tool_call_id, "tool_call_id").map(Into::into);
    message.name = out.name(line.name, "name").map(Into::into);
    message.is_error = out.flag(line.is_error, "is_error");
    message.set_usage(usage(line.usage.as_ref(), out));
    message.set_cost(out.dollars(line.cost_usd, "cost_usd"));
    message.ts = out.instant(line.ts, "ts");
    message.set_model(out.word(line.model, "model").map(Into::into));
    message.set_finish_reason(out.word(line.finish_reason, "finish_reason").map(Into::into));
    message.set_extra(extra(line));
    draft.events.push(Event::Message(message));
}

fn lane(raw: Option<&str>, out: &mut Reading<'_>) -> Lane {
    let (Some(raw), Some(name)) = (raw, out.string(raw, "lane")) else { return Lane::Main };
    match &*name {
        "main" => Lane::Main,
        "canned" => Lane::Canned,
        "counterpart" => Lane::Counterpart,
        "host" => Lane::Host,
        other => {
            if let Some(id) = other.strip_prefix("side:") {
                return Lane::Side(id.into());
            }
            out.wrong(raw, "lane", "main, canned, counterpart, host or side:<id>");
            Lane::Main
        }
    }
}

/// The fields that only some frameworks' rules read, combined into one object.
fn extra(line: &TraceLine<'_>) -> Option<Json> {
    let TraceLine { invalid_call, native, page, plan_update, target, .. } = line;
    object_of([
        ("invalid_call", *invalid_call),
        ("native", *native),
        ("page", *page),
        ("plan_update", *plan_update),
        ("target", *target),
    ])
}

fn usage(found: Option<&Inner<'_, TraceUsage<'_>>>, out: &mut Reading<'_>) -> Option<Usage> {
    let found = found?;
    let wire = found.object.clone().or_else(|| out.counts(Some(found.written), "usage"));
    let Some(wire) = wire else { return Some(tokens::unreadable()) };
    Some(Usage {
        input: out.tokens(wire.input, "usage.input"),
        cache_read: out.tokens(wire.cache_read, "usage.cache_read"),
        cache_write: out.tokens(wire.cache_write, "usage.cache_write"),
        output: out.tokens(wire.output, "usage.output"),
        reasoning: out.tokens(wire.reasoning, "usage.reasoning"),
    })
}

fn metrics(line: &TraceLine<'_>, out: &mut Reading<'_>) -> Metrics {
    let fields = line.values.map(|raw| json::fields_of(raw).unwrap_or_default()).unwrap_or_default();
    Metrics {
        experiment: out.word(line.experiment, "experiment").map(Into::into),
        status: out.word(line.status, "status").map(Into::into),
        values: fields.into_iter().filter_map(|(name, raw)| Some((name.into(), json::number(raw)?))).collect(),
        plan: line.plan.and_then(json::kept),
    }
}

/// The recorded success (the word `unknown` is not a grade, whatever the score), or else whether the score reaches the
/// line's threshold (1 by default).
fn graded(line: &TraceLine<'_>, score: Option<f64>, out: &mut Reading<'_>) -> Option<bool> {
    if line.success == Some("\"unknown\"") {
        return None;
    }
    let mut said = None;
    if let Some(raw) = line.success {
        said = by_flag_or_word(raw);
        if said.is_none() {
            out.wrong(raw, "success", "true or false");
        }
    }
    let threshold = out.number(line.threshold, "threshold").unwrap_or(1.0);
    said.or(score.map(|score| score >= threshold))
}

fn outcome(line: &TraceLine<'_>, out: &mut Reading<'_>) -> Grade {
    let score = out.number(line.score, "score");
    let graded = graded(line, score, out);
    let mut end = EndCause::default();
    if let (Some(raw), Some(word)) = (line.end, out.string(line.end, "end")) {
        match word.parse() {
            Ok(cause) => end = cause,
            Err(()) => out.wrong(raw, "end", "self_finish, cap, timeout, error, killed or unknown"),
        }
    }
    let secured_step = out.step(line.secured_step, "secured_step");
    Grade { end, secured_step, ..native_grade("outcome", graded, score) }
}
