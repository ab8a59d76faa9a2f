//! SWE-agent trajectories: one run a file, a step each with its action and observation, or the
//! history of messages alone (FORMATS 4).

use serde_json::value::RawValue;

use super::{Format, Layout};
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::rows::Object;
use crate::reader::{json, openai};
use crate::transcript::{
    Draft, EndCause, Event, Grade, Header, Message, Outcome, OutcomeSource, Role, Text, ToolCall, Totals, Usage,
};

/// SWE-agent trajectories.
pub(super) struct SweAgent;

impl Format for SweAgent {
    fn id(&self) -> &'static str {
        "swe-agent"
    }

    fn summary(&self) -> &'static str {
        "SWE-agent trajectories (.traj)"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let document = probe.document()?;
        let is_step = |value: &Sketch| value.has(&["action", "observation"]);
        let steps = document.get("trajectory").map(Sketch::elements).unwrap_or_default();
        if steps.first().is_some_and(is_step) || (document.has(&["trajectory", "info"]) && steps.is_empty()) {
            return Some("a `trajectory` of actions and observations".to_owned());
        }
        let history = document.get("history").map(Sketch::elements).unwrap_or_default();
        let typed = |value: &Sketch| value.has(&["message_type"]) || value.has(&["role", "agent"]);
        history.iter().any(typed).then(|| "a `history` with agents or message types".to_owned())
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn joins_reports(&self) -> bool {
        true
    }

    fn prompted_by(&self) -> crate::transcript::PromptedBy {
        crate::transcript::PromptedBy::Program
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let whole: &RawValue = match record.parse() {
            Ok(whole) => whole,
            Err(diagnostic) => return out.error(diagnostic),
        };
        let document = Object::part(Some(whole), "trajectory", out);
        let info = document.within(&["info"]);
        let history = out.list(document.get(&["history"]), "history");
        let steps = out.list(document.get(&["trajectory"]), "trajectory");
        let mut events = Vec::new();
        if steps.is_empty() {
            for raw in history {
                push_message(raw, &mut events, out);
            }
        } else {
            push_prompts(&history, &mut events, out);
            for (index, raw) in steps.iter().enumerate() {
                push_step(index, raw, &mut events, out);
            }
        }
        let graded = record.grades.of(&record.file.stem);
        let exit = info.word(&["exit_status"]);
        let stats = info.within(&["model_stats"]);
        let totals = totals(&stats, out);
        let meta = info.get(&["model_stats"]).map(|stats| format!("{{\"model_stats\":{}}}", stats.get()));
        out.run(Draft {
            header: Header {
                run_id: record.file.stem.clone(),
                task_id: Some(record.file.stem.clone()),
                suite: Some("swe-bench".to_owned()),
                agent: Some("swe-agent".to_owned()),
                totals,
                meta: meta.and_then(|meta| RawValue::from_string(meta).ok()),
                delivered: info.word(&["submission"]).and_then(|patch| json::patched_files(&patch)),
                ..Header::default()
            },
            events,
            grade: Grade {
                outcome: Outcome::from_grade(graded.map(|graded| graded.resolved)),
                source: graded.map_or(OutcomeSource::None, |graded| OutcomeSource::Sidecar(graded.path.clone())),
                end: exit.map_or(EndCause::Unknown, |exit| end_cause(&exit)),
                ..Grade::default()
            },
            warnings: Vec::new(),
        });
    }
}

/// What the run spent, which `model_stats` adds up. Zeros are a replay, which spends nothing and says nothing.
fn totals(stats: &Object<'_>, out: &mut Reading<'_>) -> Option<Totals> {
    let mut count = |name: &str| out.count(stats.get(&[name]), name).filter(|count| *count > 0);
    let usage = Usage { input: count("tokens_sent"), output: count("tokens_received"), ..Usage::default() };
    let cost = out.dollars(stats.get(&["instance_cost", "total_cost"]), "instance_cost").filter(|cost| cost.0 > 0.0);
    (!usage.is_empty() || cost.is_some()).then_some(Totals { usage, cost })
}

/// `submitted (exit_cost)` ended at its limit: what was there was then handed in.
pub(super) fn end_cause(status: &str) -> EndCause {
    if status.contains("timeout") {
        return EndCause::Timeout;
    }
    if status.contains("exit_cost") || status.contains("exit_context") || status.contains("exit_step") {
        return EndCause::Cap;
    }
    match status {
        "submitted" => EndCause::SelfFinish,
        _ if status.contains("exit_") || status == "early_exit" => EndCause::Error,
        _ => EndCause::Unknown,
    }
}

