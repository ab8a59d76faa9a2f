//! tau2-bench simulation results: many simulations in one document, or one per file.

mod ticks;

use super::{Format, RecordLayout, first_is, object_of, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::openai;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{
    Draft, EndCause, Event, Grade, Header, Lane, Message, Outcome, OutcomeSource, PromptedBy, Role,
};

/// tau2-bench simulation results.
pub(super) static FORMAT: Format = Format {
    id: "tau2-sim",
    summary: "tau2-bench simulation results",
    recognise,
    layout,
    prompted_by: PromptedBy::SimulatedUser,
    ..Format::reading(read)
};

/// Fields of the document around the simulations.
const ENVELOPE: &[&str] = &["info", "domain", "agent", "model"];

fn recognise(probe: &Probe) -> Option<String> {
    let is_simulation = |value: &Sketch| {
        value.has(&["reward_info", "messages"])
            || value.has(&["termination_reason", "messages", "task_id"])
            || value.has(&["termination_reason", "ticks", "task_id"])
    };
    let first = probe.first()?;
    if let Some(document) = probe.document()
        && let Some(simulations) = document.get("simulations")
    {
        let is_one = |value: &Sketch| value.has(&["task_id"]) || is_simulation(value);
        let are_simulations = simulations.elements().is_empty() || first_is(simulations, is_one);
        return reason_if(simulations.is_array() && are_simulations, "a document with `simulations`");
    }
    if first.is_array() {
        return reason_if(first_is(first, is_simulation), "an array of tau2 simulations");
    }
    reason_if(is_simulation(first), "a simulation with `reward_info` and `messages`")
}

fn layout(probe: &Probe) -> RecordLayout {
    match probe.first() {
        Some(first) if first.is_array() => RecordLayout::Elements { at: None, envelope: &[] },
        Some(first) if first.get("simulations").is_some() => {
            RecordLayout::Elements { at: Some("simulations"), envelope: ENVELOPE }
        }
        _ if probe.document().is_some() => RecordLayout::Whole,
        _ => RecordLayout::Lines,
    }
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(simulation) = Node::line(record.text, out) else { return };
    let mut events = Vec::new();
    for message in simulation.list("messages", out) {
        push_message(&message, out, &mut events);
    }
    if !simulation.has("messages") {
        events = ticks::events(&simulation.list("ticks", out), out);
    }
    let task_id = simulation.word("task_id", out);
    let trial = simulation.word("trial", out);
    let run_id = simulation.word("id", out).unwrap_or_else(|| {
        let key = match (&task_id, &trial) {
            (Some(task), Some(trial)) => format!("{task}-{trial}"),
            _ => record.key.to_owned(),
        };
        format!("{}/{key}", record.file.stem)
    });
    // For a simulation in its own file, the data common to all simulations is in the document above its folder.
    let is_apart = record.envelope.is_empty() && record.file.folder_name == "simulations";
    let above = if is_apart { super::beside(record, "../results.json") } else { None };
    let mut header = about(above.as_deref().unwrap_or(record.envelope));
    header.run_id = run_id;
    header.task_id = task_id;
    header.trial = trial;
    header.started_at = simulation.instant("start_time", out);
    header.ended_at = simulation.instant("end_time", out);
    let reason = simulation.string("termination_reason", out).unwrap_or_default();
    let end = end_cause(&reason);
    let score = simulation.under("reward_info", out).number("reward", out);
    let (graded, source) = match (score, end) {
        (Some(score), _) => (Some(score >= 1.0), OutcomeSource::Native("reward_info.reward")),
        // An infrastructure failure tells nothing about the agent.
        (None, _) if reason == "infrastructure_error" => (None, OutcomeSource::None),
        // The evaluator does not run on simulations that broke off; such runs count as failed.
        (None, EndCause::Cap | EndCause::Error) => (Some(false), OutcomeSource::Native("termination_reason")),
        (None, _) => (None, OutcomeSource::None),
    };
    let grade = Grade { outcome: Outcome::from_grade(graded), score, source, end, secured_step: None };
    out.run(Draft { header, events, grade, warnings: Vec::new() });
}

/// The header common to all runs of the document. Only the fields needed are kept, since its model arguments may
/// contain API keys.
fn about(envelope: &str) -> Header {
    let envelope = Node::from_written(envelope);
    let info = envelope.within("info");
    let word = |part: &str, name: &str| info.within(part).some_word(name);
    let limits = ["max_steps", "max_errors", "num_trials"].map(|name| (name, info.some_count(name)));
    Header {
        suite: word("environment_info", "domain_name").or_else(|| envelope.some_word("domain")),
        model: word("agent_info", "llm").or_else(|| envelope.some_word("model")),
        agent: word("agent_info", "implementation").or_else(|| envelope.some_word("agent")),
        meta: object_of(limits),
        ..Header::default()
    }
}

fn end_cause(reason: &str) -> EndCause {
    match reason {
        "user_stop" | "agent_stop" => EndCause::SelfFinish,
        "max_steps" => EndCause::Cap,
        "timeout" => EndCause::Timeout,
        "too_many_errors" => EndCause::Error,
        _ if reason.ends_with("_error") => EndCause::Error,
        _ => EndCause::Unknown,
    }
}

/// Adds one message, or the several results in a wrapper.
fn push_message(node: &Node<'_>, out: &mut Reading<'_>, events: &mut Vec<Event>) {
    if !node.expect_object("message", "an object", out) {
        return;
    }
    if node.has("tool_messages") {
        return node.list("tool_messages", out).iter().for_each(|result| push_message(result, out, events));
    }
    let Some(role) = node.role("role", openai::role, out) else { return };
    let mut message = Message::new(role);
    message.content = node.content("content", out);
    message.set_reasoning(node.content("reasoning", out));
    message.tool_calls = openai::calls_of(node, out);
    message.set_usage(node.usage("usage", out));
    message.set_cost(node.dollars("cost", out));
    message.ts = node.instant("timestamp", out);
    if role == Role::Tool {
        message.tool_call_id = node.word("id", out).map(Into::into);
        message.is_error = node.flag("error", out);
    }
    let of_user = node.string("requestor", out).as_deref() == Some("user");
    message.lane = match role {
        // A simulated user makes tool calls of its own and is paid for separately; only its text is the user's
        // message.
        Role::User if !message.tool_calls.is_empty() => Lane::Counterpart,
        Role::Tool if of_user => Lane::Counterpart,
        Role::Assistant if is_canned(&message, events) => Lane::Canned,
        _ => Lane::Main,
    };
    if role == Role::User || message.lane == Lane::Canned {
        // The simulator's cost is not the agent's.
        message.set_usage(None);
        message.set_cost(None);
    }
    events.push(Event::Message(message));
}

/// Whether this is the greeting that begins every run, which no model call produced.
fn is_canned(message: &Message, before: &[Event]) -> bool {
    message.usage().is_none() && message.tool_calls.is_empty() && before.iter().all(|event| event.message().is_none())
}
