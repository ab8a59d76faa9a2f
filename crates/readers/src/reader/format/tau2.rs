//! tau2-bench simulation results: many simulations in one document, or one apiece (FORMATS 1).

mod ticks;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Format, Layout, Raw};
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::{json, openai};
use crate::transcript::{Draft, EndCause, Event, Grade, Header, Lane, Message, Outcome, OutcomeSource, Role};

/// tau2-bench simulation results.
pub(super) struct Tau2;

/// Fields of the document around the simulations.
const ENVELOPE: &[&str] = &["info", "domain", "agent", "model"];

#[derive(Deserialize)]
struct Simulation<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    task_id: Raw<'a>,
    #[serde(borrow)]
    trial: Raw<'a>,
    #[serde(borrow)]
    start_time: Raw<'a>,
    #[serde(borrow)]
    end_time: Raw<'a>,
    #[serde(borrow)]
    termination_reason: Raw<'a>,
    #[serde(borrow)]
    reward_info: Raw<'a>,
    #[serde(borrow)]
    messages: Raw<'a>,
    #[serde(borrow)]
    ticks: Raw<'a>,
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    role: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    reasoning: Raw<'a>,
    #[serde(borrow)]
    tool_calls: Raw<'a>,
    #[serde(borrow)]
    tool_messages: Raw<'a>,
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    requestor: Raw<'a>,
    #[serde(borrow)]
    error: Raw<'a>,
    #[serde(borrow)]
    usage: Raw<'a>,
    #[serde(borrow)]
    cost: Raw<'a>,
    #[serde(borrow)]
    timestamp: Raw<'a>,
}

#[derive(Default, Deserialize)]
struct RewardInfo<'a> {
    #[serde(borrow)]
    reward: Raw<'a>,
}

#[derive(Default, Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    info: Raw<'a>,
    #[serde(borrow)]
    domain: Raw<'a>,
    #[serde(borrow)]
    agent: Raw<'a>,
    #[serde(borrow)]
    model: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names of the file")]
struct Info<'a> {
    #[serde(borrow)]
    max_steps: Raw<'a>,
    #[serde(borrow)]
    max_errors: Raw<'a>,
    #[serde(borrow)]
    num_trials: Raw<'a>,
    #[serde(borrow)]
    agent_info: Raw<'a>,
    #[serde(borrow)]
    environment_info: Raw<'a>,
}

#[derive(Default, Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    implementation: Raw<'a>,
    #[serde(borrow)]
    llm: Raw<'a>,
    #[serde(borrow)]
    domain_name: Raw<'a>,
}

impl Format for Tau2 {
    fn id(&self) -> &'static str {
        "tau2-sim"
    }

    fn summary(&self) -> &'static str {
        "tau2-bench simulation results"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_simulation = |value: &Sketch| {
            value.has(&["reward_info", "messages"])
                || value.has(&["termination_reason", "messages", "task_id"])
                || value.has(&["termination_reason", "ticks", "task_id"])
        };
        let first = probe.first()?;
        if let Some(simulations) = probe.document().and_then(|document| document.get("simulations")) {
            let holds = simulations.elements().first().is_none_or(|one| one.has(&["task_id"]) || is_simulation(one));
            return (simulations.is_array() && holds).then(|| "a document with `simulations`".to_owned());
        }
        if first.is_array() {
            return first.first().is_some_and(is_simulation).then(|| "an array of tau2 simulations".to_owned());
        }
        is_simulation(first).then(|| "a simulation with `reward_info` and `messages`".to_owned())
    }

    fn layout(&self, probe: &Probe) -> Layout {
        match probe.first() {
            Some(first) if first.is_array() => Layout::Elements { at: None, envelope: &[] },
            Some(first) if first.get("simulations").is_some() => {
                Layout::Elements { at: Some("simulations"), envelope: ENVELOPE }
            }
            _ if probe.document().is_some() => Layout::Whole,
            _ => Layout::Lines,
        }
    }

    fn prompted_by(&self) -> crate::transcript::PromptedBy {
        crate::transcript::PromptedBy::SimulatedUser
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let simulation: Simulation<'_> = match record.parse() {
            Ok(simulation) => simulation,
            Err(diagnostic) => return out.error(diagnostic),
        };
        let mut events = Vec::new();
        for raw in out.list(simulation.messages, "messages") {
            push_message(raw, out, &mut events);
        }
        if simulation.messages.is_none() {
            events = ticks::events(simulation.ticks, out);
        }
        let task_id = out.word(simulation.task_id, "task_id");
        let trial = out.word(simulation.trial, "trial");
        let run_id = out.word(simulation.id, "id").unwrap_or_else(|| {
            let key = task_id.clone().zip(trial.clone()).map(|(task, trial)| format!("{task}-{trial}"));
            format!("{}/{}", record.file.stem, key.unwrap_or_else(|| record.key.to_owned()))
        });
        // A simulation by itself has what is common to all in the document above its folder.
        let above = (record.envelope.is_empty() && record.file.folder_name == "simulations")
            .then(|| super::beside(record, "../results.json"))
            .flatten();
        let mut header = about(above.as_deref().unwrap_or(record.envelope));
        header.run_id = run_id;
        header.task_id = task_id;
        header.trial = trial;
        header.started_at = out.instant(simulation.start_time, "start_time");
        header.ended_at = out.instant(simulation.end_time, "end_time");
        let reason = out.string(simulation.termination_reason, "termination_reason").unwrap_or_default();
        let end = end_cause(&reason);
        let reward: RewardInfo<'_> = out.part(simulation.reward_info, "reward_info", "an object").unwrap_or_default();
        let score = out.number(reward.reward, "reward");
        let (graded, source) = match (score, end) {
            (Some(score), _) => (Some(score >= 1.0), OutcomeSource::Native("reward_info.reward")),
            // A machine that broke down says nothing of the agent.
            (None, _) if reason == "infrastructure_error" => (None, OutcomeSource::None),
            // The evaluator is not run on a simulation that died; such runs count as failed.
            (None, EndCause::Cap | EndCause::Error) => (Some(false), OutcomeSource::Native("termination_reason")),
            (None, _) => (None, OutcomeSource::None),
        };
        out.run(Draft {
            header,
            events,
            grade: Grade { outcome: Outcome::from_grade(graded), score, source, end, secured_step: None },
            warnings: Vec::new(),
        });
    }
}

