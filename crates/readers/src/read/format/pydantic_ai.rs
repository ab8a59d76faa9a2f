//! pydantic-ai message histories: requests and responses made of parts. A retry prompt that names a tool
//! is that tool's error; one that names none is a message to the model.

use super::{Format, each_list, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Header, Message, Role, Text, ToolCall, Usage};
use crate::value::json;

/// pydantic-ai message histories.
pub(super) static FORMAT: Format = Format {
    id: "pydantic-ai",
    summary: "pydantic-ai message histories: an array of requests and responses, one a line, or objects that hold one",
    recognise,
    ..Format::reading(read)
};

/// Keys under which an object has a history.
const HISTORIES: [&str; 5] = ["messages", "all_messages", "message_history", "new_messages", "history"];

fn recognise(probe: &Probe) -> Option<String> {
    let is_message = |value: &Sketch| {
        matches!(value.text_of("kind").as_deref(), Some("request" | "response")) && value.has_array("parts")
    };
    let is_history = |value: &Sketch| value.elements().iter().any(is_message);
    let holds = |value: &Sketch| HISTORIES.iter().any(|key| value.elements_of(key).iter().any(is_message));
    let found = |value: &Sketch| is_message(value) || is_history(value) || holds(value);
    let within = |value: &Sketch| found(value) || value.elements().iter().any(found);
    reason_if(probe.any(within), "`parts` of kind `request` or `response`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    each_list(
        record,
        "message",
        |value, out| if value.has(HISTORIES) && !value.has("parts") { Some(value.list(HISTORIES, out)) } else { None },
        out,
        |around, key, messages, out| push_run(record, around, key, messages, out),
    );
}

/// Delivers one history as a run; `around` is the object that contains it.
fn push_run(record: &Record<'_>, around: &Node<'_>, key: String, messages: Vec<Node<'_>>, out: &mut Reading<'_>) {
    let mut history = PydanticAiHistory::default();
    for message in messages {
        let Some(message) = message.into_object("message", out) else { continue };
        history.take_in(&message, out);
    }
    let wanted = record.options.outcome_key.as_deref();
    let header = Header {
        run_id: around.some_word(["run_id", "id", "conversation_id"]).unwrap_or(key),
        task_id: around.some_word(["task_id", "task"]),
        agent: around.some_word(["agent", "agent_name"]),
        ..Header::default()
    };
    let grade = around.named_grade(wanted, out);
    out.run(history.turns.into_draft(header, grade));
}

/// A history being read.
#[derive(Default)]
struct PydanticAiHistory {
    turns: Turns,
    instructions: Option<String>,
}

impl PydanticAiHistory {
    fn take_in(&mut self, fields: &Node<'_>, out: &mut Reading<'_>) {
        match fields.some_word("kind").as_deref() {
            Some("request") => self.request(fields, out),
            Some("response") => self.response(fields, out),
            kind => {
                out.part_of_run(&format!("message {}", kind.unwrap_or_default()), fields);
                let help = "its `kind` should say which; the message is left out";
                out.error_at(fields.place(), "a message that is neither a request nor a response", help);
            }
        }
    }

    fn request(&mut self, fields: &Node<'_>, out: &mut Reading<'_>) {
        // Every request repeats the instructions; only a change is a new message.
        if let Some(instructions) = fields.some_word("instructions").filter(|text| !text.is_empty())
            && self.instructions.as_ref() != Some(&instructions)
        {
            self.turns.say(Role::System, instructions.as_str(), None);
            self.instructions = Some(instructions);
        }
        for part in fields.list("parts", out) {
            let Some(part) = part.into_object("part", out) else { continue };
            let tool = part.some_word("tool_name");
            let role = match part.some_word("part_kind").as_deref() {
                Some("system-prompt") => Role::System,
                Some("tool-return" | "builtin-tool-return") => Role::Tool,
                Some("retry-prompt") if tool.is_some() => Role::Tool,
                Some("user-prompt" | "retry-prompt") => Role::User,
                Some(other) => {
                    out.unknown(other, &part);
                    continue;
                }
                None => {
                    out.error_at(part.place(), "a part without a `part_kind`", "the part is left out");
                    continue;
                }
            };
            let mut message = Message::new(role);
            message.content = part.get("content").map(|content| said(&content));
            message.ts = part.instant("timestamp", out);
            if role == Role::Tool {
                message.tool_call_id = part.some_word("tool_call_id").map(Into::into);
                message.name = tool.map(Into::into);
                message.is_error = match part.some_word("part_kind").as_deref() {
                    Some("retry-prompt") => Some(true),
                    _ => match part.some_word("outcome").as_deref() {
                        None | Some("success") => Some(false),
                        Some("failed") => Some(true),
                        // A denied call did not run.
                        Some(_) => None,
                    },
                };
            }
            self.turns.push(message);
        }
    }

