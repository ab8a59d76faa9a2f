//! OpenAI Agents SDK traces: objects that are traces and spans, as exported or one a line.
//!
//! The stock exporter leaves replies out and keeps usage and tools; spans of type `turn` and `task`
//! repeat the usage of what they hold.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::{Format, Layout};
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::spans::{self, Kind, ModelCall, Span, ToolRun};
use crate::reader::value_dialect::{self as dialect, as_count, as_text, pick, word};
use crate::reader::{json, rows, time};
use crate::transcript::{Draft, EndCause, Header, Instant, Message, Role};

/// OpenAI Agents SDK traces.
pub(super) struct OpenAiAgents;

impl Format for OpenAiAgents {
    fn id(&self) -> &'static str {
        "openai-agents"
    }

    fn summary(&self) -> &'static str {
        "OpenAI Agents SDK traces: `trace` and `trace.span` objects, in `data` or one a line"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_item = |value: &Sketch| {
            matches!(value.text_of("object").as_deref(), Some("trace" | "trace.span"))
                || (value.has(&["span_data", "trace_id"]))
        };
        let holds = |value: &Sketch| {
            let listed = |name: &str| value.get(name).is_some_and(|list| list.elements().iter().any(is_item));
            is_item(value) || value.elements().iter().any(is_item) || listed("data") || listed("spans")
        };
        probe.values.iter().any(holds).then(|| "objects that are a `trace` or a `trace.span`".to_owned())
    }

    fn joins_lines(&self, _first: &Sketch) -> bool {
        true
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let mut export = Export::default();
        for raw in rows::values(record, out) {
            match json::value(raw.get()) {
                Ok(value) => {
                    let lists = ["data", "spans"].iter().filter_map(|name| value.get(name)).filter_map(Value::as_array);
                    let mut any = false;
                    for item in lists.flatten() {
                        any = true;
                        export.item(raw, item, out);
                    }
                    if !any || value.get("object").is_some() {
                        export.item(raw, &value, out);
                    }
                }
                Err(error) => out.error(record.broken(raw.get(), &error)),
            }
        }
        export.hand_over(out);
    }
}

/// One trace while its spans are read.
#[derive(Default)]
struct Trace {
    workflow: Option<String>,
    spans: Vec<Span>,
    failed: Option<String>,
}

/// All traces of a file.
#[derive(Default)]
struct Export {
    traces: Vec<(String, Trace)>,
    places: BTreeMap<String, usize>,
}

impl Export {
    fn trace(&mut self, name: String) -> &mut Trace {
        let at = *self.places.entry(name.clone()).or_insert_with(|| {
            self.traces.push((name, Trace::default()));
            self.traces.len() - 1
        });
        &mut self.traces[at].1
    }

