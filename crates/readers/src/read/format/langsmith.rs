//! LangSmith run exports: rows that are spans, in any order; children may also be nested in their parents (FORMATS
//! 14).
//!
//! A parent row repeats the sum of its children's tokens, so only rows of type `llm` are counted.

use super::{Format, elements_under, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::by_name::ByName;
use crate::read::dialect;
use crate::read::spans::{self, ModelCall, Span, SpanContent, ToolRun};
use crate::record::node::Node;
use crate::record::outcomes::{by_flag_or_word, native_grade};
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::transcript::{EndCause, Grade, Header, Message, Role, Text, Usage, Usd};
use crate::value::json;

/// LangSmith run exports.
pub(super) static FORMAT: Format = Format {
    id: "langsmith",
    summary: "LangSmith run exports: rows with `run_type`, as lines or an array",
    recognise,
    joins_lines: |_| true,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_run = |value: &Sketch| {
        value.has(&["run_type"])
            && value.has_any(&["trace_id", "dotted_order", "parent_run_id", "child_runs", "inputs"])
    };
    let holds = |value: &Sketch| {
        is_run(value) || value.elements().iter().any(is_run) || value.elements_of("runs").iter().any(is_run)
    };
    reason_if(probe.any(holds), "`run_type` of a trace's runs")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut export = LangSmithExport { key: record.options.outcome_key.as_deref(), ..LangSmithExport::default() };
    for value in Node::rows(record, out) {
        match elements_under(&value, "runs") {
            Some(runs) => runs.iter().for_each(|run| export.row(run, None, out)),
            None => export.row(&value, None, out),
        }
    }
    export.hand_over(out);
}

/// A trace being read.
#[derive(Default)]
struct LangSmithTrace {
    spans: Vec<Span>,
    header: Header,
    grade: Grade,
    /// The ids of the root row, by which feedback refers to the trace.
    root: Option<String>,
}

/// All rows of a file.
#[derive(Default)]
struct LangSmithExport<'k> {
    key: Option<&'k str>,
    traces: ByName<LangSmithTrace>,
    feedback: Vec<(String, Grade)>,
}