/// What the document says of all its runs. Only what is asked for is kept: its model arguments may
/// hold keys to paid services.
fn about(envelope: &str) -> Header {
    let envelope: Envelope<'_> = serde_json::from_str(envelope).unwrap_or_default();
    let info: Info<'_> = parse(envelope.info);
    let (agent, environment): (Part<'_>, Part<'_>) = (parse(info.agent_info), parse(info.environment_info));
    let word = |raw: Raw<'_>| raw.and_then(json::word);
    let limits: Vec<String> =
        [("max_steps", info.max_steps), ("max_errors", info.max_errors), ("num_trials", info.num_trials)]
            .into_iter()
            .filter_map(|(name, raw)| Some(format!("\"{name}\":{}", json::count(raw?)?)))
            .collect();
    Header {
        suite: word(environment.domain_name).or_else(|| word(envelope.domain)),
        model: word(agent.llm).or_else(|| word(envelope.model)),
        agent: word(agent.implementation).or_else(|| word(envelope.agent)),
        meta: RawValue::from_string(format!("{{{}}}", limits.join(","))).ok().filter(|_| !limits.is_empty()),
        ..Header::default()
    }
}

fn parse<'a, T: Deserialize<'a> + Default>(raw: Raw<'a>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
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

/// Appends one message, or the several results of a wrapper.
fn push_message(raw: &RawValue, out: &mut Reading<'_>, events: &mut Vec<Event>) {
    let Some(wire) = out.part::<Wire<'_>>(Some(raw), "message", "an object") else { return };
    if wire.tool_messages.is_some() {
        for result in out.list(wire.tool_messages, "tool_messages") {
            push_message(result, out, events);
        }
        return;
    }
    let Some(role) = out.string(wire.role, "role").and_then(|role| openai::role(&role)) else {
        out.error_at(raw.get(), "a message without a known `role`", "roles are assistant, user, tool and system");
        return;
    };
    let mut message = Message::new(role);
    message.content = out.content(wire.content, "content");
    message.reasoning = out.content(wire.reasoning, "reasoning");
    for call in out.list(wire.tool_calls, "tool_calls") {
        message.tool_calls.extend(openai::tool_call(call, out));
    }
    message.usage = openai::usage(wire.usage, out);
    message.cost = out.dollars(wire.cost, "cost");
    message.ts = out.instant(wire.timestamp, "timestamp");
    if role == Role::Tool {
        message.tool_call_id = out.word(wire.id, "id").map(Into::into);
        message.is_error = out.flag(wire.error, "error");
    }
    let of_user = out.string(wire.requestor, "requestor").is_some_and(|who| who == "user");
    message.lane = match role {
        // A simulated user calls tools of its own and is paid for apart; its words are the user's.
        Role::User if !message.tool_calls.is_empty() => Lane::Counterpart,
        Role::Tool if of_user => Lane::Counterpart,
        Role::Assistant if is_canned(&message, events) => Lane::Canned,
        _ => Lane::Main,
    };
    if role == Role::User || message.lane == Lane::Canned {
        // What the simulator costs is not the agent's.
        (message.usage, message.cost) = (None, None);
    }
    events.push(Event::Message(message));
}

/// The first message, when it is the greeting every run begins with: no model call made it.
fn is_canned(message: &Message, before: &[Event]) -> bool {
    message.usage.is_none() && message.tool_calls.is_empty() && before.iter().all(|event| event.message().is_none())
}
