//! mini-swe-agent trajectories: one run per file, with actions in fenced blocks or tool calls.

use std::borrow::Cow;

use super::{Format, first_is, object_of, reason_if};
use crate::json_text::trimmed;
use crate::label::report_files::Graded;
use crate::open::probe::{Probe, Sketch};
use crate::read::openai;
use crate::read::text_calls::{only_command, return_code};
use crate::read::texts::agent_name;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Draft, EndCause, Event, Grade, Header, Message, PromptedBy, Role, ToolCall};
use crate::value::json;

/// mini-swe-agent trajectories.
pub(super) static FORMAT: Format = Format {
    id: "mini-swe-agent",
    summary: "mini-swe-agent trajectories (.traj.json)",
    recognise,
    prompted_by: PromptedBy::Program,
    later_prompts: Some(&["The user added a new task"]),
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    if let Some(version) = document.text_of("trajectory_format").filter(|name| name.starts_with("mini-swe-agent")) {
        return Some(format!("`trajectory_format` is `{version}`"));
    }
    let is_message = |value: &Sketch| value.has(&["role", "content"]);
    if first_is(document, is_message) && probe.name.ends_with(".traj.json") {
        return Some("messages in a file called `.traj.json`".to_owned());
    }
    let info = document.get("info")?;
    let is_mini = info.has(&["mini_version"]) || info.has(&["exit_status", "model_stats"]);
    reason_if(document.has(&["messages"]) && is_mini, "`messages` with mini-swe-agent's `info`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    // Tests and early versions write only the list of messages.
    let is_list = trimmed(record.text).starts_with('[');
    let whole = if is_list { Node::whole(record, out) } else { Node::line(record.text, out) };
    let Some(run) = whole else { return };
    let info = run.under("info", out);
    let config = info.under("config", out);
    let (agent, model) = (config.under("agent", out), config.under("model", out));
    let mut events = Vec::new();
    let mut exit = info.string("exit_status", out).map(Cow::into_owned);
    let messages = if is_list { run.elements() } else { Some(run.list("messages", out)) };
    if messages.is_none() {
        out.wrong(&run, "messages", "an array of messages");
    }
    for message in messages.iter().flatten() {
        push_message(message, out, &mut events, &mut exit);
    }
    let instance = run.word("instance_id", out).unwrap_or_else(|| record.file.stem.clone());
    let graded = record.grades.grade(&instance).map(Graded::grade).unwrap_or_default();
    let limits = ["step_limit", "cost_limit"].map(|name| (name, agent.some_number(name)));
    let version = info.word("mini_version", out);
    let header = Header {
        run_id: record.file.stem.clone(),
        task_id: Some(instance),
        suite: Some("swe-bench".to_owned()),
        model: model.string("model_name", out).map(Cow::into_owned),
        agent: Some(agent_name("mini-swe-agent", version)),
        meta: object_of(limits),
        delivered: json::patched_files(&info.some_string("submission").unwrap_or_default()),
        ..Header::default()
    };
    let grade = Grade { end: end_cause(exit.as_deref()), ..graded };
    out.run(Draft { header, events, grade, warnings: Vec::new() });
}

fn end_cause(status: Option<&str>) -> EndCause {
    match status {
        Some("Submitted") => EndCause::SelfFinish,
        Some("LimitsExceeded") => EndCause::Cap,
        Some("TimeExceeded" | "TimeoutExpired") => EndCause::Timeout,
        Some("KeyboardInterrupt" | "UserInterruption") => EndCause::Killed,
        Some(status) if !status.is_empty() => EndCause::Error,
        _ => EndCause::Unknown,
    }
}

/// Adds one message. A user's message that answers a command is its result.
fn push_message(node: &Node<'_>, out: &mut Reading<'_>, events: &mut Vec<Event>, exit: &mut Option<String>) {
    if !node.expect_object("message", "an object", out) {
        return;
    }
    let extra = node.under("extra", out);
    let named = node.string("role", out).unwrap_or_default();
    if named == "exit" {
        *exit = extra.string("exit_status", out).map(Cow::into_owned).or(exit.take());
        return;
    }
    let Some(role) = node.role("role", openai::role, out) else { return };
    let mut message = Message::new(role);
    message.content = node.content("content", out);
    message.ts = if extra.has("timestamp") { &extra } else { node }.instant("timestamp", out);
    match role {
        Role::Assistant => {
            complete_reply(&mut message, &extra, out);
            message.tool_calls = openai::calls_of(node, out);
            if !node.has("tool_calls") {
                let id = format!("c{}", events.len());
                let command = only_command(&message.text());
                message.tool_calls.extend(command.map(|command| ToolCall::new(Some(&id), "bash", command)));
            }
        }
        Role::Tool | Role::User => {
            let returned = extra.number("returncode", out).or_else(|| return_code(&message.text()));
            let asked = events.last().and_then(Event::message).filter(|last| last.is_step());
            let call = asked.and_then(|reply| reply.tool_calls.first());
            // A command that timed out and the one that submits have no return code in their answer.
            if role == Role::Tool || call.is_some() {
                message.role = Role::Tool;
                message.tool_call_id = node.word("tool_call_id", out).map(Into::into);
                message.is_error = returned.map(|code| code != 0.0);
                if let Some(call) = call {
                    message.name = Some(call.name.clone());
                    message.tool_call_id = message.tool_call_id.take().or(call.id.clone());
                }
            }
        }
        Role::System => {}
    }
    events.push(Event::Message(message));
}

/// Fills in what the provider's response has about the call.
fn complete_reply(message: &mut Message, extra: &Node<'_>, out: &mut Reading<'_>) {
    let response = extra.under("response", out);
    message.set_model(response.string("model", out).map(Into::into));
    message.set_usage(response.usage("usage", out));
    let priced = response.within("usage");
    message.set_cost(if extra.has("cost") { extra } else { &priced }.dollars("cost", out));
    if message.ts.is_none() {
        message.ts = response.instant("created", out);
    }
}
