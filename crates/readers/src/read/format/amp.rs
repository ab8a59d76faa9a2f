//! Amp threads: a document with `messages` of blocks, in which results are under `run`.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::turns::Turns;
use crate::read::{dialect, texts};
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::transcript::{Grade, Header, Message, PromptedBy, Role, ToolCall, Usage};

/// Amp threads.
pub(super) static FORMAT: Format = Format {
    id: "amp",
    summary: "Amp threads: a document with `v`, `id` and `messages` that have a `messageId`",
    recognise,
    prompted_by: PromptedBy::Person,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let thread = probe.document()?;
    let is_message = |value: &Sketch| value.has(&["role", "messageId", "content"]);
    let messages = thread.get("messages")?.elements();
    reason_if(thread.has(&["v", "id"]) && messages.first().is_some_and(is_message), "`messages` with a `messageId`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(thread) = Node::whole(record, out) else { return };
    let mut turns = Turns::default();
    for message in thread.list("messages", out) {
        if message.expect_object("message", "an object", out) {
            push_message(&message, &mut turns, out);
        }
    }
    let header = Header {
        run_id: thread.some_word("id").unwrap_or_else(|| record.file.stem.clone()),
        agent: Some("amp".to_owned()),
        started_at: thread.instant("created", out),
        ..Header::default()
    };
    out.run(turns.into_draft(header, Grade::default()));
}

/// Adds a message and the results inside it.
fn push_message(node: &Node<'_>, turns: &mut Turns, out: &mut Reading<'_>) {
    let Some(role) = node.role("role", dialect::named_role, out) else { return };
    let mut message = Message::new(role);
    message.ts = node.within("meta").some_instant("sentAt");
    let (mut texts, mut thoughts, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for block in node.list("content", out) {
        match block.some_string("type").as_deref() {
            Some("text") => texts.extend(block.string("text", out)),
            Some("thinking") => thoughts.extend(block.string("thinking", out)),
            Some("redacted_thinking") => {}
            Some("tool_use" | "server_tool_use") => {
                let Some(name) = block.string("name", out) else { continue };
                let id = block.word("id", out);
                message.tool_calls.push(ToolCall::new(id.as_deref(), &name, block.arguments("input")));
            }
            Some("tool_result") => results.push(result(&block, out)),
            _ => {
                out.plain_content(&block);
                texts.push("".into());
            }
        }
    }
    message.content = texts::lines(&texts);
    message.set_reasoning(texts::lines(&thoughts));
    if role == Role::Assistant {
        message.set_finish_reason(node.within("state").some_word("stopReason").map(Into::into));
        if let Some(counts) = node.counts("usage", out) {
            message.set_model(counts.some_word("model").map(Into::into));
            message.set_usage(usage(&counts, out));
        }
    }
    turns.push_all(results);
    if role == Role::Assistant || message.content.is_some() {
        turns.push(message);
    }
}

fn result(block: &Node<'_>, out: &mut Reading<'_>) -> Message {
    let mut result = Message::new(Role::Tool);
    result.tool_call_id = block.word(["toolUseID", "tool_use_id"], out).map(Into::into);
    let run = block.within("run");
    let status = run.some_string("status");
    result.is_error = status.as_deref().map(|status| status != "done");
    let said = run.get(["result", "error", "reason"]).map(|said| match said.get(["content", "message", "output"]) {
        Some(inner) => inner.compact_text(),
        None => said.compact_text(),
    });
    result.content = said;
    result
}

/// The tokens of one call: cached ones are counted beside the input.
fn usage(counts: &Node<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let usage = Usage {
        cache_read: counts.tokens("cacheReadInputTokens", out),
        cache_write: counts.tokens("cacheCreationInputTokens", out),
        input: counts.tokens("inputTokens", out),
        output: counts.tokens("outputTokens", out),
        reasoning: None,
    };
    tokens::recorded(tokens::with_cached_beside(usage))
}
