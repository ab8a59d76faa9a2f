//! OpenTelemetry GenAI spans: the collector's file exporter with one OTLP/JSON request per line, complete documents,
//! and the console exporter's spans.
//!
//! A run is a conversation, or else a trace. Spans are written in the order in which they end and may be spread over
//! lines, so the whole file is read.

mod attributes;
mod span;

use std::collections::HashMap;

use self::attributes::Attributes;
use self::span::SpanEvent;
use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::by_name::ByName;
use crate::read::spans::{self, Span, SpanContent};
use crate::record::node::Node;
use crate::record::outcomes::{by_label_or_score, native_grade};
use crate::record::reading::{Reading, Record};
use crate::transcript::{EndCause, Grade, Header, Instant};
use crate::value::{json, time};

/// OpenTelemetry GenAI spans.
pub(super) static FORMAT: Format = Format {
    id: "otel",
    summary: "OpenTelemetry GenAI spans (OTLP/JSON; GenAI, OpenInference and OpenLLMetry conventions)",
    recognise,
    joins_lines: |_| true,
    ..Format::reading(read)
};

/// Names of the lists in an export request, in both spellings.
const RESOURCES: &[&str] = &["resourceSpans", "resource_spans", "resourceLogs", "resource_logs"];

fn recognise(probe: &Probe) -> Option<String> {
    for value in &probe.values {
        for place in [Some(value), value.get("data"), value.first()].into_iter().flatten() {
            if let Some(name) = RESOURCES.iter().find(|name| place.has(&[name])) {
                return Some(format!("`{name}` of an OTLP request"));
            }
        }
    }
    let is_console =
        |value: &Sketch| value.has_within("context", &["trace_id", "span_id"]) && value.has(&["attributes"]);
    let is_span = |value: &Sketch| value.has(&["traceId", "spanId", "attributes"]) || is_console(value);
    let spans = probe.any(|value| is_span(value) || matches!(value.first(), Some(first) if is_span(first)));
    reason_if(spans, "spans with a trace and attributes")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut traces = Traces::default();
    for line in Node::rows(record, out) {
        traces.request(&line, out);
    }
    traces.hand_over(record.options.outcome_key.as_deref(), out);
}

/// A span as recorded.
struct RecordedSpan<'r> {
    trace: String,
    span: Span,
    attributes: Attributes<'r>,
    events: Vec<SpanEvent<'r>>,
    error: Option<String>,
    status: SpanStatus,
    service: Option<String>,
    /// The line it is in.
    line: &'r str,
}

/// A span's status.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpanStatus {
    Unset,
    Ok,
    Error,
}

/// All spans and log records in a file.
#[derive(Default)]
struct Traces<'r> {
    spans: Vec<RecordedSpan<'r>>,
    /// Log records by trace id and span id.
    logs: HashMap<(String, String), Vec<SpanEvent<'r>>>,
}

impl<'r> Traces<'r> {
    /// Reads one export request in any wrapping, or bare spans.
    fn request(&mut self, line: &Node<'r>, out: &mut Reading<'_>) {
        let data = line.get("data").filter(|data| data.is_object() || data.is_list());
        let value = data.as_ref().unwrap_or(line);
        for request in value.elements().unwrap_or_else(|| vec![value.clone()]) {
            let mut known = is_metric(&request);
            for (names, scopes) in [
                (["resourceSpans", "resource_spans"], ["scopeSpans", "scope_spans", "instrumentationLibrarySpans"]),
                (["resourceLogs", "resource_logs"], ["scopeLogs", "scope_logs", "instrumentationLibraryLogs"]),
            ] {
                let Some(resources) = request.get(names) else { continue };
                known = true;
                let Some(resources) = resources.elements() else {
                    out.error_at(line.place(), format!("`{}` should be an array", names[0]), "the line is left out");
                    continue;
                };
                for resource in resources {
                    self.resource(&resource, scopes, line, out);
                }
            }
            if request.has(["attributes", "spanId", "span_id"]) {
                known = true;
                self.span(&request, None, line, out);
            }
            match request.some_word("type").filter(|_| !known) {
                Some(kind) => out.unknown(&kind, &request),
                None if known => {}
                None => out.error_at(line.place(), "neither an export request nor a span", "it is left out"),
            }
        }
    }

    fn resource(&mut self, resource: &Node<'r>, scopes: [&str; 3], line: &Node<'r>, out: &mut Reading<'_>) {
        let attributes = Attributes::from_written(resource.at(&["resource", "attributes"]).as_ref());
        let service = attributes.word(&["service.name"]);
        for scope in resource.some_list(scopes) {
            for span in scope.some_list("spans") {
                self.span(&span, service.as_deref(), line, out);
            }
            for log in scope.some_list(["logRecords", "log_records"]) {
                self.log(&log);
            }
        }
    }

