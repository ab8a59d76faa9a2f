//! Writes runs as `whenstop trace v1`. Reading the output gives the same run.

use std::io::{self, Write};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::transcript::{
    EndCause, Event, Grade, Instant, Json, Lane, Message, Metrics, Name, Outcome, Requests, Run, Text, ToolCall, Usage,
};

/// Writes a run as lines of `whenstop trace v1`.
pub fn write(run: &Run, mut to: impl Write) -> io::Result<()> {
    run_line(run).write_line(&mut to)?;
    run.events().iter().try_for_each(|event| write_event(event, &mut to))?;
    let Grade { outcome, score, end, secured_step, .. } = &run.grade;
    if *outcome != Outcome::Unknown || *end != EndCause::Unknown || score.is_some() || secured_step.is_some() {
        // A score by itself would be read as a grade, so an ungraded score gets an explicit word.
        let word = if score.is_some() { Some(outcome.name()) } else { None };
        let line = match outcome.grade() {
            Some(success) => WrittenObject::with_type("outcome").with("success", success),
            None => WrittenObject::with_type("outcome").with_some("success", word),
        };
        let line = line.with_some("score", *score).with("end", end.name()).with_some("secured_step", *secured_step);
        line.write_line(&mut to)?;
    }
    Ok(())
}

/// Writes one event as a line.
pub fn write_event(event: &Event, to: impl Write) -> io::Result<()> {
    let line = match event {
        Event::Message(message) => message_line(message),
        Event::Metrics(metrics) => metrics_line(metrics),
        Event::Judge(judge) => WrittenObject::with_type("judge")
            .with("reply", judge.reply.as_ref().map(Text::as_str))
            .with_some("error", judge.error.as_deref())
            .with_some("usage", judge.usage.map(RecordedTokens)),
        Event::Checkpoint(checkpoint) => WrittenObject::with_type("checkpoint")
            .with("success", checkpoint.success)
            .with_some("score", checkpoint.score),
        Event::Note(note) => {
            WrittenObject::with_type("note").with("kind", &*note.kind).with("body", one_line(&note.body))
        }
    };
    line.write_line(to)
}

/// A JSON object being written: its members so far, in order.
#[derive(Default)]
struct WrittenObject(Vec<u8>);

impl WrittenObject {
    fn with_type(name: &str) -> Self {
        Self::default().with("type", name)
    }

    /// The object with this member.
    fn with(mut self, name: &str, value: impl Serialize) -> Self {
        self.begin(name);
        // Writing to memory cannot fail, nor can texts, numbers and JSON.
        let _ = serde_json::to_writer(&mut self.0, &value);
        self
    }

