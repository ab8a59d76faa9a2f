//! Langfuse exports: observations by themselves, traces that hold theirs, or both side by side with
//! scores; in camel case (API) or snake case (blob storage) (FORMATS 17).

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::{Format, Layout};
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::spans::{self, Kind, ModelCall, Span, ToolRun};
use crate::reader::value_dialect::{self as dialect, as_count, as_number, as_text, pick, word};
use crate::reader::{json, labels, rows, time};
use crate::transcript::{Draft, EndCause, Grade, Header, Message, Outcome, OutcomeSource, Role, Usage, Usd};

/// Langfuse exports.
pub(super) struct Langfuse;

/// Kinds of observations.
const KINDS: &[&str] =
    &["GENERATION", "SPAN", "EVENT", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"];

impl Format for Langfuse {
    fn id(&self) -> &'static str {
        "langfuse"
    }

    fn summary(&self) -> &'static str {
        "Langfuse exports: observations and traces, with scores"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_observation = |value: &Sketch| {
            value.text_of("type").is_some_and(|kind| KINDS.contains(&kind.as_str()))
                && ["traceId", "trace_id", "parentObservationId", "startTime", "start_time"]
                    .iter()
                    .any(|k| value.has(&[k]))
        };
        let lists = |value: &Sketch| {
            ["observations", "data"]
                .iter()
                .filter_map(|key| value.get(key))
                .any(|l| l.elements().iter().any(is_observation))
        };
        let found = |value: &Sketch| is_observation(value) || lists(value);
        let within = |value: &Sketch| {
            found(value)
                || value.elements().iter().any(found)
                || ["traces", "data"].iter().filter_map(|k| value.get(k)).any(|l| l.elements().iter().any(found))
        };
        probe.values.iter().any(within).then(|| "observations of a trace".to_owned())
    }

    fn joins_lines(&self, _first: &Sketch) -> bool {
        true
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let mut export = Export { key: key_of(record), ..Export::default() };
        for raw in rows::values(record, out) {
            match json::value(raw.get()) {
                Ok(value) => export.value(raw, &value, None, 4, out),
                Err(error) => out.error(record.broken(raw.get(), &error)),
            }
        }
        export.hand_over(out);
    }
}

/// The score that grades a run: the one the user names, or the one that the export's reader takes.
fn key_of<'r>(record: &Record<'r>) -> Option<&'r str> {
    record.options.outcome_key.as_deref().or(Some(record.envelope).filter(|name| !name.is_empty()))
}

/// One trace while its observations are read.
#[derive(Default)]
struct Trace {
    spans: Vec<Span>,
    header: Header,
    grade: Grade,
    failed: Option<String>,
}

/// All of a file.
#[derive(Default)]
struct Export<'k> {
    key: Option<&'k str>,
    traces: Vec<(String, Trace)>,
    places: BTreeMap<String, usize>,
}

