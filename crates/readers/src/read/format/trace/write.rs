//! Writes runs as `whenstop trace v1`. Reading the output gives the same run.

use std::io::{self, Write};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::transcript::{
    EndCause, Event, Grade, Instant, Json, Lane, Message, Metrics, Name, Outcome, Requests, Run, Text, ToolCall, Usage,
};
use crate::value::time::rfc3339;

/// Writes a run as lines of `whenstop trace v1`.
pub fn write(run: &Run, mut to: impl Write) -> io::Result<()> {
    line(&mut to, &run_line(run))?;
    run.events().iter().try_for_each(|event| write_event(event, &mut to))?;
    let Grade { outcome, score, end, secured_step, .. } = &run.grade;
    if *outcome != Outcome::Unknown || *end != EndCause::Unknown || score.is_some() || secured_step.is_some() {
        let success = success(*outcome, *score);
        let (score, end, secured_step) = (*score, end.name(), *secured_step);
        line(&mut to, &OutcomeLine { line_type: "outcome", success, score, end, secured_step })?;
    }
    Ok(())
}

/// Writes one event as a line.
pub fn write_event(event: &Event, mut to: impl Write) -> io::Result<()> {
    match event {
        Event::Message(message) => line(&mut to, &message_line(message)),
        Event::Metrics(metrics) => line(&mut to, &metrics_line(metrics)),
        Event::Judge(judge) => line(
            &mut to,
            &JudgeLine {
                line_type: "judge",
                reply: judge.reply.as_ref().map(Text::as_str),
                error: judge.error.as_deref(),
                usage: judge.usage.as_ref().map(usage),
            },
        ),
        Event::Checkpoint(checkpoint) => line(
            &mut to,
            &CheckpointLine { line_type: "checkpoint", success: checkpoint.success, score: checkpoint.score },
        ),
        Event::Note(note) => {
            line(&mut to, &NoteLine { line_type: "note", kind: &note.kind, body: one_line(&note.body) })
        }
    }
}

/// The success field. A score by itself would be read as a grade, so an ungraded score gets an explicit word.
fn success(outcome: Outcome, score: Option<f64>) -> Option<Success> {
    match outcome.grade() {
        Some(success) => Some(Success::Graded(success)),
        None => score.map(|_| Success::Ungraded(outcome.name())),
    }
}

fn line(to: &mut impl Write, content: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *to, content).map_err(io::Error::from)?;
    to.write_all(b"\n")
}

#[derive(Serialize)]
struct RunLine<'a> {
    #[serde(rename = "type")]
    line_type: &'a str,
    run_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trial: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<Json>,
    #[serde(skip_serializing_if = "str::is_empty")]
    prompted_by: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivered: Option<&'a [String]>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    redacted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<&'static str>,
}

#[derive(Serialize)]
struct MessageLine<'a> {
    #[serde(rename = "type")]
    line_type: &'a str,
    role: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    lane: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
    content: Option<std::borrow::Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<std::borrow::Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CallLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'a str>,
    #[serde(flatten)]
    extra: Extra,
}

/// The fields that only some frameworks' rules read, as combined by this format's reader.
#[derive(Default, Deserialize, Serialize)]
struct Extra {
    #[serde(skip_serializing_if = "Option::is_none")]
    invalid_call: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    native: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_update: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Json>,
}

#[derive(Serialize)]
struct CallLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<WrittenArguments>,
}

/// Arguments that are an object are written as an object; anything else as a string.
#[derive(Serialize)]
#[serde(untagged)]
enum WrittenArguments {
    Object(Json),
    String(String),
}

#[derive(Serialize)]
struct UsageLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<u64>,
}

#[derive(Serialize)]
struct MetricsLine<'a> {
    #[serde(rename = "type")]
    line_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    experiment: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "in_order")]
    values: &'a [(Name, f64)],
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Json>,
}

#[derive(Serialize)]
struct JudgeLine<'a> {
    #[serde(rename = "type")]
    line_type: &'a str,
    reply: Option<std::borrow::Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageLine>,
}

#[derive(Serialize)]
struct CheckpointLine<'a> {
    #[serde(rename = "type")]
    line_type: &'a str,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
}

#[derive(Serialize)]
struct NoteLine<'a> {
    #[serde(rename = "type")]
    line_type: &'a str,
    kind: &'a str,
    body: Json,
}