impl LangSmithExport<'_> {
    /// Reads one row and the rows nested in it.
    fn row(&mut self, row: &Node<'_>, around: Option<(&str, &str)>, out: &mut Reading<'_>) {
        if !row.is_object() {
            return out.error_at(row.place(), "a run that is no object", "it is left out");
        }
        let Some(kind) = row.some_word("run_type") else {
            if row.has(["score", "value"]) && row.mentions("key") {
                return self.feedback(row);
            }
            return out.error_at(row.place(), "a run without a `run_type`", "the run is left out");
        };
        let Some(id) = row.some_word(["id", "run_id"]) else {
            return out.error_at(row.place(), "a run without an `id`", "the run is left out");
        };
        let parent = row.some_word("parent_run_id").or(around.map(|(id, _)| id.to_owned()));
        let above = around.map(|(_, trace)| trace);
        let Some(name) = trace_of(row, &id, parent.as_deref(), above) else {
            return out.error_at(row.place(), "a run without a `trace_id`", "the run is left out");
        };
        let failed = row.some_word("error").filter(|error| !error.is_empty());
        let call = match kind.as_str() {
            "llm" => SpanContent::Model(Box::new(model_call(row, failed.is_some(), out))),
            "tool" => SpanContent::Tool(tool_run(row, failed.as_deref(), out)),
            kind if OTHERS.contains(&kind) => SpanContent::Other,
            other => {
                out.unknown(&format!("run_type {other}"), row);
                SpanContent::Other
            }
        };
        let span = Span {
            start: started(row),
            end: row.some_instant("end_time"),
            name: row.some_word("name").unwrap_or_default(),
            parent,
            kind: call,
            id: id.clone(),
        };
        let key = self.key;
        let trace = self.traces.named(name.clone());
        if span.parent.is_none() {
            trace.root = Some(id.clone());
            trace.header.agent = Some(span.name.clone()).filter(|name| !name.is_empty());
            trace.header.task_id = row.some_word("reference_example_id");
            trace.header.started_at = row.some_instant("start_time");
            trace.header.ended_at = span.end;
            let end = match (&failed, row.some_word("status").as_deref()) {
                (Some(error), _) => spans::end_by_error(error),
                (None, Some("error")) => EndCause::Error,
                (None, Some("interrupted")) => EndCause::Killed,
                (None, Some("success")) => EndCause::SelfFinish,
                _ => EndCause::Unknown,
            };
            trace.grade = match key {
                Some(key) => stats(row, key),
                None => Grade::default(),
            };
            trace.grade.end = end;
        }
        trace.spans.push(span);
        for child in row.some_list("child_runs") {
            self.row(&child, Some((&id, &name)), out);
        }
    }

    /// Reads a row of a feedback export.
    fn feedback(&mut self, row: &Node<'_>) {
        let about = row.some_word(["run_id", "trace_id"]);
        if self.key.is_none() || row.some_word("key").as_deref() != self.key {
            return;
        }
        let score = grade_number(&row.within("score"));
        let said = by_flag_or_word(&row.within("value"));
        if let Some(about) = about {
            let graded = score.map(|score| score >= 1.0).or(said);
            self.feedback.push((about, native_grade("feedback", graded, score)));
        }
    }

    fn hand_over(self, out: &mut Reading<'_>) {
        for (name, trace) in self.traces.all {
            let is_about = |about: &String| *about == name || trace.root.as_ref() == Some(about);
            let feedback = self.feedback.iter().rfind(|(about, _)| is_about(about)).map(|(_, grade)| grade.clone());
            let mut grade = trace.grade;
            if let Some(feedback) = feedback {
                grade = Grade { end: grade.end, ..feedback };
            }
            let header = Header { run_id: name, ..trace.header };
            spans::hand_over(trace.spans, header, grade, "trace without llm runs", out);
        }
    }
}

/// Types of rows that are neither a model call nor a tool.
const OTHERS: &[&str] = &["chain", "retriever", "prompt", "parser", "embedding"];

/// The trace of a row; nested rows may omit it.
fn trace_of(row: &Node<'_>, id: &str, parent: Option<&str>, above: Option<&str>) -> Option<String> {
    let ordered = || {
        let order = row.some_word("dotted_order")?;
        let root = order.split('.').next()?;
        root.split_once('Z').map(|(_, id)| id.to_owned()).filter(|id| !id.is_empty())
    };
    if let Some(trace) = row.some_word("trace_id") {
        return Some(trace);
    }
    if let Some(above) = above {
        return Some(above.to_owned());
    }
    match ordered() {
        None if parent.is_none() => Some(id.to_owned()),
        root => root,
    }
}

/// A score; may be written as true or false.
fn grade_number(score: &Node<'_>) -> Option<f64> {
    if let Some(flag) = json::flag(score) {
        return Some(f64::from(u8::from(flag)));
    }
    json::number(score)
}

/// The grade from the average of the feedback that the user named.
fn stats(row: &Node<'_>, key: &str) -> Grade {
    let stats = row.held("feedback_stats");
    let score = grade_number(&stats.node().within(key).within(["avg", "mean"]));
    native_grade("feedback", score.map(|score| score >= 1.0), score)
}

/// A row's start as the digits of its time down to microseconds. Its dotted order is used first, since it is exact to
/// the microsecond where the times may be truncated.
fn started(row: &Node<'_>) -> Option<i128> {
    let ordered = || {
        let order = row.some_word("dotted_order")?;
        let (time, _) = order.rsplit('.').next()?.split_once('Z')?;
        Some(time.to_owned())
    };
    let time = ordered().or_else(|| row.some_word("start_time"))?;
    let before_zone = match time.char_indices().skip(11).find(|(_, c)| matches!(c, 'Z' | '+' | '-')) {
        Some((at, _)) => time.get(..at)?,
        None => &time,
    };
    let digits: String = before_zone.chars().filter(char::is_ascii_digit).take(20).collect();
    format!("{digits:0<20}").parse().ok()
}