impl Export<'_> {
    fn trace(&mut self, name: &str) -> &mut Trace {
        let at = *self.places.entry(name.to_owned()).or_insert_with(|| {
            self.traces.push((name.to_owned(), Trace::default()));
            self.traces.len() - 1
        });
        &mut self.traces[at].1
    }

    /// An observation, a score, a trace with what it holds, or a list of any of them.
    fn value(&mut self, raw: &RawValue, value: &Value, of: Option<&str>, depth: usize, out: &mut Reading<'_>) {
        let kind = value.get("type").and_then(Value::as_str).filter(|kind| KINDS.contains(kind));
        let is_score = value.get("name").is_some() && pick(value, &["value", "stringValue", "string_value"]).is_some();
        if let Some(kind) = kind {
            return self.observation(raw, value, kind, of, out);
        }
        if is_score && (of.is_some() || pick(value, &["traceId", "trace_id"]).is_some()) {
            return self.score(value, of);
        }
        let lists: Vec<&Value> =
            ["traces", "data", "observations", "scores"].iter().filter_map(|name| value.get(*name)).collect();
        if lists.is_empty() && pick(value, &["id", "timestamp"]).is_none() {
            return out.error_at(raw.get(), "neither a trace, an observation nor a score", "it is left out");
        }
        let own = word(value, &["id"]).filter(|_| pick(value, &["observations", "timestamp", "name"]).is_some());
        if let Some(id) = &own {
            let header = &mut self.trace(id).header;
            header.agent = word(value, &["name"]).or(header.agent.take());
            header.task_id = word(value, &["datasetItemId", "dataset_item_id"]).or(header.task_id.take());
        }
        let Some(depth) = depth.checked_sub(1) else { return };
        for inner in lists.into_iter().filter_map(Value::as_array).flatten() {
            self.value(raw, inner, own.as_deref().or(of), depth, out);
        }
    }

    fn observation(&mut self, raw: &RawValue, value: &Value, kind: &str, of: Option<&str>, out: &mut Reading<'_>) {
        let trace = word(value, &["traceId", "trace_id"]).or_else(|| of.map(str::to_owned));
        let (Some(id), Some(trace)) = (word(value, &["id"]), trace) else {
            return out.error_at(raw.get(), "an observation without `id` and `traceId`", "the observation is left out");
        };
        let failed = word(value, &["level"]).as_deref() == Some("ERROR");
        let kind = match kind {
            "GENERATION" => Kind::Model(Box::new(model_call(value, failed, raw, out))),
            "TOOL" => Kind::Tool(ToolRun {
                call_id: call_id(value),
                arguments: pick(value, &["input"]).map(|input| as_text(&unquoted(input))),
                result: pick(value, &["output"]).map(|output| as_text(&unquoted(output))),
                is_error: Some(failed),
            }),
            "AGENT" => Kind::Agent,
            _ => Kind::Other,
        };
        let start = pick(value, &["startTime", "start_time"]).and_then(time::of_value);
        let span = Span {
            id,
            parent: word(value, &["parentObservationId", "parent_observation_id"]).filter(|id| !id.is_empty()),
            start: start.map(|start| i128::from(start.0)),
            end: pick(value, &["endTime", "end_time"]).and_then(time::of_value),
            name: word(value, &["name"]).unwrap_or_default(),
            kind,
        };
        let trace = self.trace(&trace);
        trace.header.started_at = [trace.header.started_at, start].into_iter().flatten().min();
        trace.header.ended_at = trace.header.ended_at.max(span.end);
        if failed && span.parent.is_none() {
            trace.failed = Some(word(value, &["statusMessage", "status_message"]).unwrap_or_default());
        }
        trace.spans.push(span);
    }

    /// A score, if it is the one the user named.
    fn score(&mut self, value: &Value, of: Option<&str>) {
        let about = word(value, &["traceId", "trace_id"]).or_else(|| of.map(str::to_owned));
        let Some(about) = about.filter(|_| self.key.is_some() && word(value, &["name"]).as_deref() == self.key) else {
            return;
        };
        let score = pick(value, &["value"]).and_then(as_number);
        let label = word(value, &["stringValue", "string_value"]).and_then(|label| labels::grade_word(&label));
        let graded = label.or_else(|| score.map(|score| score >= 1.0));
        let source = graded.map_or(OutcomeSource::None, |_| OutcomeSource::Native("scores"));
        self.trace(&about).grade = Grade { outcome: Outcome::from_grade(graded), score, source, ..Grade::default() };
    }

    fn hand_over(self, out: &mut Reading<'_>) {
        for (name, trace) in self.traces {
            if !trace.spans.iter().any(|span| matches!(span.kind, Kind::Model(_))) {
                out.unknown("trace without generations");
                continue;
            }
            let talk = spans::conversation(trace.spans);
            let end = trace.failed.as_deref().map_or(EndCause::Unknown, spans::end_by_error);
            let header = Header { run_id: name, model: talk.model(), ..trace.header };
            let grade = Grade { end, ..trace.grade };
            out.run(Draft { header, events: talk.events, grade, warnings: talk.warnings });
        }
    }
}