    fn log(&mut self, log: &Node<'r>) {
        let event = event_of(log);
        let trace = log.some_word(["traceId", "trace_id"]).unwrap_or_default();
        let span = log.some_word(["spanId", "span_id"]).unwrap_or_default();
        if event.name.starts_with("gen_ai.") {
            self.logs.entry((trace, span)).or_default().push(event);
        }
    }

    fn span(&mut self, span: &Node<'r>, service: Option<&str>, line: &Node<'r>, out: &mut Reading<'_>) {
        let context = span.get("context");
        let context = context.as_ref().unwrap_or(span);
        let id = context.some_word(["spanId", "span_id"]).filter(|id| !id.is_empty());
        let trace = context.some_word(["traceId", "trace_id"]).filter(|id| !id.is_empty());
        let (Some(id), Some(trace)) = (id, trace) else {
            return out.error_at(line.place(), "a span without `traceId` and `spanId`", "the span is left out");
        };
        let attributes = Attributes::from_written(span.get("attributes").as_ref());
        let said = span.within("status");
        let status = status_of(&said);
        let message = said.some_word(["message", "description"]);
        let mut error = attributes.word(&["error.type"]);
        if error.is_none() && status == SpanStatus::Error {
            error = Some(String::new());
        }
        let error = error.map(|kind| format!("{kind} {}", message.unwrap_or_default()));
        let start = span.within(["startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time"]);
        let end = span.within(["endTimeUnixNano", "end_time_unix_nano", "endTime", "end_time"]);
        self.spans.push(RecordedSpan {
            span: Span {
                id,
                parent: span.some_word(["parentSpanId", "parent_span_id", "parent_id"]).filter(|id| !id.is_empty()),
                start: nanoseconds(&start),
                end: instant(&end),
                name: span.some_word("name").unwrap_or_default(),
                kind: SpanContent::Other,
            },
            trace,
            attributes,
            events: span.some_list("events").iter().map(event_of).collect(),
            error,
            status,
            service: service.map(str::to_owned),
            line: line.place(),
        });
    }

    /// Delivers a run for each conversation or trace that has a model call.
    fn hand_over(mut self, key: Option<&str>, out: &mut Reading<'_>) {
        let mut talks: HashMap<String, String> = HashMap::new();
        for recorded in &self.spans {
            if let Some(talk) = recorded.attributes.word(&["gen_ai.conversation.id"]) {
                talks.entry(recorded.trace.clone()).or_insert(talk);
            }
        }
        let mut runs: ByName<Vec<RecordedSpan<'r>>> = ByName::default();
        for recorded in std::mem::take(&mut self.spans) {
            let name = talks.get(&recorded.trace).unwrap_or(&recorded.trace).clone();
            runs.named(name).push(recorded);
        }
        for (name, spans) in runs.all {
            self.run(name, spans, key, out);
        }
    }

    fn run(&mut self, name: String, recorded: Vec<RecordedSpan<'r>>, key: Option<&str>, out: &mut Reading<'_>) {
        let mut header = Header { run_id: name, ..Header::default() };
        let mut graded = Grade::default();
        let mut found = Vec::new();
        let mut traces = Vec::new();
        let mut root: Option<(Option<i128>, EndCause)> = None;
        let mut agent: Option<(Option<i128>, String)> = None;
        for mut one in recorded {
            let logs = self.logs.remove(&(one.trace.clone(), one.span.id.clone())).unwrap_or_default();
            one.events.extend(logs);
            for event in &one.events {
                if event.name == "gen_ai.client.inference.operation.details" {
                    one.attributes.fill_from(event.attributes.clone());
                }
                grade(event, key, &mut graded);
            }
            one.span.kind = span::kind(&one.attributes, &one.events, one.error.is_some(), one.line, out);
            name_span(&mut one);
            if one.span.parent.is_none() && root.as_ref().is_none_or(|(start, _)| *start <= one.span.start) {
                root = Some((one.span.start, end_of(&one)));
            }
            if matches!(one.span.kind, SpanContent::Agent)
                && agent.as_ref().is_none_or(|(start, _)| *start > one.span.start)
            {
                agent = Some((one.span.start, one.span.name.clone()));
            }
            if header.agent.is_none() {
                header.agent.clone_from(&one.service);
            }
            if !traces.contains(&one.trace) && traces.len() < 64 {
                traces.push(one.trace);
            }
            found.push(one.span);
        }
        for trace in traces {
            for event in self.logs.remove(&(trace, String::new())).into_iter().flatten() {
                grade(&event, key, &mut graded);
            }
        }
        let begun = found.iter().filter_map(|span| span.start).min();
        header.started_at = begun.and_then(|start| i64::try_from(start / 1_000_000).ok()).map(Instant);
        header.ended_at = found.iter().filter_map(|span| span.end).max();
        header.agent = agent.map(|(_, name)| name).or(header.agent);
        graded.end = match root {
            Some((_, end)) => end,
            None => EndCause::Unknown,
        };
        spans::hand_over(found, header, graded, "trace without model calls", out);
    }
}