fn model_call(row: &Node<'_>, failed: bool, out: &mut Reading<'_>) -> ModelCall {
    let (inputs, outputs, extra) = (row.held("inputs"), row.held("outputs"), row.held("extra"));
    let (inputs, outputs, extra) = (inputs.node(), outputs.node(), extra.node());
    let mut reply = dialect::reply(&outputs, out).unwrap_or_else(|| Message::new(Role::Assistant));
    reply.set_usage(usage(row, &outputs, reply.usage(), out));
    reply.set_cost(cost(row, out));
    let places = ["metadata", "invocation_params"];
    let about = places.iter().find_map(|place| extra.get(*place)?.some_word(["ls_model_name", "model", "model_name"]));
    reply.set_model(about.map(Into::into));
    if failed {
        reply.set_finish_reason(Some("error".into()));
    }
    let prompts = inputs.get(["messages", "input", "prompts", "prompt"]).unwrap_or(inputs);
    ModelCall { input: dialect::messages(&prompts, Role::User, out), reply }
}

fn cost(row: &Node<'_>, out: &mut Reading<'_>) -> Option<Usd> {
    if let Some(whole) = row.dollars("total_cost", out) {
        return Some(whole);
    }
    match (row.dollars("prompt_cost", out), row.dollars("completion_cost", out)) {
        (Some(prompt), Some(completion)) => Some(prompt + completion),
        (prompt, completion) => prompt.or(completion),
    }
}

/// The token counts of one call, from the row or else the reply. Input includes cached tokens; two zeros mean that the
/// counts were not recorded.
fn usage(row: &Node<'_>, outputs: &Node<'_>, said: Option<Usage>, out: &mut Reading<'_>) -> Option<Usage> {
    let nested = outputs.get(["usage_metadata", "usage"]);
    let nested = nested.unwrap_or_else(|| outputs.within("llm_output").within(["token_usage", "usage"]));
    let said = said.or_else(|| dialect::usage(&nested, out));
    let own = dialect::usage(row, out).filter(tokens::is_spent);
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

fn tool_run(row: &Node<'_>, failed: Option<&str>, out: &mut Reading<'_>) -> ToolRun {
    let (inputs, outputs, extra) = (row.held("inputs"), row.held("outputs"), row.held("extra"));
    let (inputs, outputs, extra) = (inputs.node(), outputs.node(), extra.node());
    let given = inputs.get("args").filter(|_| inputs.mentions("id") && inputs.mentions("name"));
    let is_alone = inputs.members().len() == 1 && inputs.mentions("input");
    let asked = match &given {
        Some(given) => Some(given.clone()),
        None if is_alone => inputs.get("input"),
        None => Some(inputs.clone()),
    };
    let said = outputs.get(["output", "content", "result"]).unwrap_or(outputs);
    let message = dialect::messages(&said, Role::Tool, out).into_iter().find(|message| message.role == Role::Tool);
    let plain = || if said.is_null() { None } else { Some(said.compact_text()) };
    let message = message.unwrap_or_else(|| Message::new(Role::Tool));
    let id = message.tool_call_id.map(Into::into).or_else(|| inputs.some_word("tool_call_id"));
    let given_id = if given.is_some() { inputs.some_word("id") } else { None };
    ToolRun {
        call_id: id.or(given_id).or_else(|| extra.some_word("tool_call_id")),
        arguments: asked.filter(|asked| !asked.is_null()).map(|asked| asked.compact_text()),
        result: message.content.or_else(plain).or(failed.map(Text::plain)),
        is_error: Some(failed.is_some() || message.is_error == Some(true)),
    }
}
