//! MINT results: one run per line. Calls are text (`<execute>`, `<solution>`), the next user message is the result,
//! and the last result is in a separate field. Model and data set are parts of the path.

use super::{Format, RecordLayout, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::openai;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::outcomes::native_grade;
use crate::record::reading::{Reading, Record};
use crate::transcript::{EndCause, Grade, Header, Message, PromptedBy, Role, Text, ToolCall, Totals, Usage};

/// MINT results.
pub(super) static FORMAT: Format = Format {
    id: "mint",
    summary: "MINT results: lines of `state` (with `history`) and `task`",
    recognise,
    layout: |probe| if probe.document().is_some() { RecordLayout::Whole } else { RecordLayout::Lines },
    prompted_by: PromptedBy::Program,
    later_prompts: Some(&[]),
    ends_on_success: true,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_run =
        |value: &Sketch| value.has(&["state", "task"]) && value.has_within("state", &["history", "terminate_reason"]);
    reason_if(is_run(probe.first()?), "`state` with `history` and `terminate_reason`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(run) = Node::whole(record, out) else { return };
    let state = run.under("state", out);
    let task = run.under("task", out);
    let mut turns = Turns::default();
    for message in state.list("history", out) {
        if let Some(message) = openai::message(&message, out) {
            push(message, &mut turns);
        }
    }
    if turns.awaits()
        && let Some(last) = state.object("latest_output", out)
        && let Some(content) = last.content("content", out)
    {
        turns.push(answer(content));
    }
    let success = state.flag("success", out);
    let (model, suite) = place(&record.file.path);
    let task_id = task.word("task_id", out);
    let words = [model.clone(), suite.clone(), Some(task_id.clone().unwrap_or_else(|| record.key.to_owned()))];
    let header = Header {
        run_id: words.into_iter().flatten().collect::<Vec<_>>().join("/"),
        task_id,
        suite: suite.or_else(|| task.some_word("task_name")),
        model,
        agent: Some("mint".to_owned()),
        totals: totals(&state, out),
        ..Header::default()
    };
    let grade = Grade {
        end: match state.string("terminate_reason", out).as_deref() {
            Some("task_success") => EndCause::SelfFinish,
            Some("max_steps" | "max_propose_steps") => EndCause::Cap,
            Some("error") => EndCause::Error,
            _ => EndCause::Unknown,
        },
        ..native_grade("state.success", success, success.map(f64::from))
    };
    out.run(turns.into_draft(header, grade));
}

/// Adds a message. A user message after a call is its result.
fn push(message: Message, turns: &mut Turns) {
    let mut message = message;
    match message.role {
        Role::Assistant => message.tool_calls.extend(call(&message.text())),
        Role::User if turns.awaits() => message = answer(message.content.take().unwrap_or_default()),
        _ => {}
    }
    turns.push(message);
}

fn answer(content: Text) -> Message {
    Message::saying(Role::Tool, content)
}

/// The call in a reply: code to run, or a proposed solution. If it has both, the solution counts, as in the benchmark.
fn call(text: &str) -> Option<ToolCall> {
    for (name, argument) in [("solution", "answer"), ("execute", "code")] {
        if let Some((_, rest)) = text.split_once(&format!("<{name}>")) {
            let body = rest.split(&format!("</{name}>")).next().unwrap_or(rest);
            let arguments = serde_json::json!({ argument: body.trim() }).to_string();
            return Some(ToolCall::new(None, name, arguments));
        }
    }
    None
}

/// The run's tokens. Some model servers counted only the prompts or nothing, so zeros are treated as missing.
fn totals(state: &Node<'_>, out: &mut Reading<'_>) -> Option<Totals> {
    let counted = state.counts("token_counter", out)?;
    let usage = Usage {
        input: counted.tokens("prompt_tokens", out),
        output: counted.tokens("completion_tokens", out),
        ..Usage::default()
    };
    usage.total().filter(|total| total.0 > 0).map(|_| Totals { usage, cost: None })
}

/// The model and data set in `outputs/<model>/<feedback>/<setting>/<kind>/<data set>/results.jsonl`.
fn place(path: &str) -> (Option<String>, Option<String>) {
    let parts: Vec<&str> = path.split(['/', '\\', '!']).collect();
    let model = parts.iter().position(|part| part.starts_with("F=")).and_then(|at| parts.get(at.checked_sub(1)?));
    let suite = parts.iter().rev().nth(1).filter(|_| model.is_some());
    let owned = |part: &&str| (*part).to_owned();
    (model.map(owned), suite.map(owned))
}
