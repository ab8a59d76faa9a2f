//! Agent Trajectory Interchange Format (Harbor, Terminal-Bench 2): one run per document, or a header line and one step
//! per line.

use super::{Format, lines_with, object_of, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::texts;
use crate::record::node::Node;
use crate::record::outcomes::native_grade;
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::transcript::{Draft, Event, Grade, Header, Instant, Json, Lane, Message, Role, ToolCall, Usage};

/// Agent trajectories in the interchange format.
pub(super) static FORMAT: Format = Format {
    id: "atif",
    summary: "Agent Trajectory Interchange Format (Harbor, Terminal-Bench 2)",
    recognise,
    joins_lines: |first| !first.has(&["steps"]),
    layout: |probe| lines_with("steps", probe),
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let versioned = |value: &Sketch| {
        let version = value.text_of("schema_version").unwrap_or_default();
        version.starts_with("ATIF") || (version.starts_with("1.") && value.has(&["agent"]))
    };
    let header = |value: &Sketch| value.has(&["__header__"]) || (versioned(value) && !value.has(&["steps"]));
    let first = probe.first()?;
    if versioned(first) && first.has(&["steps"]) {
        return Some("`schema_version` and `steps` of an agent trajectory".to_owned());
    }
    let is_step = |value: &Sketch| value.has(&["step_id", "source"]);
    let own = matches!(first.elements_of("steps").first(), Some(step) if is_step(step));
    if own && first.has(&["agent"]) {
        return Some("`steps` with a `source`, and their `agent`".to_owned());
    }
    let steps = probe.any(is_step);
    reason_if(header(first) && steps, "a trajectory's header and a step a line")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut values = Node::values(record, out);
    let Some(first) = values.next() else { return };
    let first = first.into_object("trajectory", out).unwrap_or_default();
    let head = first.get("__header__").filter(Node::is_object).unwrap_or(first);
    let mut events = Vec::new();
    for step in head.list("steps", out).into_iter().chain(values) {
        push_step(step, &mut events, out);
    }
    let agent = head.within("agent");
    let version = agent.some_word("version");
    let name = agent.some_word("name");
    let model = agent.some_word(["model_name", "model"]);
    let run_id = match head.some_word(["session_id", "trajectory_id"]) {
        // Harbor gives all its trajectories the same file name.
        Some(id) if record.file.stem == "trajectory" => id,
        _ => record.file.stem.clone(),
    };
    let grade = grade(&head, record, out);
    out.run(Draft {
        header: Header {
            run_id,
            model,
            agent: name.map(|name| texts::agent_name(&name, version)),
            meta: run_totals(&head),
            ..Header::default()
        },
        events,
        grade,
        warnings: Vec::new(),
    });
}

/// The totals of the run, which its steps may lack.
fn run_totals(head: &Node<'_>) -> Option<Json> {
    let totals = head.get("final_metrics").filter(Node::is_object)?;
    object_of([("final_metrics", Some(totals.written()))])
}

/// The verdict of the verifier beside the trajectory, or one that the producer put into it.
fn grade(head: &Node<'_>, record: &Record<'_>, out: &mut Reading<'_>) -> Grade {
    if let Some(graded) = record.grades.grade("").or_else(|| record.grades.grade(&record.file.stem)) {
        return graded.grade();
    }
    let extras =
        [("extra", head.within("extra")), ("final_metrics.extra", head.within("final_metrics").within("extra"))];
    for (place, extra) in extras {
        if let Some((graded, score)) = extra.outcome(["success", "verdict", "resolved", "reward"], out) {
            return native_grade(place, Some(graded), score);
        }
    }
    Grade::default()
}

/// Adds a step: its message, and the results recorded in the same step.
fn push_step(step: Node<'_>, events: &mut Vec<Event>, out: &mut Reading<'_>) {
    let Some(step) = step.into_object("step", out) else { return };
    let source = step.some_word("source");
    let ts = step.instant("timestamp", out);
    let observation = step.get("observation");
    // Context copied from an earlier trajectory was paid for there.
    let copied = step.is_true("is_copied_context");
    let role = match source.as_deref() {
        Some("agent") => Role::Assistant,
        Some("user") => Role::User,
        Some("system") => Role::System,
        _ => {
            out.part_of_run(&format!("source {}", source.unwrap_or_default()), &step);
            out.error_at(step.place(), "a step whose `source` is not system, user or agent", "the step is left out");
            return;
        }
    };
    let mut message = Message::new(role);
    message.ts = ts;
    message.content = step.content("message", out);
    if role == Role::System && observation.is_some() {
        // Some producers put each result into a system step that follows.
        let said = message.text();
        let id = said.strip_prefix("Tool result for ");
        push_results(observation, id, ts, &Lane::Main, events, out);
        return;
    }
    if role == Role::Assistant {
        message.lane = if copied { Lane::Canned } else { Lane::Main };
        message.set_reasoning(step.content("reasoning_content", out));
        message.set_model(step.some_word("model_name").map(Into::into));
        for call in step.list("tool_calls", out) {
            message.tool_calls.extend(tool_call(call, out));
        }
        let metrics = step.counts("metrics", out).unwrap_or_default();
        if !copied {
            message.set_usage(usage(&metrics, out));
            message.set_cost(metrics.dollars("cost_usd", out));
        }
    }
    let whose = message.lane.clone();
    // A result without a call id answers the step's only call.
    let only = if let [call] = &*message.tool_calls { call.id.clone() } else { None };
    events.push(Event::Message(message));
    push_results(observation, only.as_deref(), ts, &whose, events, out);
}

fn tool_call(call: Node<'_>, out: &mut Reading<'_>) -> Option<ToolCall> {
    let call = call.into_object("tool call", out)?;
    let Some(name) = call.some_word(["function_name", "name"]) else {
        out.error_at(call.place(), "a tool call without `function_name`", "the call is left out");
        return None;
    };
    let id = call.some_word(["tool_call_id", "id"]);
    Some(ToolCall::new(id.as_deref(), &name, call.arguments("arguments")))
}

fn usage(metrics: &Node<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let usage = Usage {
        input: metrics.tokens("prompt_tokens", out),
        cache_read: metrics.tokens("cached_tokens", out),
        output: metrics.tokens("completion_tokens", out),
        ..Usage::default()
    };
    tokens::recorded(usage)
}

fn push_results(
    observation: Option<Node<'_>>,
    id: Option<&str>,
    ts: Option<Instant>,
    lane: &Lane,
    events: &mut Vec<Event>,
    out: &mut Reading<'_>,
) {
    let Some(observation) = observation else { return };
    let observation = observation.into_object("observation", out).unwrap_or_default();
    let results = if observation.has("results") { observation.list("results", out) } else { vec![observation] };
    for result in results {
        let result = result.into_object("results", out).unwrap_or_default();
        let mut message = Message::new(Role::Tool);
        message.tool_call_id =
            result.some_word(["source_call_id", "tool_call_id"]).or(id.map(str::to_owned)).map(Into::into);
        message.content = result.content("content", out);
        // The format has no error flag; some producers add one.
        let success = result.within("result").some_flag("success").map(|success| !success);
        let flagged = Some(result.within("extra")).filter(|extra| extra.has("is_error"));
        let flag = flagged.as_ref().unwrap_or(&result).some_flag("is_error");
        message.is_error = flag.or(success);
        message.ts = ts;
        message.lane = lane.clone();
        events.push(Event::Message(message));
    }
}
