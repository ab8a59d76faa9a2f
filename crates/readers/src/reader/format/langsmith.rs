//! LangSmith run exports: rows that are spans, in any order; children may also stand inside their
//! parents (FORMATS 14).
//!
//! A parent row carries the sum of its children's tokens: only rows of type `llm` count.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::{Format, Layout};
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::spans::{self, Kind, ModelCall, Span, ToolRun};
use crate::reader::value_dialect::{self as dialect, as_count, as_number, as_text, pick, word};
use crate::reader::{json, labels, rows, time};
use crate::transcript::{Draft, EndCause, Grade, Header, Message, Outcome, OutcomeSource, Role, Text, Usage, Usd};

/// LangSmith run exports.
pub(super) struct LangSmith;

impl Format for LangSmith {
    fn id(&self) -> &'static str {
        "langsmith"
    }

    fn summary(&self) -> &'static str {
        "LangSmith run exports: rows with `run_type`, as lines or an array"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_run = |value: &Sketch| {
            value.has(&["run_type"])
                && ["trace_id", "dotted_order", "parent_run_id", "child_runs", "inputs"]
                    .iter()
                    .any(|key| value.has(&[key]))
        };
        let holds = |value: &Sketch| {
            is_run(value)
                || value.elements().iter().any(is_run)
                || value.get("runs").is_some_and(|runs| runs.elements().iter().any(is_run))
        };
        probe.values.iter().any(holds).then(|| "`run_type` of a trace's runs".to_owned())
    }

    fn joins_lines(&self, _first: &Sketch) -> bool {
        true
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let mut export = Export { key: record.options.outcome_key.as_deref(), ..Export::default() };
        for raw in rows::values(record, out) {
            match json::value(raw.get()) {
                Ok(value) => match value.get("runs").and_then(Value::as_array) {
                    Some(runs) => runs.iter().for_each(|run| export.row(raw, run, None, out)),
                    None => export.row(raw, &value, None, out),
                },
                Err(error) => out.error(record.broken(raw.get(), &error)),
            }
        }
        export.hand_over(out);
    }
}

/// One trace while its rows are read.
#[derive(Default)]
struct Trace {
    spans: Vec<Span>,
    header: Header,
    grade: Grade,
    /// Ids of the root row, which feedback names.
    root: Option<String>,
}

/// All rows of a file.
#[derive(Default)]
struct Export<'k> {
    key: Option<&'k str>,
    traces: Vec<(String, Trace)>,
    places: BTreeMap<String, usize>,
    feedback: Vec<(String, Grade)>,
}