/// Sets the name to show: that of the agent or tool.
fn name_span(one: &mut RecordedSpan<'_>) {
    let names: &[&str] = match one.span.kind {
        SpanContent::Tool(_) => &["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"],
        SpanContent::Agent => &["gen_ai.agent.name", "agent.name", "graph.node.id", "traceloop.entity.name"],
        SpanContent::Model(_) | SpanContent::Other => return,
    };
    let bare = one.span.name.trim_start_matches("execute_tool ").trim_start_matches("invoke_agent ").to_owned();
    one.span.name = one.attributes.word(names).unwrap_or(bare);
}

/// The end cause, judged by the root span.
fn end_of(one: &RecordedSpan<'_>) -> EndCause {
    match (&one.error, one.status) {
        (Some(error), _) => spans::end_by_error(error),
        (None, SpanStatus::Ok) => EndCause::SelfFinish,
        (None, _) => EndCause::Unknown,
    }
}

/// Reads an evaluation, if it is the one that the user named.
fn grade(event: &SpanEvent<'_>, key: Option<&str>, grade: &mut Grade) {
    if key.is_none() || event.name != "gen_ai.evaluation.result" {
        return;
    }
    let body = Node::from_written(&*event.body);
    let own = |name: &str| event.attributes.get(&[name]).is_some();
    let word = |name: &str| if own(name) { event.attributes.word(&[name]) } else { body.some_word(name) };
    if word("gen_ai.evaluation.name").as_deref() != key {
        return;
    }
    let value = "gen_ai.evaluation.score.value";
    let score = if own(value) { event.attributes.number(&[value]) } else { body.some_number(value) };
    let label = word("gen_ai.evaluation.score.label");
    let graded = by_label_or_score(label.as_deref(), score);
    let found = native_grade("gen_ai.evaluation.result", graded, score);
    (grade.outcome, grade.score, grade.source) = (found.outcome, found.score, found.source);
}

/// A span's event, or a log record.
fn event_of<'r>(value: &Node<'r>) -> SpanEvent<'r> {
    let attributes = Attributes::from_written(value.get("attributes").as_ref());
    let name = value.some_word(["name", "eventName", "event_name"]).filter(|name| !name.is_empty());
    SpanEvent {
        name: name.or_else(|| attributes.word(&["event.name"])).unwrap_or_default(),
        attributes,
        body: attributes::any_value(value.get("body").as_ref()),
    }
}

/// The status code from a number, a name, or the console exporter's word.
fn status_of(status: &Node<'_>) -> SpanStatus {
    match status.some_word(["code", "status_code"]).unwrap_or_default().as_str() {
        "1" | "STATUS_CODE_OK" | "OK" | "Ok" => SpanStatus::Ok,
        "2" | "STATUS_CODE_ERROR" | "ERROR" | "Error" => SpanStatus::Error,
        _ => SpanStatus::Unset,
    }
}

/// Whether it is about metrics, which hold sums that the spans have one by one.
fn is_metric(request: &Node<'_>) -> bool {
    request.mentions("resourceMetrics") || request.mentions("dataPoints") || request.is("type", "metric")
}

/// A time: as in every format, or seconds and nanoseconds in an array, as Node's exporters write it.
fn instant(value: &Node<'_>) -> Option<Instant> {
    if value.is_list() {
        return i64::try_from(nanoseconds(value)? / 1_000_000).ok().map(Instant);
    }
    time::instant(value)
}

/// Nanoseconds since 1970, from a number, a string of digits, ISO 8601, or seconds and nanoseconds in an array.
fn nanoseconds(value: &Node<'_>) -> Option<i128> {
    if let Some([seconds, rest]) = value.elements().as_deref() {
        let part = |node: &Node<'_>| json::count(node).map(i128::from);
        return Some(part(seconds)? * 1_000_000_000 + part(rest)?);
    }
    match value.as_word()?.parse::<i128>() {
        Ok(number) if number > 1_000_000_000_000_000_000 => Some(number),
        _ => time::instant(value).map(|instant| i128::from(instant.0) * 1_000_000),
    }
}