    fn response(&mut self, fields: &Node<'_>, out: &mut Reading<'_>) {
        let mut message = Message::new(Role::Assistant);
        let (mut texts, mut thoughts, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for part in fields.list("parts", out) {
            let Some(part) = part.into_object("part", out) else { continue };
            let content =
                || part.get("content").map(|content| said(&content)).unwrap_or_default().as_str().into_owned();
            match part.some_word("part_kind").as_deref() {
                Some("text") => texts.push(content()),
                Some("thinking") => thoughts.push(content()),
                Some("tool-call" | "builtin-tool-call") => match part.some_word("tool_name") {
                    Some(name) => {
                        let arguments = part.arguments("args");
                        let id = part.some_word("tool_call_id");
                        message.tool_calls.push(ToolCall::new(id.as_deref(), &name, arguments));
                    }
                    None => out.error_at(part.place(), "a tool call without a `tool_name`", "the call is left out"),
                },
                Some("builtin-tool-return") => {
                    let mut result = Message::new(Role::Tool);
                    result.content = part.get("content").map(|content| said(&content));
                    result.tool_call_id = part.some_word("tool_call_id").map(Into::into);
                    result.name = part.some_word("tool_name").map(Into::into);
                    results.push(result);
                }
                Some("file") => texts.push(json::mark("file", part.written())),
                Some(other) => out.unknown(other, &part),
                None => out.error_at(part.place(), "a part without a `part_kind`", "the part is left out"),
            }
        }
        let joined = |texts: Vec<String>| (!texts.is_empty()).then(|| Text::plain(texts.join("\n\n")));
        message.content = joined(texts);
        message.set_reasoning(joined(thoughts));
        message.set_usage(usage(fields, out));
        message.set_model(fields.some_word("model_name").map(Into::into));
        message.set_finish_reason(fields.some_word("finish_reason").map(Into::into));
        message.ts = fields.instant("timestamp", out);
        self.turns.push(message);
        self.turns.push_all(results);
    }
}

/// A part's content: a string, several strings, or else its JSON.
fn said(content: &Node<'_>) -> Text {
    let is_text = |item: &Node<'_>| item.written().starts_with('"');
    let items = content.elements().filter(|items| items.iter().any(is_text));
    let Some(items) = items else { return content.as_text() };
    let mark = |item: &Node<'_>| {
        let kind = item.some_word("kind").unwrap_or_else(|| "data".to_owned());
        json::mark(&kind, item.written())
    };
    let mut texts = Vec::new();
    for item in &items {
        texts.push(match item.as_string() {
            Some(text) => text.into_owned(),
            None => mark(item),
        });
    }
    Text::plain(texts.join("\n"))
}

/// The token counts of one call, under the new or old names. Cached tokens are part of the input; zeros mean that the
/// provider reported none.
fn usage(fields: &Node<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let wire = fields.counts("usage", out)?;
    let details = wire.counts("details", out).unwrap_or_default();
    let input = wire.tokens(["input_tokens", "request_tokens"], out);
    let output = wire.tokens(["output_tokens", "response_tokens"], out);
    let total = wire.tokens("total_tokens", out);
    let thoughts = details.tokens("thoughts_tokens", out);
    let reasoning = details.tokens("reasoning_tokens", out).or(thoughts);
    let both = input.unwrap_or(0).saturating_add(output.unwrap_or(0));
    let beside = thoughts.filter(|thoughts| total == Some(both.saturating_add(*thoughts)));
    let usage = Usage {
        input,
        cache_read: wire.tokens("cache_read_tokens", out).or_else(|| details.tokens("cached_tokens", out)),
        cache_write: wire.tokens("cache_write_tokens", out),
        output: output.map(|output| output.saturating_add(beside.unwrap_or(0))),
        reasoning,
    };
    if both > 0 { Some(usage) } else { None }
}
