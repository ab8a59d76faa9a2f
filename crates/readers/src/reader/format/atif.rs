//! Agent Trajectory Interchange Format (Harbor, Terminal-Bench 2): one run a document, or a header
//! line and a step a line (FORMATS 11).

use serde_json::value::RawValue;

use super::{Format, Layout};
use crate::reader::probe::{Probe, Shape, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::rows::{self, Object};
use crate::reader::{json, labels, openai};
use crate::transcript::{
    Draft, Event, Grade, Header, Instant, Lane, Message, Outcome, OutcomeSource, Role, Text, Usage,
};

/// Agent trajectories in the interchange format.
pub(super) struct Atif;

impl Format for Atif {
    fn id(&self) -> &'static str {
        "atif"
    }

    fn summary(&self) -> &'static str {
        "Agent Trajectory Interchange Format (Harbor, Terminal-Bench 2)"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
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
        let own = first.get("steps").is_some_and(|steps| steps.elements().first().is_some_and(is_step));
        if own && first.has(&["agent"]) {
            return Some("`steps` with a `source`, and their `agent`".to_owned());
        }
        let steps = probe.values.iter().any(is_step);
        (header(first) && steps).then(|| "a trajectory's header and a step a line".to_owned())
    }

    fn joins_lines(&self, first: &Sketch) -> bool {
        !first.has(&["steps"])
    }

    fn layout(&self, probe: &Probe) -> Layout {
        let whole = probe.values.iter().take(2).filter(|value| value.has(&["steps"])).count();
        if probe.shape == Shape::Lines && whole == 2 { Layout::Lines } else { Layout::Whole }
    }

    fn joins_reports(&self) -> bool {
        true
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let values = rows::values(record, out);
        let Some((first, rest)) = values.split_first() else { return };
        let first = Object::part(Some(first), "trajectory", out);
        let head = Object::of_or(first.get(&["__header__"]), first);
        let mut steps = out.list(head.get(&["steps"]), "steps");
        steps.extend(rest);
        let mut events = Vec::new();
        for raw in steps {
            push_step(raw, &mut events, out);
        }
        let agent = head.within(&["agent"]);
        let version = agent.word(&["version"]);
        let name = agent.word(&["name"]);
        let model = agent.word(&["model_name", "model"]);
        let run_id = match head.word(&["session_id", "trajectory_id"]) {
            // Harbor calls all its trajectories the same.
            Some(id) if record.file.stem == "trajectory" => id,
            _ => record.file.stem.clone(),
        };
        out.run(Draft {
            header: Header {
                run_id,
                model,
                agent: name.map(|name| version.map_or_else(|| name.clone(), |version| format!("{name} {version}"))),
                meta: run_totals(&head),
                ..Header::default()
            },
            events,
            grade: grade(&head, record),
            warnings: Vec::new(),
        });
    }
}

/// The totals of the run, which its steps need not have.
fn run_totals(head: &Object<'_>) -> Option<Box<RawValue>> {
    let totals = head.get(&["final_metrics"])?;
    RawValue::from_string(format!("{{\"final_metrics\":{}}}", totals.get())).ok()
}

/// The verdict of the verifier beside the trajectory, or one its producer put into it.
fn grade(head: &Object<'_>, record: &Record<'_>) -> Grade {
    if let Some(graded) = record.grades.of("").or_else(|| record.grades.of(&record.file.stem)) {
        return Grade {
            outcome: Outcome::from_grade(Some(graded.resolved)),
            score: graded.score,
            source: OutcomeSource::Sidecar(graded.path.clone()),
            ..Grade::default()
        };
    }
    let extras = [
        ("extra", head.within(&["extra"])),
        ("final_metrics.extra", head.within(&["final_metrics"]).within(&["extra"])),
    ];
    for (place, extra) in extras {
        let Some(raw) = extra.get(&["success", "verdict", "resolved", "reward"]) else { continue };
        let score = json::number(raw);
        let graded =
            json::flag(raw).or_else(|| labels::grade_word(&json::word(raw)?)).or(score.map(|score| score >= 1.0));
        if graded.is_some() {
            return Grade {
                outcome: Outcome::from_grade(graded),
                score,
                source: OutcomeSource::Native(place),
                ..Grade::default()
            };
        }
    }
    Grade::default()
}