impl Export<'_> {
    /// One row and the rows inside it.
    fn row(&mut self, raw: &RawValue, row: &Value, around: Option<(&str, &str)>, out: &mut Reading<'_>) {
        if !row.is_object() {
            return out.error_at(raw.get(), "a run that is no object", "it is left out");
        }
        let Some(kind) = word(row, &["run_type"]) else {
            if pick(row, &["score", "value"]).is_some() && row.get("key").is_some() {
                return self.feedback(row);
            }
            return out.error_at(raw.get(), "a run without a `run_type`", "the run is left out");
        };
        let Some(id) = word(row, &["id", "run_id"]) else {
            return out.error_at(raw.get(), "a run without an `id`", "the run is left out");
        };
        let parent = word(row, &["parent_run_id"]).or_else(|| around.map(|(id, _)| id.to_owned()));
        let above = around.map(|(_, trace)| trace);
        let Some(name) = trace_of(row, &id, parent.as_deref(), above) else {
            return out.error_at(raw.get(), "a run without a `trace_id`", "the run is left out");
        };
        let failed = word(row, &["error"]).filter(|error| !error.is_empty());
        let call = match kind.as_str() {
            "llm" => Kind::Model(Box::new(model_call(row, failed.is_some(), raw, out))),
            "tool" => Kind::Tool(tool_run(row, failed.as_deref())),
            _ => Kind::Other,
        };
        let span = Span {
            start: started(row),
            end: pick(row, &["end_time"]).and_then(time::of_value),
            name: word(row, &["name"]).unwrap_or_default(),
            parent,
            kind: call,
            id: id.clone(),
        };
        let key = self.key;
        let trace = self.trace(&name);
        if span.parent.is_none() {
            trace.root = Some(id.clone());
            trace.header.agent = Some(span.name.clone()).filter(|name| !name.is_empty());
            trace.header.task_id = word(row, &["reference_example_id"]);
            trace.header.started_at = pick(row, &["start_time"]).and_then(time::of_value);
            trace.header.ended_at = span.end;
            let end = match (&failed, word(row, &["status"]).as_deref()) {
                (Some(error), _) => spans::end_by_error(error),
                (None, Some("error")) => EndCause::Error,
                (None, Some("interrupted")) => EndCause::Killed,
                (None, Some("success")) => EndCause::SelfFinish,
                _ => EndCause::Unknown,
            };
            trace.grade = key.map_or_else(Grade::default, |key| stats(row, key));
            trace.grade.end = end;
        }
        trace.spans.push(span);
        for child in row.get("child_runs").and_then(Value::as_array).into_iter().flatten() {
            self.row(raw, child, Some((&id, &name)), out);
        }
    }

    fn trace(&mut self, name: &str) -> &mut Trace {
        let at = *self.places.entry(name.to_owned()).or_insert_with(|| {
            self.traces.push((name.to_owned(), Trace::default()));
            self.traces.len() - 1
        });
        &mut self.traces[at].1
    }

    /// A row of a feedback export.
    fn feedback(&mut self, row: &Value) {
        let about = word(row, &["run_id", "trace_id"]);
        if self.key.is_none() || word(row, &["key"]).as_deref() != self.key {
            return;
        }
        let score = pick(row, &["score"]).and_then(grade_number);
        let said = pick(row, &["value"]).and_then(|value| match value {
            Value::Bool(flag) => Some(*flag),
            other => dialect::as_word(other).and_then(|word| labels::grade_word(&word)),
        });
        if let Some(about) = about {
            let graded = score.map(|score| score >= 1.0).or(said);
            self.feedback.push((about, graded_by(graded, score)));
        }
    }

    fn hand_over(self, out: &mut Reading<'_>) {
        for (name, trace) in self.traces {
            let is_about = |about: &String| *about == name || trace.root.as_ref() == Some(about);
            let feedback = self.feedback.iter().rfind(|(about, _)| is_about(about)).map(|(_, grade)| grade.clone());
            if !trace.spans.iter().any(|span| matches!(span.kind, Kind::Model(_))) {
                out.unknown("trace without llm runs");
                continue;
            }
            let talk = spans::conversation(trace.spans);
            let mut grade = trace.grade;
            if let Some(feedback) = feedback {
                grade = Grade { end: grade.end, ..feedback };
            }
            let header = Header { run_id: name, model: talk.model(), ..trace.header };
            out.run(Draft { header, events: talk.events, grade, warnings: talk.warnings });
        }
    }
}

/// The trace a row belongs to; rows inside their parent may leave it out.
fn trace_of(row: &Value, id: &str, parent: Option<&str>, above: Option<&str>) -> Option<String> {
    let ordered = || {
        let order = word(row, &["dotted_order"])?;
        let root = order.split('.').next()?;
        root.split_once('Z').map(|(_, id)| id.to_owned()).filter(|id| !id.is_empty())
    };
    let own = || parent.is_none().then(|| id.to_owned());
    word(row, &["trace_id"]).or_else(|| above.map(str::to_owned)).or_else(ordered).or_else(own)
}

fn graded_by(graded: Option<bool>, score: Option<f64>) -> Grade {
    let source = graded.map_or(OutcomeSource::None, |_| OutcomeSource::Native("feedback"));
    Grade { outcome: Outcome::from_grade(graded), score, source, ..Grade::default() }
}

/// A score, also one written as true or false.
fn grade_number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        other => as_number(other),
    }
}

/// The average of the feedback the user named.
fn stats(row: &Value, key: &str) -> Grade {
    let stats = pick(row, &["feedback_stats"]).map(dialect::unwrapped).unwrap_or_default();
    let score = stats.get(key).and_then(|about| pick(about, &["avg", "mean"])).and_then(grade_number);
    graded_by(score.map(|score| score >= 1.0), score)
}

/// When a row began, as the digits of its time down to microseconds: its place in the dotted order is
/// exact to the microsecond, where the times may be cut.
fn started(row: &Value) -> Option<i128> {
    let ordered = word(row, &["dotted_order"]).and_then(|order| {
        let last = order.rsplit('.').next()?.to_owned();
        last.split_once('Z').map(|(time, _)| time.to_owned())
    });
    let time = ordered.or_else(|| word(row, &["start_time"]))?;
    let end = time.char_indices().skip(11).find(|(_, c)| matches!(c, 'Z' | '+' | '-')).map_or(time.len(), |(at, _)| at);
    let digits: String = time.get(..end)?.chars().filter(char::is_ascii_digit).take(20).collect();
    format!("{digits:0<20}").parse().ok()
}