/// True, false, or the word for an ungraded outcome.
#[derive(Serialize)]
#[serde(untagged)]
enum Success {
    Graded(bool),
    Ungraded(&'static str),
}

#[derive(Serialize)]
struct OutcomeLine<'a> {
    #[serde(rename = "type")]
    line_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    success: Option<Success>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    end: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    secured_step: Option<usize>,
}

fn run_line(run: &Run) -> RunLine<'_> {
    let header = &run.header;
    let time = |instant: Option<Instant>| instant.map(rfc3339).filter(|text| !text.is_empty());
    RunLine {
        line_type: "run",
        run_id: &header.run_id,
        parent: header.parent.as_deref(),
        task_id: header.task_id.as_deref(),
        trial: header.trial.as_deref(),
        suite: header.suite.as_deref(),
        model: header.model.as_deref(),
        agent: header.agent.as_deref(),
        started_at: time(header.started_at),
        ended_at: time(run.ended_at),
        usage: run.totals.filter(|totals| !totals.usage.is_empty()).map(|totals| usage(&totals.usage)),
        cost_usd: run.totals.and_then(|totals| totals.cost).map(|cost| cost.0),
        meta: header.meta.as_deref().map(one_line),
        prompted_by: header.prompted_by.name(),
        delivered: header.delivered.as_deref(),
        redacted: header.redacted,
        requests: if header.requests == Requests::Recorded { None } else { Some(header.requests.name()) },
    }
}

fn message_line(message: &Message) -> MessageLine<'_> {
    MessageLine {
        line_type: "message",
        role: message.role.name(),
        lane: lane(&message.lane),
        origin: message.origin.name(),
        content: message.content.as_ref().filter(|text| !text.is_not_recorded()).map(Text::as_str),
        reasoning: message.reasoning().map(Text::as_str),
        tool_calls: message.tool_calls.iter().map(call_line).collect(),
        tool_call_id: message.tool_call_id.as_deref(),
        name: message.name.as_deref(),
        is_error: message.is_error,
        usage: message.usage().as_ref().map(usage),
        cost_usd: message.cost().map(|cost| cost.0),
        ts: message.ts.map(rfc3339).filter(|text| !text.is_empty()),
        model: message.model(),
        finish_reason: message.finish_reason(),
        extra: message.extra().and_then(|extra| serde_json::from_str(one_line(extra).get()).ok()).unwrap_or_default(),
    }
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

fn call_line(call: &ToolCall) -> CallLine<'_> {
    if call.are_arguments_unknown() {
        return CallLine { id: call.id.as_deref(), name: &call.name, arguments: None };
    }
    let text = call.arguments.as_str();
    let may_be_object = text.starts_with('{') && text.ends_with('}') && !text.contains(['\n', '\r']);
    let object = if may_be_object { RawValue::from_string(text.clone().into_owned()).ok() } else { None };
    let arguments = match object {
        Some(object) => WrittenArguments::Object(object),
        None => WrittenArguments::String(text.into_owned()),
    };
    CallLine { id: call.id.as_deref(), name: &call.name, arguments: Some(arguments) }
}

fn usage(usage: &Usage) -> UsageLine {
    let Usage { input, cache_read, cache_write, output, reasoning } = *usage;
    UsageLine { input, cache_read, cache_write, output, reasoning }
}

fn metrics_line(metrics: &Metrics) -> MetricsLine<'_> {
    MetricsLine {
        line_type: "metrics",
        experiment: metrics.experiment.as_deref(),
        status: metrics.status.as_deref(),
        values: &metrics.values,
        plan: metrics.plan.as_deref().map(one_line),
    }
}

/// Serializes numbers by name, keeping repeated names.
fn in_order<S: Serializer>(values: &&[(Name, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(values.iter().map(|(name, value)| (name.as_str(), value)))
}

/// The same JSON without line feeds, which would end the line. Only white space between values can contain them.
fn one_line(json: &RawValue) -> Json {
    if !json.get().contains(['\n', '\r']) {
        return json.to_owned();
    }
    let joined = json.get().replace(['\n', '\r'], " ");
    RawValue::from_string(joined).unwrap_or_else(|_| json.to_owned())
}