/// Appends a step: its message, and its results, which stand in the same step.
fn push_step(raw: &RawValue, events: &mut Vec<Event>, out: &mut Reading<'_>) {
    let Some(step) = Object::required(raw, "step", out) else { return };
    let source = step.word(&["source"]);
    let ts = out.instant(step.get(&["timestamp"]), "timestamp");
    let observation = step.get(&["observation"]);
    // What was copied from an earlier trajectory was paid for there.
    let copied = step.get(&["is_copied_context"]).is_some_and(|raw| raw.get() == "true");
    let role = match source.as_deref() {
        Some("agent") => Role::Assistant,
        Some("user") => Role::User,
        Some("system") => Role::System,
        _ => {
            out.error_at(raw.get(), "a step whose `source` is not system, user or agent", "the step is left out");
            return;
        }
    };
    let mut message = Message::new(role);
    message.ts = ts;
    message.content = out.content(step.get(&["message"]), "message");
    if role == Role::System && observation.is_some() {
        // Some producers put each result into a system step that follows.
        let said = message.content.as_ref().map(|text| text.as_str().into_owned());
        let id = said.as_deref().and_then(|text| text.strip_prefix("Tool result for ")).map(str::to_owned);
        push_results(observation, id.as_deref(), ts, &Lane::Main, events, out);
        return;
    }
    if role == Role::Assistant {
        message.lane = if copied { Lane::Canned } else { Lane::Main };
        message.reasoning = out.content(step.get(&["reasoning_content"]), "reasoning_content");
        message.model = step.word(&["model_name"]).map(Into::into);
        for call in out.list(step.get(&["tool_calls"]), "tool_calls") {
            message.tool_calls.extend(tool_call(call, out));
        }
        let metrics = Object::part(step.get(&["metrics"]), "metrics", out);
        if !copied {
            message.usage = usage(&metrics, out);
            message.cost = out.dollars(metrics.get(&["cost_usd"]), "cost_usd");
        }
    }
    let whose = message.lane.clone();
    // A result that names no call answers the only one there is.
    let only = message.tool_calls.first().filter(|_| message.tool_calls.len() == 1).and_then(|call| call.id.clone());
    events.push(Event::Message(message));
    push_results(observation, only.as_deref(), ts, &whose, events, out);
}

fn tool_call(raw: &RawValue, out: &mut Reading<'_>) -> Option<crate::transcript::ToolCall> {
    let call = Object::part(Some(raw), "tool call", out);
    let Some(name) = call.word(&["function_name", "name"]) else {
        out.error_at(raw.get(), "a tool call without `function_name`", "the call is left out");
        return None;
    };
    let id = call.word(&["tool_call_id", "id"]);
    Some(crate::transcript::ToolCall::new(id.as_deref(), &name, openai::arguments(call.get(&["arguments"]))))
}

fn usage(metrics: &Object<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let usage = Usage {
        input: out.count(metrics.get(&["prompt_tokens"]), "prompt_tokens"),
        cache_read: out.count(metrics.get(&["cached_tokens"]), "cached_tokens"),
        output: out.count(metrics.get(&["completion_tokens"]), "completion_tokens"),
        ..Usage::default()
    };
    (!usage.is_empty()).then_some(usage)
}

fn push_results(
    observation: Option<&RawValue>,
    id: Option<&str>,
    ts: Option<Instant>,
    lane: &Lane,
    events: &mut Vec<Event>,
    out: &mut Reading<'_>,
) {
    let Some(observation) = observation else { return };
    let object = Object::part(Some(observation), "observation", out);
    let results = match object.get(&["results"]) {
        Some(results) => out.list(Some(results), "results"),
        None => vec![observation],
    };
    for raw in results {
        let result = Object::part(Some(raw), "results", out);
        let mut message = Message::new(Role::Tool);
        message.tool_call_id =
            result.word(&["source_call_id", "tool_call_id"]).or_else(|| id.map(str::to_owned)).map(Into::into);
        message.content = out.content(result.get(&["content"]), "content").or_else(|| Some(Text::default()));
        // The format has no flag; some producers add one.
        let success = result.within(&["result"]).get(&["success"]).and_then(json::flag).map(|success| !success);
        let flag = result.within(&["extra"]).get(&["is_error"]).or(result.get(&["is_error"])).and_then(json::flag);
        message.is_error = flag.or(success);
        message.ts = ts;
        message.lane = lane.clone();
        events.push(Event::Message(message));
    }
}
