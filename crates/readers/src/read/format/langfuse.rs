//! Langfuse exports: bare observations, traces with their observations, or both side by side with scores; in camel
//! case (API) or snake case (blob storage).

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::by_name::ByName;
use crate::read::dialect;
use crate::read::spans::{self, ModelCall, Span, SpanContent, ToolRun};
use crate::record::node::{Node, Opened, sound};
use crate::record::outcomes::{by_label_or_score, native_grade};
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::transcript::{EndCause, Grade, Header, Message, Role, Usage};

/// Langfuse exports.
pub(super) static FORMAT: Format = Format {
    id: "langfuse",
    summary: "Langfuse exports: observations and traces, with scores",
    recognise,
    joins_lines: |_| true,
    ..Format::reading(read)
};

/// Types of observations.
const KINDS: &[&str] =
    &["GENERATION", "SPAN", "EVENT", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"];

fn recognise(probe: &Probe) -> Option<String> {
    let is_observation = |value: &Sketch| {
        KINDS.contains(&&*value.text_of("type").unwrap_or_default())
            && value.has_any(&["traceId", "trace_id", "parentObservationId", "startTime", "start_time"])
    };
    let lists =
        |value: &Sketch| ["observations", "data"].iter().any(|key| value.elements_of(key).iter().any(is_observation));
    let found = |value: &Sketch| is_observation(value) || lists(value);
    let within = |value: &Sketch| {
        found(value)
            || value.elements().iter().any(found)
            || ["traces", "data"].iter().any(|key| value.elements_of(key).iter().any(found))
    };
    reason_if(probe.any(within), "observations of a trace")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut export = LangfuseExport { key: key_of(record), ..LangfuseExport::default() };
    for value in Node::rows(record, out) {
        export.value(&value, None, 4, out);
    }
    export.hand_over(out);
}

/// The name of the score that grades a run: the one the user names, or else the one chosen by the export's reader.
fn key_of<'r>(record: &Record<'r>) -> Option<&'r str> {
    record.options.outcome_key.as_deref().or(Some(record.envelope).filter(|name| !name.is_empty()))
}

/// A trace being read.
#[derive(Default)]
struct LangfuseTrace {
    spans: Vec<Span>,
    header: Header,
    grade: Grade,
    failed: Option<String>,
}

/// All traces of a file.
#[derive(Default)]
struct LangfuseExport<'k> {
    key: Option<&'k str>,
    traces: ByName<LangfuseTrace>,
}

impl LangfuseExport<'_> {
    /// Reads an observation, a score, a trace with its contents, or a list of any of these.
    fn value(&mut self, value: &Node<'_>, of: Option<&str>, depth: usize, out: &mut Reading<'_>) {
        if let Some(kind) = value.some_string("type").filter(|kind| KINDS.contains(&&**kind)) {
            return self.observation(value, &kind, of, out);
        }
        let is_score = value.mentions("name") && value.has(["value", "stringValue", "string_value"]);
        if is_score && (of.is_some() || value.has(["traceId", "trace_id"])) {
            return self.score(value, of);
        }
        if let Some(kind) = value.some_string("type").filter(|_| value.has(["traceId", "trace_id"])) {
            return out.unknown(&format!("observation {kind}"), value);
        }
        let lists = ["traces", "data", "observations", "scores"];
        if !lists.iter().any(|name| value.mentions(name)) && !value.has(["id", "timestamp"]) {
            return out.error_at(value.place(), "neither a trace, an observation nor a score", "it is left out");
        }
        let own = value.some_word("id").filter(|_| value.has(["observations", "timestamp", "name"]));
        if let Some(id) = &own {
            let header = &mut self.traces.named(id.clone()).header;
            header.agent = value.some_word("name").or(header.agent.take());
            header.task_id = value.some_word(["datasetItemId", "dataset_item_id"]).or(header.task_id.take());
        }
        let Some(depth) = depth.checked_sub(1) else { return };
        for inner in lists.iter().flat_map(|name| value.some_list(*name)) {
            self.value(&inner, own.as_deref().or(of), depth, out);
        }
    }

    fn observation(&mut self, value: &Node<'_>, kind: &str, of: Option<&str>, out: &mut Reading<'_>) {
        let trace = value.some_word(["traceId", "trace_id"]).or(of.map(str::to_owned));
        let (Some(id), Some(trace)) = (value.some_word("id"), trace) else {
            let what = "an observation without `id` and `traceId`";
            return out.error_at(value.place(), what, "the observation is left out");
        };
        let failed = value.is("level", "ERROR");
        let kind = match kind {
            "GENERATION" => SpanContent::Model(Box::new(model_call(value, failed, out))),
            "TOOL" => SpanContent::Tool(ToolRun {
                call_id: call_id(value),
                arguments: value.get("input").map(|input| unquoted(&input).node().compact_text()),
                result: value.get("output").map(|output| unquoted(&output).node().compact_text()),
                is_error: Some(failed),
            }),
            "AGENT" => SpanContent::Agent,
            _ => SpanContent::Other,
        };
        let start = value.some_instant(["startTime", "start_time"]);
        let span = Span {
            id,
            parent: value.some_word(["parentObservationId", "parent_observation_id"]).filter(|id| !id.is_empty()),
            start: start.map(|start| i128::from(start.0)),
            end: value.some_instant(["endTime", "end_time"]),
            name: value.some_word("name").unwrap_or_default(),
            kind,
        };
        let trace = self.traces.named(trace);
        trace.header.started_at = [trace.header.started_at, start].into_iter().flatten().min();
        trace.header.ended_at = trace.header.ended_at.max(span.end);
        if failed && span.parent.is_none() {
            trace.failed = Some(value.some_word(["statusMessage", "status_message"]).unwrap_or_default());
        }
        trace.spans.push(span);
    }

    /// Reads a score, if it is the one that grades runs.
    fn score(&mut self, value: &Node<'_>, of: Option<&str>) {
        let about = value.some_word(["traceId", "trace_id"]).or(of.map(str::to_owned));
        let is_named = self.key.is_some() && value.some_word("name").as_deref() == self.key;
        let Some(about) = about.filter(|_| is_named) else { return };
        let score = value.some_number("value");
        let label = value.some_word(["stringValue", "string_value"]);
        let graded = by_label_or_score(label.as_deref(), score);
        self.traces.named(about).grade = native_grade("scores", graded, score);
    }

    fn hand_over(self, out: &mut Reading<'_>) {
        for (name, trace) in self.traces.all {
            let end = match &trace.failed {
                Some(error) => spans::end_by_error(error),
                None => EndCause::Unknown,
            };
            let header = Header { run_id: name, ..trace.header };
            let grade = Grade { end, ..trace.grade };
            spans::hand_over(trace.spans, header, grade, "trace without generations", out);
        }
    }
}

