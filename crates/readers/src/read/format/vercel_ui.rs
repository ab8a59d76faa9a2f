//! Messages of Vercel's AI SDK for user interfaces: one message for all replies to a prompt, with their calls and results
//! as `parts`.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::dialect;
use crate::read::texts::lines;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::record::usage;
use crate::transcript::{Grade, Header, Message, Role, ToolCall, Usage};

/// Messages of Vercel's AI SDK for user interfaces.
pub(super) static FORMAT: Format = Format {
    id: "vercel-ui",
    summary: "Vercel AI SDK messages for user interfaces: `messages` with `parts` such as `step-start` and `tool-NAME`",
    recognise,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_own = |part: &Sketch| part.is("type", "step-start") || is_tool(&part.text_of("type").unwrap_or_default());
    let is_message = |value: &Sketch| value.has(&["role"]) && value.elements_of("parts").iter().any(is_own);
    let whole = probe.document()?;
    let list = if whole.is_array() { whole } else { whole.get("messages")? };
    reason_if(list.elements().iter().any(is_message), "messages with `parts` such as `step-start`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(whole) = Node::whole(record, out) else { return };
    let messages = whole.elements().unwrap_or_else(|| whole.list("messages", out));
    let mut turns = Turns::default();
    let mut usage = Usage::default();
    for message in messages {
        if !message.expect_object("message", "an object", out) {
            continue;
        }
        let Some(role) = message.role("role", dialect::named_role, out) else { continue };
        if role == Role::Assistant {
            push_replies(&message, &mut turns, out);
        } else {
            let mut texts = Vec::new();
            for part in message.list("parts", out) {
                texts.extend(part.some_string("text").map(String::from));
            }
            turns.push(Message::saying(role, texts.join("\n")));
        }
        // Counted for all replies of the message.
        if let Some(counts) = message.within("metadata").get(["usage", "totalUsage"]) {
            usage = usage::sum(usage, dialect::usage(&counts, out).unwrap_or_default());
        }
    }
    let header = Header {
        run_id: whole.some_word(["id", "chatId"]).unwrap_or_else(|| record.file.stem.clone()),
        totals: tokens::totals(usage),
        ..Header::default()
    };
    out.run(turns.into_draft(header, Grade::default()));
}

/// Whether the kind of a part is that of a tool.
fn is_tool(kind: &str) -> bool {
    kind == "dynamic-tool" || kind == "tool-invocation" || kind.starts_with("tool-")
}

/// The reply that is being put together, and its results.
#[derive(Default)]
struct VercelStep {
    texts: Vec<String>,
    thoughts: Vec<String>,
    calls: Vec<ToolCall>,
    results: Vec<Message>,
}

impl VercelStep {
    /// Adds the reply to the conversation, if there is any.
    fn push(self, turns: &mut Turns) {
        if self.texts.is_empty() && self.thoughts.is_empty() && self.calls.is_empty() {
            return;
        }
        let mut reply = Message::new(Role::Assistant);
        reply.content = lines(&self.texts);
        reply.set_reasoning(lines(&self.thoughts));
        reply.tool_calls = self.calls;
        turns.push(reply);
        turns.push_all(self.results);
    }
}

/// Adds the replies of one message. One begins at each `step-start`, and where a text follows a call.
fn push_replies(message: &Node<'_>, turns: &mut Turns, out: &mut Reading<'_>) {
    let mut step = VercelStep::default();
    for part in message.list("parts", out) {
        let kind = part.string("type", out).unwrap_or_default();
        match &*kind {
            "step-start" => std::mem::take(&mut step).push(turns),
            "text" => {
                if !step.calls.is_empty() {
                    std::mem::take(&mut step).push(turns);
                }
                step.texts.extend(part.string("text", out).map(String::from));
            }
            "reasoning" => step.thoughts.extend(part.string(["text", "reasoning"], out).map(String::from)),
            kind if is_tool(kind) => push_tool(kind, &part, &mut step, out),
            "file" | "source-url" | "source-document" => {}
            kind if kind.starts_with("data-") => out.unknown_kind(kind),
            kind => out.unknown(&format!("part {kind}"), &part),
        }
    }
    step.push(turns);
}

/// Adds a call, and its result if it has one.
fn push_tool(kind: &str, part: &Node<'_>, step: &mut VercelStep, out: &mut Reading<'_>) {
    let inner = part.get("toolInvocation");
    let part = inner.as_ref().unwrap_or(part);
    let name = part.some_word("toolName").unwrap_or_else(|| kind.trim_start_matches("tool-").to_owned());
    let id = part.word("toolCallId", out);
    step.calls.push(ToolCall::new(id.as_deref(), &name, part.arguments(["input", "args", "rawInput"])));
    let failed = match part.some_string("state").as_deref() {
        Some("output-available" | "result") => false,
        Some("output-error" | "output-denied") => true,
        Some(
            "input-streaming" | "input-available" | "approval-requested" | "approval-responded" | "call"
            | "partial-call",
        ) => return,
        _ => return out.unknown("state of a tool", part),
    };
    let mut result = Message::new(Role::Tool);
    result.tool_call_id = id.map(Into::into);
    result.content = part.get(["output", "errorText", "result"]).map(|said| said.compact_text());
    result.is_error = Some(failed);
    step.results.push(result);
}
