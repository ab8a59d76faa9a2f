//! Ko-AgentBench logs: one file per model and level, one run per task. The outcome is that of the benchmark's runner.

use super::{Format, RecordLayout, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::openai;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::outcomes::native_grade;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Header, Message, PromptedBy, Role, Text, ToolCall, Totals};
use crate::value::json;

/// Ko-AgentBench logs.
pub(super) static FORMAT: Format = Format {
    id: "ko-agentbench",
    summary: "Ko-AgentBench logs: `results` of tasks with a `conversation_log`",
    recognise,
    layout: |_| RecordLayout::Elements { at: Some("results"), envelope: &["metadata"] },
    prompted_by: PromptedBy::Program,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_task = |value: &Sketch| value.has(&["task_id", "conversation_log"]);
    let results = probe.document()?.get("results")?.elements();
    reason_if(is_task(results.first()?), "`results` with a `conversation_log`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(task) = Node::whole(record, out) else { return };
    let metadata = Node::from_written(record.envelope).within("metadata");
    let mut calls = task.list("tool_calls", out).into_iter().peekable();
    let mut turns = Turns::default();
    let log = task.under("conversation_log", out);
    let messages = log.list("messages", out);
    for (n, message) in messages.iter().enumerate() {
        // Calls are recorded separately, in the order of the results that follow the reply that made them.
        let n_results = messages[n + 1..].iter().take_while(|next| next.is("role", "tool")).count();
        push(message, n_results, &mut calls, &mut turns, out);
    }
    let success = task.flag("success", out);
    let id = task.word("task_id", out);
    let header = Header {
        run_id: format!("{}/{}", record.file.stem, id.as_deref().unwrap_or(record.key)),
        task_id: id,
        suite: task.some_word("category"),
        model: metadata.some_word("model"),
        agent: Some("ko-agentbench".to_owned()),
        totals: task.usage("token_usage", out).map(|usage| Totals { usage, cost: None }),
        ..Header::default()
    };
    out.run(turns.into_draft(header, native_grade("success", success, None)));
}

fn push<'a>(
    node: &Node<'a>,
    n_results: usize,
    calls: &mut impl Iterator<Item = Node<'a>>,
    turns: &mut Turns,
    out: &mut Reading<'_>,
) {
    let Some(role) = node.role("role", openai::role, out) else { return };
    if role == Role::Tool {
        let mut result = Message::new(Role::Tool);
        result.content =
            node.get("content").map(|said| json::text(&said).unwrap_or_else(|| Text::plain(said.written())));
        turns.push(result);
        return;
    }
    let Some(mut message) = openai::message(node, out) else { return };
    if role == Role::Assistant && message.tool_calls.is_empty() {
        for call in calls.by_ref().take(n_results) {
            let name = call.word("tool_name", out).unwrap_or_else(|| "tool".to_owned());
            message.tool_calls.push(ToolCall::new(None, &name, call.arguments("arguments")));
        }
    }
    turns.push(message);
}