    fn item(&mut self, raw: &RawValue, item: &Value, out: &mut Reading<'_>) {
        let is_trace = item.get("object").and_then(Value::as_str) == Some("trace");
        if is_trace && let Some(id) = word(item, &["id", "trace_id"]) {
            let name = word(item, &["workflow_name", "name"]);
            let trace = self.trace(id);
            trace.workflow = name.or(trace.workflow.take());
            return;
        }
        let (Some(id), Some(trace)) = (word(item, &["id", "span_id"]), word(item, &["trace_id"])) else {
            return out.error_at(raw.get(), "neither a trace nor a span of one", "it is left out");
        };
        let Some(data) = item.get("span_data").filter(|data| data.is_object()) else {
            return out.error_at(raw.get(), "a span without `span_data`", "the span is left out");
        };
        let error = pick(item, &["error"]).map(|error| match word(error, &["message"]) {
            Some(message) => format!("{message} {}", error.get("data").map(Value::to_string).unwrap_or_default()),
            None => error.to_string(),
        });
        let kind = match word(data, &["type"]).as_deref() {
            Some("generation" | "response") => Kind::Model(Box::new(model_call(data, error.is_some(), raw, out))),
            Some("function") => Kind::Tool(ToolRun {
                call_id: word(data, &["call_id", "tool_call_id"]),
                arguments: pick(data, &["input"]).map(as_text),
                result: pick(data, &["output"]).map(as_text),
                is_error: Some(error.is_some()),
            }),
            // To hand over is a call of a tool of that name.
            Some("handoff") => Kind::Tool(ToolRun { is_error: Some(error.is_some()), ..ToolRun::default() }),
            Some("agent") => Kind::Agent,
            _ => Kind::Other,
        };
        let end = pick(item, &["ended_at"]).and_then(time::of_value);
        let start = pick(item, &["started_at"]).and_then(time::of_value).map(|start| i128::from(start.0));
        let is_agent = matches!(kind, Kind::Agent);
        let trace = self.trace(trace);
        if let Some(error) = error.filter(|_| is_agent) {
            trace.failed = Some(error);
        }
        let parent = word(item, &["parent_id"]);
        let handed = || word(data, &["to_agent"]).map(|agent| transfer_name(&agent));
        let name = word(data, &["name"]).or_else(handed).unwrap_or_default();
        trace.spans.push(Span { id, parent, start, end, name, kind });
    }

    fn hand_over(self, out: &mut Reading<'_>) {
        for (name, trace) in self.traces {
            if !trace.spans.iter().any(|span| matches!(span.kind, Kind::Model(_))) {
                out.unknown("trace without model calls");
                continue;
            }
            let first_agent = trace.spans.iter().filter(|span| matches!(span.kind, Kind::Agent));
            let agent = first_agent.min_by_key(|span| span.start).map(|span| span.name.clone());
            let begun = trace.spans.iter().filter_map(|span| span.start).min();
            let header = Header {
                run_id: name,
                agent: agent.or(trace.workflow),
                started_at: begun.and_then(|start| i64::try_from(start).ok()).map(Instant),
                ended_at: trace.spans.iter().filter_map(|span| span.end).max(),
                ..Header::default()
            };
            let mut draft = Draft { header, ..Draft::default() };
            draft.grade.end = trace.failed.as_deref().map_or(EndCause::Unknown, spans::end_by_error);
            let talk = spans::conversation(trace.spans);
            draft.header.model = talk.model();
            (draft.events, draft.warnings) = (talk.events, talk.warnings);
            out.run(draft);
        }
    }
}

/// The tool that hands over to `agent`, as the SDK names it.
fn transfer_name(agent: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    format!("transfer_to_{}", agent.chars().map(plain).collect::<String>())
}

/// A model call, by either API. Input includes cached tokens, output includes reasoning.
fn model_call(data: &Value, failed: bool, raw: &RawValue, out: &mut Reading<'_>) -> ModelCall {
    let response = pick(data, &["response"]).map(dialect::unwrapped).unwrap_or_default();
    let said = pick(data, &["output"]).or_else(|| pick(&response, &["output"]));
    let mut reply = said.and_then(dialect::reply).unwrap_or_else(|| Message::new(Role::Assistant));
    let counted = pick(data, &["usage"]).or_else(|| pick(&response, &["usage"]));
    for name in ["input_tokens", "output_tokens"] {
        let odd = counted.and_then(|usage| pick(usage, &[name])).filter(|value| as_count(value).is_none());
        if let Some(odd) = odd {
            let what = format!("`usage.{name}` should be a whole number, 0 or more, not `{odd}`");
            out.error_at(raw.get(), what, "this field is left out");
        }
    }
    reply.usage = counted.and_then(dialect::usage).or(reply.usage);
    reply.model = word(data, &["model"]).or_else(|| word(&response, &["model"])).map(Into::into);
    if failed {
        reply.finish_reason = Some("error".into());
    }
    let input = pick(data, &["input"]).map(|input| dialect::messages(input, Role::User)).unwrap_or_default();
    ModelCall { input, reply }
}