fn model_call(row: &Value, failed: bool, raw: &RawValue, out: &mut Reading<'_>) -> ModelCall {
    let inputs = pick(row, &["inputs"]).map(dialect::unwrapped).unwrap_or_default();
    let outputs = pick(row, &["outputs"]).map(dialect::unwrapped).unwrap_or_default();
    let mut reply = dialect::reply(&outputs).unwrap_or_else(|| Message::new(Role::Assistant));
    reply.usage = usage(row, &outputs, reply.usage, raw, out);
    let both = [pick(row, &["prompt_cost"]), pick(row, &["completion_cost"])];
    let sum = || both.iter().copied().flatten().filter_map(as_number).reduce(|a, b| a + b);
    reply.cost = pick(row, &["total_cost"]).and_then(as_number).or_else(sum).map(Usd);
    let extra = pick(row, &["extra"]).map(dialect::unwrapped).unwrap_or_default();
    let about = |names: &[&str]| {
        let places = ["metadata", "invocation_params"];
        places.iter().find_map(|place| extra.get(place).and_then(|inner| word(inner, names)))
    };
    reply.model = about(&["ls_model_name", "model", "model_name"]).map(Into::into);
    if failed {
        reply.finish_reason = Some("error".into());
    }
    let prompts = pick(&inputs, &["messages", "input", "prompts", "prompt"]).unwrap_or(&inputs);
    ModelCall { input: dialect::messages(prompts, Role::User), reply }
}

/// Tokens of one call: of the row, else of the reply. Input includes what was cached; two zeros are a
/// row that was not told.
fn usage(row: &Value, outputs: &Value, said: Option<Usage>, raw: &RawValue, out: &mut Reading<'_>) -> Option<Usage> {
    let nested = pick(outputs, &["usage_metadata", "usage"])
        .or_else(|| outputs.get("llm_output").and_then(|output| pick(output, &["token_usage", "usage"])));
    let said = said.or_else(|| nested.and_then(dialect::usage));
    for name in ["prompt_tokens", "completion_tokens"] {
        if let Some(odd) = pick(row, &[name]).filter(|value| as_count(value).is_none()) {
            let what = format!("`{name}` should be a whole number, 0 or more, not `{odd}`");
            out.error_at(raw.get(), what, "this field is left out");
        }
    }
    let own = dialect::usage(row).filter(|usage| usage.total().is_some_and(|total| total.0 > 0));
    match (own, said) {
        (Some(own), Some(said)) => Some(Usage {
            input: own.input.or(said.input),
            cache_read: own.cache_read.or(said.cache_read),
            cache_write: own.cache_write.or(said.cache_write),
            output: own.output.or(said.output),
            reasoning: own.reasoning.or(said.reasoning),
        }),
        (own, said) => own.or(said),
    }
}

fn tool_run(row: &Value, failed: Option<&str>) -> ToolRun {
    let inputs = pick(row, &["inputs"]).map(dialect::unwrapped).unwrap_or_default();
    let outputs = pick(row, &["outputs"]).map(dialect::unwrapped).unwrap_or_default();
    let extra = pick(row, &["extra"]).map(dialect::unwrapped).unwrap_or_default();
    let given = pick(&inputs, &["args"]).filter(|_| inputs.get("id").is_some() && inputs.get("name").is_some());
    let only = inputs.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.get("input"));
    let arguments = given.or(only).or(Some(&inputs)).filter(|inputs| !inputs.is_null()).map(as_text);
    let said = pick(&outputs, &["output", "content", "result"]).unwrap_or(&outputs);
    let message = dialect::messages(said, Role::Tool).into_iter().find(|message| message.role == Role::Tool);
    let plain = || (!said.is_null()).then(|| as_text(said));
    let (content, id, flagged) =
        message.map_or((None, None, None), |message| (message.content, message.tool_call_id, message.is_error));
    let id = id.map(Into::into).or_else(|| word(&inputs, &["tool_call_id"]));
    let given_id = given.and_then(|_| word(&inputs, &["id"]));
    ToolRun {
        call_id: id.or(given_id).or_else(|| word(&extra, &["tool_call_id"])),
        arguments,
        result: content.or_else(plain).or_else(|| failed.map(Text::plain)),
        is_error: Some(failed.is_some() || flagged == Some(true)),
    }
}