/// The call a tool's observation answers: in its metadata, or among the attributes of the span it was.
fn call_id(observation: &Value) -> Option<String> {
    let metadata = dialect::unwrapped(pick(observation, &["metadata"])?);
    let names = ["tool_call_id", "toolCallId", "gen_ai.tool.call.id"];
    let attributes = pick(&metadata, &["attributes"]).map(dialect::unwrapped).unwrap_or_default();
    word(&metadata, &names).or_else(|| word(&attributes, &names))
}

/// Blob exports write every value as JSON inside a string, strings too.
fn unquoted(value: &Value) -> Value {
    let quoted = value.as_str().filter(|text| text.len() > 1 && text.starts_with('"') && text.ends_with('"'));
    quoted.and_then(|text| json::value(text).ok()).unwrap_or_else(|| dialect::unwrapped(value))
}

fn model_call(value: &Value, failed: bool, raw: &RawValue, out: &mut Reading<'_>) -> ModelCall {
    let mut reply = pick(value, &["output"])
        .map(unquoted)
        .as_ref()
        .and_then(dialect::reply)
        .unwrap_or_else(|| Message::new(Role::Assistant));
    let counted = pick(value, &["usageDetails", "usage_details"]).or_else(|| pick(value, &["usage"]));
    reply.usage = counted.map(dialect::unwrapped).and_then(|counted| usage(&counted, raw, out));
    let costs = pick(value, &["costDetails", "cost_details"]).map(dialect::unwrapped).unwrap_or_default();
    let cost = pick(value, &["calculatedTotalCost", "totalCost", "total_cost"]).or_else(|| pick(&costs, &["total"]));
    reply.cost = cost.and_then(as_number).map(Usd);
    reply.model = word(value, &["model", "providedModelName", "provided_model_name"]).map(Into::into);
    if failed {
        reply.finish_reason = Some("error".into());
    }
    let input =
        pick(value, &["input"]).map(|input| dialect::messages(&unquoted(input), Role::User)).unwrap_or_default();
    ModelCall { input, reply }
}

/// Tokens of one call. The buckets stand beside each other: what is called input or output of some
/// kind adds up, unless the total says that the plain two are all there is.
fn usage(counted: &Value, raw: &RawValue, out: &mut Reading<'_>) -> Option<Usage> {
    if let Some(usage) = dialect::usage(counted) {
        return Some(usage);
    }
    let (mut input, mut output) = (None::<u64>, None::<u64>);
    for (name, value) in counted.as_object()? {
        let of_input = name.starts_with("input") || name.starts_with("cache_") || name.starts_with("prompt");
        let of_output = name.starts_with("output") || name.starts_with("completion") || name.starts_with("reasoning");
        if value.is_null()
            || !(of_input || of_output)
            || value.is_object()
            || value.is_string() && name.ends_with("Unit")
        {
            continue;
        }
        let Some(count) = as_count(value) else {
            let what = format!("`usageDetails.{name}` should be a whole number, 0 or more, not `{value}`");
            out.error_at(raw.get(), what, "this field is left out");
            continue;
        };
        if name.ends_with("Cost") {
            continue;
        }
        let sum = if of_input { &mut input } else { &mut output };
        *sum = Some(sum.unwrap_or(0).saturating_add(count));
    }
    let count = |names: &[&str]| pick(counted, names).and_then(as_count);
    let (plain_in, plain_out, total) = (count(&["input"]), count(&["output"]), count(&["total"]));
    let plain = plain_in.unwrap_or(0).saturating_add(plain_out.unwrap_or(0));
    if total == Some(plain) && plain > 0 {
        (input, output) = (plain_in, plain_out);
    }
    let usage = Usage {
        input,
        cache_read: count(&["cache_read_input_tokens", "input_cached_tokens", "input_cache_read"]),
        cache_write: count(&["cache_creation_input_tokens", "input_cache_creation"]),
        output,
        reasoning: count(&["output_reasoning_tokens", "output_reasoning", "reasoning"]),
    };
    (!usage.is_empty()).then_some(usage)
}