/// The id of the call that a tool's observation answers, from its metadata or from its span's attributes.
fn call_id(observation: &Node<'_>) -> Option<String> {
    let names = ["tool_call_id", "toolCallId", "gen_ai.tool.call.id"];
    let metadata = observation.held("metadata");
    let metadata = metadata.node();
    metadata.some_word(names).or_else(|| metadata.held("attributes").node().some_word(names))
}

/// Decodes a value of a blob export, where every value, even a string, is JSON inside a string.
fn unquoted<'a>(value: &Node<'a>) -> Opened<'a> {
    let is_quoted = |text: &str| text.len() > 1 && text.starts_with('"') && text.ends_with('"');
    let quoted = value.as_string().filter(|text| is_quoted(text) && sound(text).is_ok());
    match quoted {
        Some(text) => Opened::from_text(text, value),
        None => value.opened(),
    }
}

fn model_call(value: &Node<'_>, failed: bool, out: &mut Reading<'_>) -> ModelCall {
    let said = value.get("output").and_then(|output| dialect::reply(&unquoted(&output).node(), out));
    let mut reply = said.unwrap_or_else(|| Message::new(Role::Assistant));
    let counted = value.get(["usageDetails", "usage_details", "usage"]);
    reply.set_usage(counted.and_then(|counted| usage(&counted.opened().node(), value, out)));
    let cost = value.dollars(["calculatedTotalCost", "totalCost", "total_cost"], out);
    let costs = value.held(["costDetails", "cost_details"]);
    reply.set_cost(cost.or_else(|| costs.node().dollars("total", out)));
    reply.set_model(value.some_word(["model", "providedModelName", "provided_model_name"]).map(Into::into));
    if failed {
        reply.set_finish_reason(Some("error".into()));
    }
    let asked = value.get("input").map(|input| dialect::messages(&unquoted(&input).node(), Role::User, out));
    ModelCall { input: asked.unwrap_or_default(), reply }
}

/// The token counts of one call. The buckets do not overlap: all input buckets are added up, and all output buckets,
/// unless the total shows that plain `input` and `output` include the others.
fn usage(counted: &Node<'_>, observation: &Node<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    if let Some(usage) = dialect::usage(counted, out) {
        return Some(usage);
    }
    let (mut input, mut output) = (None::<u64>, None::<u64>);
    for (name, value) in counted.members() {
        let of_input = name.starts_with("input") || name.starts_with("cache_") || name.starts_with("prompt");
        let of_output = name.starts_with("output") || name.starts_with("completion") || name.starts_with("reasoning");
        let is_unit = value.starts_with('"') && name.ends_with("Unit");
        if *value == "null" || !(of_input || of_output) || is_unit || name.ends_with("Cost") {
            continue;
        }
        let count = out.tokens_at(observation.place(), value, &format!("usageDetails.{name}")).unwrap_or_default();
        let sum = if of_input { &mut input } else { &mut output };
        *sum = Some(sum.unwrap_or(0).saturating_add(count));
    }
    let (plain_in, plain_out) = (counted.some_count("input"), counted.some_count("output"));
    let total = counted.tokens("total", out);
    let plain = plain_in.unwrap_or(0).saturating_add(plain_out.unwrap_or(0));
    if total == Some(plain) && plain > 0 {
        (input, output) = (plain_in, plain_out);
    }
    let usage = Usage {
        input,
        cache_read: counted.some_count(["cache_read_input_tokens", "input_cached_tokens", "input_cache_read"]),
        cache_write: counted.some_count(["cache_creation_input_tokens", "input_cache_creation"]),
        output,
        reasoning: counted.some_count(["output_reasoning_tokens", "output_reasoning", "reasoning"]),
    };
    tokens::recorded(usage).map(|usage| tokens::with_others(usage, &[total]))
}
