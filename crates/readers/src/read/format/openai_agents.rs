//! OpenAI Agents SDK traces: trace and span objects, as exported or one per line.
//!
//! The standard exporter omits replies but keeps usage and tools; spans of type `turn` and `task` repeat the usage of
//! the spans inside them.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::by_name::ByName;
use crate::read::dialect;
use crate::read::spans::{self, ModelCall, Span, SpanContent, ToolRun};
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Grade, Header, Instant, Message, Role};

/// OpenAI Agents SDK traces.
pub(super) static FORMAT: Format = Format {
    id: "openai-agents",
    summary: "OpenAI Agents SDK traces: `trace` and `trace.span` objects, in `data` or one a line",
    recognise,
    joins_lines: |_| true,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_item = |value: &Sketch| {
        matches!(value.text_of("object").as_deref(), Some("trace" | "trace.span"))
            || (value.has(&["span_data", "trace_id"]))
    };
    let holds = |value: &Sketch| {
        let listed = |name: &str| value.elements_of(name).iter().any(is_item);
        is_item(value) || value.elements().iter().any(is_item) || listed("data") || listed("spans")
    };
    reason_if(probe.any(holds), "objects that are a `trace` or a `trace.span`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut export = OpenAiAgentsExport::default();
    for value in Node::rows(record, out) {
        let items: Vec<Node<'_>> = ["data", "spans"].iter().flat_map(|name| value.some_list(*name)).collect();
        for item in &items {
            export.item(item, out);
        }
        if items.is_empty() || value.mentions("object") {
            export.item(&value, out);
        }
    }
    export.hand_over(out);
}

/// A trace being read.
#[derive(Default)]
struct OpenAiAgentsTrace {
    workflow: Option<String>,
    spans: Vec<Span>,
    failed: Option<String>,
}

/// All traces of a file.
#[derive(Default)]
struct OpenAiAgentsExport {
    traces: ByName<OpenAiAgentsTrace>,
}

impl OpenAiAgentsExport {
    fn item(&mut self, item: &Node<'_>, out: &mut Reading<'_>) {
        if item.is("object", "trace")
            && let Some(id) = item.some_word(["id", "trace_id"])
        {
            let name = item.some_word(["workflow_name", "name"]);
            let trace = self.traces.named(id);
            trace.workflow = name.or(trace.workflow.take());
            return;
        }
        let (Some(id), Some(trace)) = (item.some_word(["id", "span_id"]), item.some_word("trace_id")) else {
            return out.error_at(item.place(), "neither a trace nor a span of one", "it is left out");
        };
        let Some(data) = item.get("span_data").filter(Node::is_object) else {
            return out.error_at(item.place(), "a span without `span_data`", "the span is left out");
        };
        let error = item.get("error").map(|error| match error.some_word("message") {
            Some(message) => format!("{message} {}", error.get("data").map(|data| data.compact()).unwrap_or_default()),
            None => error.compact(),
        });
        let kind = match data.some_word("type").as_deref() {
            Some("generation" | "response") => SpanContent::Model(Box::new(model_call(&data, error.is_some(), out))),
            Some("function") => SpanContent::Tool(ToolRun {
                call_id: data.some_word(["call_id", "tool_call_id"]),
                arguments: data.get("input").map(|input| input.compact_text()),
                result: data.get("output").map(|output| output.compact_text()),
                is_error: Some(error.is_some()),
            }),
            // A handoff is a call of the tool named after it.
            Some("handoff") => SpanContent::Tool(ToolRun { is_error: Some(error.is_some()), ..ToolRun::default() }),
            Some("agent") => SpanContent::Agent,
            Some(kind) if OTHERS.contains(&kind) => SpanContent::Other,
            other => {
                out.unknown(&format!("span {}", other.unwrap_or_default()), &data);
                SpanContent::Other
            }
        };
        let end = item.some_instant("ended_at");
        let start = item.some_instant("started_at").map(|start| i128::from(start.0));
        let is_agent = matches!(kind, SpanContent::Agent);
        let trace = self.traces.named(trace);
        if let Some(error) = error.filter(|_| is_agent) {
            trace.failed = Some(error);
        }
        let parent = item.some_word("parent_id");
        let handed = || data.some_word("to_agent").map(|agent| transfer_name(&agent));
        let name = data.some_word("name").or_else(handed).unwrap_or_default();
        trace.spans.push(Span { id, parent, start, end, name, kind });
    }

    fn hand_over(self, out: &mut Reading<'_>) {
        for (name, trace) in self.traces.all {
            let first_agent = trace.spans.iter().filter(|span| matches!(span.kind, SpanContent::Agent));
            let agent = first_agent.min_by_key(|span| span.start).map(|span| span.name.clone());
            let begun = trace.spans.iter().filter_map(|span| span.start).min();
            let header = Header {
                run_id: name,
                agent: agent.or(trace.workflow),
                started_at: begun.and_then(|start| i64::try_from(start).ok()).map(Instant),
                ended_at: trace.spans.iter().filter_map(|span| span.end).max(),
                ..Header::default()
            };
            let mut grade = Grade::default();
            if let Some(error) = &trace.failed {
                grade.end = spans::end_by_error(error);
            }
            spans::hand_over(trace.spans, header, grade, "trace without model calls", out);
        }
    }
}

/// Types of spans that are neither the agent's calls nor its tools'.
const OTHERS: &[&str] =
    &["guardrail", "custom", "mcp_tools", "speech", "speech_group", "transcription", "turn", "task"];

/// The name that the SDK gives the tool for a handoff to `agent`.
fn transfer_name(agent: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    format!("transfer_to_{}", agent.chars().map(plain).collect::<String>())
}

/// A model call through either API. Input includes cached tokens, output includes reasoning.
fn model_call(data: &Node<'_>, failed: bool, out: &mut Reading<'_>) -> ModelCall {
    let response = data.held("response");
    let response = response.node();
    let own = |name: &str| if data.has(name) { data.held(name) } else { response.held(name) };
    let (said, counted) = (own("output"), own("usage"));
    let counted = counted.node();
    let mut reply = dialect::reply(&said.node(), out).unwrap_or_else(|| Message::new(Role::Assistant));
    reply.set_usage(dialect::usage(&counted, out).or(reply.usage()));
    reply.set_model(data.some_word("model").or_else(|| response.some_word("model")).map(Into::into));
    if failed {
        reply.set_finish_reason(Some("error".into()));
    }
    let input = data.get("input").map(|input| dialect::messages(&input, Role::User, out)).unwrap_or_default();
    ModelCall { input, reply }
}