    /// The object with this member, if it has a value.
    fn with_some(self, name: &str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The object with a member that is JSON already.
    fn with_written(mut self, name: &str, json: &[u8]) -> Self {
        self.begin(name);
        self.0.extend_from_slice(json);
        self
    }

    /// Begins a member; its name needs no escapes.
    fn begin(&mut self, name: &str) {
        self.0.extend_from_slice(if self.0.is_empty() { b"{\"" } else { b",\"" });
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    /// The whole object, which has a member.
    fn finish(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }

    fn write_line(self, mut to: impl Write) -> io::Result<()> {
        let mut line = self.finish();
        line.push(b'\n');
        to.write_all(&line)
    }
}

fn run_line(run: &Run) -> WrittenObject {
    let header = &run.header;
    let counted = run.totals.map(|totals| totals.usage).filter(|usage| !usage.is_empty());
    WrittenObject::with_type("run")
        .with("run_id", &header.run_id)
        .with_some("parent", header.parent.as_deref())
        .with_some("task_id", header.task_id.as_deref())
        .with_some("trial", header.trial.as_deref())
        .with_some("suite", header.suite.as_deref())
        .with_some("model", header.model.as_deref())
        .with_some("agent", header.agent.as_deref())
        .with_some("started_at", time(header.started_at))
        .with_some("ended_at", time(run.ended_at))
        .with_some("usage", counted.map(RecordedTokens))
        .with_some("cost_usd", run.totals.and_then(|totals| totals.cost).map(|cost| cost.0))
        .with_some("meta", header.meta.as_deref().map(one_line))
        .with_some("prompted_by", Some(header.prompted_by.name()).filter(|name| !name.is_empty()))
        .with_some("delivered", header.delivered.as_deref())
        .with_some("redacted", Some(true).filter(|_| header.redacted))
        .with_some("requests", Some(header.requests.name()).filter(|_| header.requests != Requests::Recorded))
}

fn message_line(message: &Message) -> WrittenObject {
    let line = WrittenObject::with_type("message")
        .with("role", message.role.name())
        .with_some("lane", lane(&message.lane))
        .with_some("origin", Some(message.origin.name()).filter(|name| !name.is_empty()))
        .with("content", message.content.as_ref().filter(|text| !text.is_not_recorded()).map(Text::as_str))
        .with_some("reasoning", message.reasoning().map(Text::as_str));
    let line = if message.tool_calls.is_empty() { line } else { line.with_written("tool_calls", &calls(message)) };
    let extra = match message.extra() {
        Some(extra) => serde_json::from_str(one_line(extra).get()).unwrap_or_default(),
        None => Extra::default(),
    };
    line.with_some("tool_call_id", message.tool_call_id.as_deref())
        .with_some("name", message.name.as_deref())
        .with_some("is_error", message.is_error)
        .with_some("usage", message.usage().map(RecordedTokens))
        .with_some("cost_usd", message.cost().map(|cost| cost.0))
        .with_some("ts", time(message.ts))
        .with_some("model", message.model())
        .with_some("finish_reason", message.finish_reason())
        .with_some("invalid_call", extra.invalid_call)
        .with_some("native", extra.native)
        .with_some("page", extra.page)
        .with_some("plan_update", extra.plan_update)
        .with_some("target", extra.target)
}

/// The fields that only some frameworks' rules read, as combined by this format's reader.
#[derive(Default, Deserialize)]
struct Extra {
    invalid_call: Option<Json>,
    native: Option<Json>,
    page: Option<Json>,
    plan_update: Option<Json>,
    target: Option<Json>,
}

fn time(instant: Option<Instant>) -> Option<String> {
    instant.map(Instant::to_rfc3339).filter(|text| !text.is_empty())
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

/// The calls of a message. Arguments that are an object are written as an object; anything else as a string.
fn calls(message: &Message) -> Vec<u8> {
    let mut list = vec![b'['];
    for call in &message.tool_calls {
        if list.len() > 1 {
            list.push(b',');
        }
        list.extend(written_call(call));
    }
    list.push(b']');
    list
}

fn written_call(call: &ToolCall) -> Vec<u8> {
    let object = WrittenObject::default().with_some("id", call.id.as_deref()).with("name", &*call.name);
    if call.are_arguments_unknown() {
        return object.finish();
    }
    let text = call.arguments.as_str();
    let may_be_object = text.starts_with('{') && text.ends_with('}') && !text.contains(['\n', '\r']);
    if may_be_object && serde_json::from_str::<&RawValue>(&text).is_ok() {
        return object.with_written("arguments", text.as_bytes()).finish();
    }
    object.with("arguments", &*text).finish()
}

/// Counts of tokens, of which only the recorded ones are written.
struct RecordedTokens(Usage);

impl Serialize for RecordedTokens {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Usage { input, cache_read, cache_write, output, reasoning } = self.0;
        let counts = [
            ("input", input),
            ("cache_read", cache_read),
            ("cache_write", cache_write),
            ("output", output),
            ("reasoning", reasoning),
        ];
        serializer.collect_map(counts.into_iter().filter(|(_, count)| count.is_some()))
    }
}

fn metrics_line(metrics: &Metrics) -> WrittenObject {
    let values = Some(MetricValues(&metrics.values)).filter(|values| !values.0.is_empty());
    WrittenObject::with_type("metrics")
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
