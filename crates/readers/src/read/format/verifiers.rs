//! verifiers rollouts: one rollout per line. Calls may be JSON written as strings, and results have no ids.

use super::{Format, RecordLayout, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::openai;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::outcomes::native_grade;
use crate::record::reading::{Reading, Record};
use crate::transcript::{EndCause, Grade, Header, Message, PromptedBy, Role, Totals};

/// verifiers rollouts.
pub(super) static FORMAT: Format = Format {
    id: "verifiers",
    summary: "verifiers rollouts: lines of `prompt`, `completion` and `reward`",
    recognise,
    layout: |probe| if probe.document().is_some() { RecordLayout::Whole } else { RecordLayout::Lines },
    prompted_by: PromptedBy::Program,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_rollout = |value: &Sketch| {
        let messages = |key: &str| matches!(value.elements_of(key).first(), Some(message) if message.has(&["role"]));
        let id = value.has(&["example_id"]) || (value.has(&["id"]) && (value.has(&["answer"]) || value.has(&["task"])));
        value.has(&["reward"]) && id && messages("prompt") && messages("completion")
    };
    reason_if(probe.any(is_rollout), "lines of `prompt`, `completion` and `reward`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(rollout) = Node::whole(record, out) else { return };
    let mut turns = Turns::default();
    for message in rollout.list("prompt", out).into_iter().chain(rollout.list("completion", out)) {
        push(&message, &mut turns, out);
    }
    let example = rollout.word(["example_id", "id"], out);
    let score = rollout.number("reward", out);
    let success = score.map(|score| score >= 1.0);
    let beside = super::beside(record, "metadata.json");
    let metadata = Node::from_written(beside.as_deref().unwrap_or("{}"));
    let usage = rollout.usage(["token_usage", "usage"], out);
    let header = Header {
        run_id: format!("{}/{}", record.file.stem, record.key),
        task_id: example,
        suite: metadata.some_word(["env_id", "env"]).or_else(|| rollout.some_word("env_id")),
        model: metadata.some_word("model").or_else(|| rollout.some_word("model")),
        agent: Some("verifiers".to_owned()),
        totals: usage.map(|usage| Totals { usage, cost: None }),
        ..Header::default()
    };
    let stopped = rollout.some_word("stop_condition");
    let grade = Grade {
        end: match stopped.as_deref() {
            Some(word) if word.contains("max_turns") || word.contains("max_tokens") => EndCause::Cap,
            _ if rollout.flag("is_truncated", out) == Some(true) => EndCause::Cap,
            _ if rollout.has("error") => EndCause::Error,
            _ => EndCause::Unknown,
        },
        ..native_grade("reward", success, score)
    };
    out.run(turns.into_draft(header, grade));
}

/// Adds a message, whose calls may be JSON written as strings.
fn push(message: &Node<'_>, turns: &mut Turns, out: &mut Reading<'_>) {
    let Some(role) = message.role("role", openai::role, out) else { return };
    let calls = message.some_list("tool_calls");
    if !calls.iter().any(|call| call.as_string().is_some()) {
        if let Some(message) = openai::message(message, out) {
            turns.push(message);
        }
        return;
    }
    let mut read = Message::new(role);
    read.content = message.content("content", out);
    read.set_reasoning(message.content("reasoning_content", out));
    read.ts = message.instant("timestamp", out);
    for call in calls {
        let text = call.as_text();
        match Node::inside(&text.as_str(), call.place()) {
            Some(inner) => read.tool_calls.extend(openai::tool_call(inner.written(), out)),
            None => out.error_at(call.place(), "a tool call that is no JSON", "the call is left out"),
        }
    }
    let is_result = role == Role::Tool;
    read.tool_call_id = message.word("tool_call_id", out).filter(|_| is_result).map(Into::into);
    turns.push(read);
}
