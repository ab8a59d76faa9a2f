//! Writes runs as `whenstop trace v1`. Reading the output gives the same run.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::read::format::object_of;
use crate::record::node::Node;
use crate::transcript::{
    EndCause, Event, Grade, Instant, Json, Lane, Message, Metrics, Name, Outcome, Requests, Run, Text, ToolCall, Usage,
};
use crate::value::json;
use crate::value::time::rfc3339;

/// Writes a run as lines of `whenstop trace v1`.
pub fn write(run: &Run, mut to: impl Write) -> io::Result<()> {
    run_line(run).write(&mut to)?;
    run.events().iter().try_for_each(|event| write_event(event, &mut to))?;
    let Grade { outcome, score, end, secured_step, .. } = &run.grade;
    if *outcome != Outcome::Unknown || *end != EndCause::Unknown || score.is_some() || secured_step.is_some() {
        // A score by itself would be read as a grade, so an ungraded score gets an explicit word.
        let word = if score.is_some() { Some(outcome.name()) } else { None };
        let line = match outcome.grade() {
            Some(success) => Line::of_type("outcome").with("success", success),
            None => Line::of_type("outcome").with_some("success", word),
        };
        let line = line.with_some("score", *score).with("end", end.name()).with_some("secured_step", *secured_step);
        line.write(&mut to)?;
    }
    Ok(())
}

/// Writes one event as a line.
pub fn write_event(event: &Event, to: impl Write) -> io::Result<()> {
    let line = match event {
        Event::Message(message) => message_line(message),
        Event::Metrics(metrics) => metrics_line(metrics),
        Event::Judge(judge) => Line::of_type("judge")
            .with("reply", judge.reply.as_ref().map(Text::as_str))
            .with_some("error", judge.error.as_deref())
            .with_some("usage", judge.usage.and_then(usage)),
        Event::Checkpoint(checkpoint) => {
            Line::of_type("checkpoint").with("success", checkpoint.success).with_some("score", checkpoint.score)
        }
        Event::Note(note) => Line::of_type("note").with("kind", &*note.kind).with("body", one_line(&note.body)),
    };
    line.write(to)
}

/// A line being put together: an object of these members, in order.
struct Line(Vec<u8>);

impl Line {
    fn of_type(name: &str) -> Self {
        Self(Vec::new()).with("type", name)
    }

    /// The line with this member.
    fn with(mut self, name: &str, value: impl Serialize) -> Self {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.0.extend_from_slice(format!("\"{name}\":").as_bytes());
        // Writing to memory cannot fail, nor can texts, numbers and JSON.
        let _ = serde_json::to_writer(&mut self.0, &value);
        self
    }

