//! SWE-agent trajectories: one run per file, as steps with an action and observation each, or only the message history
//!.

use super::{Format, object_of, reason_if};
use crate::label::report_files::Graded;
use crate::open::probe::{Probe, Sketch};
use crate::read::turns::Turns;
use crate::read::{openai, text_calls};
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{EndCause, Grade, Header, Message, Origin, Role, Totals, Usage};
use crate::value::json;

/// SWE-agent trajectories.
pub(super) static FORMAT: Format = Format {
    id: "swe-agent",
    summary: "SWE-agent trajectories (.traj)",
    recognise,
    acts_in_texts: true,
    prompted_by: crate::transcript::PromptedBy::Program,
    later_prompts: Some(&[]),
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    let is_trajectory = match document.elements_of("trajectory").first() {
        Some(step) => step.has(&["action", "observation"]),
        None => document.has(&["trajectory", "info"]),
    };
    if is_trajectory {
        return Some("a `trajectory` of actions and observations".to_owned());
    }
    let typed = |value: &Sketch| value.has(&["message_type"]) || value.has(&["role", "agent"]);
    reason_if(document.elements_of("history").iter().any(typed), "a `history` with agents or message types")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(whole) = Node::whole(record, out) else { return };
    let document = whole.into_object("trajectory", out).unwrap_or_default();
    let info = document.within("info");
    let history = document.list("history", out);
    let steps = document.list("trajectory", out);
    let mut turns = Turns::default();
    if steps.is_empty() {
        for message in history {
            push_message(message, &mut turns, out);
        }
    } else {
        let counts = step_counts(&history);
        push_prompts(history, &mut turns, out);
        for (index, step) in steps.into_iter().enumerate() {
            push_step(index, step, &mut turns, out);
            if let Some(Some(count)) = counts.get(index) {
                let mut message = Message::saying(Role::User, count.as_str());
                message.origin = Origin::Host;
                turns.push(message);
            }
        }
    }
    let graded = record.grades.grade(&record.file.stem).map(Graded::grade).unwrap_or_default();
    let exit = info.some_word("exit_status").unwrap_or_default();
    let stats = info.get("model_stats").filter(Node::is_object);
    let header = Header {
        run_id: record.file.stem.clone(),
        task_id: Some(record.file.stem.clone()),
        suite: Some("swe-bench".to_owned()),
        agent: Some("swe-agent".to_owned()),
        totals: totals(&info.within("model_stats"), out),
        meta: object_of([("model_stats", stats.map(|stats| stats.written()))]),
        delivered: json::patched_files(&info.some_word("submission").unwrap_or_default()),
        ..Header::default()
    };
    out.run(turns.into_draft(header, Grade { end: end_cause(&exit), ..graded }));
}

/// The run's totals from `model_stats`. Zeros come from a replay, which spends nothing, and are treated as missing.
fn totals(stats: &Node<'_>, out: &mut Reading<'_>) -> Option<Totals> {
    let mut count = |name: &str| stats.tokens(name, out).filter(|count| *count > 0);
    let usage = Usage { input: count("tokens_sent"), output: count("tokens_received"), ..Usage::default() };
    let cost = stats.dollars(["instance_cost", "total_cost"], out).filter(|cost| cost.0 > 0.0);
    if usage.is_empty() && cost.is_none() { None } else { Some(Totals { usage, cost }) }
}

/// The id of the call that a result answers.
pub(super) fn answered(result: &Node<'_>) -> Option<String> {
    result.some_list("tool_call_ids").first()?.as_word()
}

/// The end cause. `submitted (exit_cost)` is a run that hit its limit, after which its current state was submitted.
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

/// Whether a message is a demonstration for the agent rather than part of the run.
fn is_demonstration(message: &Node<'_>) -> bool {
    message.is_true("is_demo") || message.is("message_type", "demonstration")
}

/// Adds the instructions and the task: the messages in the history before the first reply.
fn push_prompts(history: Vec<Node<'_>>, turns: &mut Turns, out: &mut Reading<'_>) {
    for message in history {
        let message = message.into_object("history", out).unwrap_or_default();
        if is_demonstration(&message) {
            continue;
        }
        let role = match message.role("role", openai::role, out) {
            Some(role @ (Role::System | Role::User)) => role,
            Some(_) => return,
            None => continue,
        };
        let mut prompt = Message::new(role);
        prompt.content = message.content("content", out);
        turns.push(prompt);
    }
}

/// What the model is told of its steps after each reply. MLGym adds it to the observations in the history, together with
/// the state of the shell, and it stands nowhere else.
fn step_counts(history: &[Node<'_>]) -> Vec<Option<String>> {
    let mut counts: Vec<Option<String>> = Vec::new();
    for message in history.iter().filter(|message| !is_demonstration(message)) {
        if message.is("role", "assistant") {
            counts.push(None);
        } else if let (Some(last), Some(text)) = (counts.last_mut(), message.some_word("content"))
            && let Some(told) = text.lines().rfind(|line| line.contains("Remaining Steps:"))
        {
            *last = Some(told.to_owned());
        }
    }
    counts
}

fn push_step(index: usize, step: Node<'_>, turns: &mut Turns, out: &mut Reading<'_>) {
    let Some(step) = step.into_object("trajectory", out) else { return };
    let mut reply = Message::new(Role::Assistant);
    reply.content = step.content(["response", "thought"], out);
    let action = step.string("action", out).filter(|action| !action.trim().is_empty());
    push_calls(&step, action.as_deref(), index, &mut reply, out);
    let asked = !reply.tool_calls.is_empty();
    turns.push(reply);
    let content = step.content("observation", out);
    // If there was no action, the observation is the harness asking for one.
    let mut result = Message::new(if asked { Role::Tool } else { Role::User });
    result.content = content;
    turns.push(result);
}

/// Adds the calls of a reply, or the action parsed from its text.
fn push_calls(node: &Node<'_>, action: Option<&str>, index: usize, reply: &mut Message, out: &mut Reading<'_>) {
    reply.tool_calls = openai::calls_of(node, out);
    if let Some(action) = action.filter(|_| reply.tool_calls.is_empty()) {
        let mut call = text_calls::command_of(action);
        call.id = Some(format!("s{index}").into());
        reply.tool_calls.push(call);
    }
}

/// Adds a message of a file that has only its history.
fn push_message(message: Node<'_>, turns: &mut Turns, out: &mut Reading<'_>) {
    let Some(message) = message.into_object("history", out) else { return };
    if is_demonstration(&message) {
        return;
    }
    let Some(role) = message.role("role", openai::role, out) else { return };
    let mut read = Message::new(role);
    read.content = message.content("content", out);
    if role == Role::Assistant {
        let action = message.some_word("action").filter(|action| !action.trim().is_empty());
        push_calls(&message, action.as_deref(), turns.len(), &mut read, out);
    } else {
        // What follows a call is its result, whatever role it has.
        let call = turns.last_message().and_then(|last| last.tool_calls.first());
        if role == Role::Tool || (role == Role::User && call.is_some()) {
            read.role = Role::Tool;
            read.tool_call_id = answered(&message).map(Into::into);
            read.name = call.map(|call| call.name.clone());
        }
    }
    turns.push(read);
}