/// True for a message that shows the agent how to work and is no part of the run.
fn is_demonstration(message: &Object<'_>) -> bool {
    message.get(&["is_demo"]).is_some_and(|raw| raw.get() == "true")
        || message.word(&["message_type"]).as_deref() == Some("demonstration")
}

/// The instructions and the task: what stands in the history before the first reply.
fn push_prompts(history: &[&RawValue], events: &mut Vec<Event>, out: &mut Reading<'_>) {
    for raw in history {
        let message = Object::part(Some(raw), "history", out);
        let role = message.word(&["role"]).and_then(|role| openai::role(&role));
        if is_demonstration(&message) {
            continue;
        }
        let Some(role @ (Role::System | Role::User)) = role else { return };
        let content = out.content(message.get(&["content"]), "content");
        let mut prompt = Message::new(role);
        prompt.content = content;
        events.push(Event::Message(prompt));
    }
}

fn push_step(index: usize, raw: &RawValue, events: &mut Vec<Event>, out: &mut Reading<'_>) {
    let Some(step) = Object::required(raw, "trajectory", out) else { return };
    let id = format!("s{index}");
    let mut reply = Message::new(Role::Assistant);
    reply.content = out.content(step.get(&["response", "thought"]), "response");
    let action = out.string(step.get(&["action"]), "action");
    let action = action.filter(|action| !action.trim().is_empty());
    let name = action.as_deref().map(tool_name).unwrap_or_default();
    let calls = out.list(step.get(&["tool_calls"]), "tool_calls");
    reply.tool_calls = calls.into_iter().filter_map(|call| openai::tool_call(call, out)).collect();
    if let Some(action) = action.as_deref().filter(|_| reply.tool_calls.is_empty()) {
        let arguments = serde_json::Value::String(action.trim().to_owned()).to_string();
        reply.tool_calls.push(ToolCall::new(Some(&id), &name, arguments));
    }
    let call = reply.tool_calls.first().and_then(|call| call.id.clone());
    let asked = !reply.tool_calls.is_empty();
    events.push(Event::Message(reply));
    let content = out.content(step.get(&["observation"]), "observation");
    // Without an action the observation is the harness asking for one.
    let mut result = Message::new(if asked { Role::Tool } else { Role::User });
    if asked {
        result.tool_call_id = call;
        result.name = Some(name.into());
        result.content = content.or_else(|| Some(Text::default()));
    } else {
        result.content = content;
    }
    events.push(Event::Message(result));
}

/// The command an action begins with.
fn tool_name(action: &str) -> String {
    action.split_whitespace().next().unwrap_or_default().to_owned()
}

/// A message of a file that has only its history.
fn push_message(raw: &RawValue, events: &mut Vec<Event>, out: &mut Reading<'_>) {
    let Some(message) = Object::required(raw, "history", out) else { return };
    if is_demonstration(&message) {
        return;
    }
    let Some(role) = message.word(&["role"]).and_then(|role| openai::role(&role)) else {
        out.error_at(raw.get(), "a message without a known `role`", "the message is left out");
        return;
    };
    let mut read = Message::new(role);
    read.content = out.content(message.get(&["content"]), "content");
    if role == Role::Assistant {
        let id = format!("s{}", events.len());
        let calls = out.list(message.get(&["tool_calls"]), "tool_calls");
        read.tool_calls = calls.into_iter().filter_map(|call| openai::tool_call(call, out)).collect();
        let action = message.word(&["action"]).filter(|action| !action.trim().is_empty());
        if let Some(action) = action.filter(|_| read.tool_calls.is_empty()) {
            let arguments = serde_json::Value::String(action.trim().to_owned()).to_string();
            read.tool_calls.push(ToolCall::new(Some(&id), &tool_name(&action), arguments));
        }
    } else {
        let asked = events.last().and_then(Event::message).filter(|last| last.is_step());
        let call = asked.and_then(|reply| reply.tool_calls.first());
        if role == Role::Tool || (role == Role::User && call.is_some()) {
            read.role = Role::Tool;
            let ids =
                message.get(&["tool_call_ids"]).and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok());
            let own = ids.and_then(|ids| ids.first().and_then(json::word));
            read.tool_call_id = own.map(Into::into).or_else(|| call.and_then(|call| call.id.clone()));
            read.name = call.map(|call| call.name.clone());
        }
    }
    events.push(Event::Message(read));
}