    /// The line with this member, if it has a value.
    fn with_some(self, name: &str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    fn write(mut self, mut to: impl Write) -> io::Result<()> {
        self.0.extend_from_slice(b"}\n");
        to.write_all(&self.0)
    }
}

fn run_line(run: &Run) -> Line {
    let header = &run.header;
    let counted = run.totals.map(|totals| totals.usage).filter(|usage| !usage.is_empty());
    Line::of_type("run")
        .with("run_id", &header.run_id)
        .with_some("parent", header.parent.as_deref())
        .with_some("task_id", header.task_id.as_deref())
        .with_some("trial", header.trial.as_deref())
        .with_some("suite", header.suite.as_deref())
        .with_some("model", header.model.as_deref())
        .with_some("agent", header.agent.as_deref())
        .with_some("started_at", time(header.started_at))
        .with_some("ended_at", time(run.ended_at))
        .with_some("usage", counted.and_then(usage))
        .with_some("cost_usd", run.totals.and_then(|totals| totals.cost).map(|cost| cost.0))
        .with_some("meta", header.meta.as_deref().map(one_line))
        .with_some("prompted_by", Some(header.prompted_by.name()).filter(|name| !name.is_empty()))
        .with_some("delivered", header.delivered.as_deref())
        .with_some("redacted", Some(true).filter(|_| header.redacted))
        .with_some("requests", Some(header.requests.name()).filter(|_| header.requests != Requests::Recorded))
}

fn message_line(message: &Message) -> Line {
    let calls: Vec<Json> = message.tool_calls.iter().filter_map(call).collect();
    let mut line = Line::of_type("message")
        .with("role", message.role.name())
        .with_some("lane", lane(&message.lane))
        .with_some("origin", message.origin.name())
        .with("content", message.content.as_ref().filter(|text| !text.is_not_recorded()).map(Text::as_str))
        .with_some("reasoning", message.reasoning().map(Text::as_str))
        .with_some("tool_calls", Some(calls).filter(|calls| !calls.is_empty()))
        .with_some("tool_call_id", message.tool_call_id.as_deref())
        .with_some("name", message.name.as_deref())
        .with_some("is_error", message.is_error)
        .with_some("usage", message.usage().and_then(usage))
        .with_some("cost_usd", message.cost().map(|cost| cost.0))
        .with_some("ts", time(message.ts))
        .with_some("model", message.model())
        .with_some("finish_reason", message.finish_reason());
    if let Some(extra) = message.extra() {
        let extra = one_line(extra);
        // The fields that only some frameworks' rules read, as combined by this format's reader.
        for name in ["invalid_call", "native", "page", "plan_update", "target"] {
            let value = Node::from_written(&*extra).get(name).and_then(|value| value.kept());
            line = line.with_some(name, value);
        }
    }
    line
}

fn time(instant: Option<Instant>) -> Option<String> {
    instant.map(rfc3339).filter(|text| !text.is_empty())
}

fn lane(lane: &Lane) -> Option<String> {
    match lane {
        Lane::Main => None,
        Lane::Canned => Some("canned".to_owned()),
        Lane::Counterpart => Some("counterpart".to_owned()),
        Lane::Side(id) => Some(format!("side:{id}")),
        Lane::Host => Some("host".to_owned()),
    }
}

/// A call. Arguments that are an object are written as an object; anything else as a string.
fn call(call: &ToolCall) -> Option<Json> {
    let quoted = |text: &str| Value::from(text).to_string();
    let text = call.arguments.as_str();
    let may_be_object = text.starts_with('{') && text.ends_with('}') && !text.contains(['\n', '\r']);
    let arguments = if call.are_arguments_unknown() {
        None
    } else if may_be_object && serde_json::from_str::<&RawValue>(&text).is_ok() {
        Some(text.into_owned())
    } else {
        Some(quoted(&text))
    };
    let id = call.id.as_deref().map(quoted);
    object_of([("id", id), ("name", Some(quoted(&call.name))), ("arguments", arguments)])
}

fn usage(usage: Usage) -> Option<Json> {
    let Usage { input, cache_read, cache_write, output, reasoning } = usage;
    let counts = [
        ("input", input),
        ("cache_read", cache_read),
        ("cache_write", cache_write),
        ("output", output),
        ("reasoning", reasoning),
    ];
    object_of(counts).or_else(|| json::kept("{}"))
}

fn metrics_line(metrics: &Metrics) -> Line {
    let values = Some(MetricValues(&metrics.values)).filter(|values| !values.0.is_empty());
    Line::of_type("metrics")
        .with_some("experiment", metrics.experiment.as_deref())
        .with_some("status", metrics.status.as_deref())
        .with_some("values", values)
        .with_some("plan", metrics.plan.as_deref().map(one_line))
}

/// Numbers by name; repeated names are kept.
struct MetricValues<'a>(&'a [(Name, f64)]);

impl Serialize for MetricValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name.as_str(), value)))
    }
}

/// The same JSON without line feeds, which would end the line. Only white space between values can contain them.
fn one_line(json: &RawValue) -> Json {
    if !json.get().contains(['\n', '\r']) {
        return json.to_owned();
    }
    let joined = json.get().replace(['\n', '\r'], " ");
    RawValue::from_string(joined).unwrap_or_else(|_| json.to_owned())
}
