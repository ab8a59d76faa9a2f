//! OpenHands completion logs: one model call per file, with the conversation so far. The latest file of a folder has
//! the whole run.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::openai;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{EndCause, Grade, Header, Message, PromptedBy, Role, Text, ToolCall};

/// OpenHands completion logs.
pub(super) static FORMAT: Format = Format {
    id: "openhands-completions",
    summary: "OpenHands completion logs: `messages`, `response` and `fncall_messages`",
    recognise,
    prompted_by: PromptedBy::Program,
    latest_copy_counts: true,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    let is_log = document.has(&["messages", "response"])
        && (document.has(&["fncall_messages"]) || document.has(&["args", "kwargs", "timestamp"]));
    let has_reply = |value: &Sketch| value.has_within("response", &["choices"]);
    reason_if(is_log && has_reply(document), "`messages` and `response` with OpenHands' own fields")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(log) = Node::whole(record, out) else { return };
    // `fncall_messages` has the conversation with structured calls, for models that were prompted in plain text.
    let is_text = !log.has("fncall_messages");
    let messages = log.list(["fncall_messages", "messages"], out);
    let mut turns = Turns::default();
    for message in &messages {
        if let Some(message) = openai::message(message, out) {
            push(message, is_text, &mut turns);
        }
    }
    let response = log.object(["fncall_response", "response"], out);
    let mut end = EndCause::Unknown;
    if let Some(response) = &response
        && let Some(choice) = response.list("choices", out).first()
        && let Some(reply) = choice.object("message", out)
        && let Some(mut reply) = openai::message(&reply, out)
    {
        reply.set_usage(response.usage("usage", out));
        reply.set_cost(log.dollars("cost", out).filter(|cost| cost.0 > 0.0 || reply.usage().is_none()));
        reply.set_model(response.word("model", out).map(Into::into));
        reply.ts = log.instant("timestamp", out);
        push(reply, is_text, &mut turns);
        if let Some(reply) = turns.last_reply()
            && reply.tool_calls.iter().any(|call| call.name == "finish")
        {
            end = EndCause::SelfFinish;
        }
    }
    // The folder of these files is named after its instance.
    let folder = &record.file.folder_name;
    let name = if folder.contains("__") { folder } else { &record.file.stem };
    let header = Header {
        run_id: name.clone(),
        task_id: Some(name.clone()),
        model: response.unwrap_or_default().some_word("model"),
        agent: Some("openhands".to_owned()),
        ..Header::default()
    };
    out.run(turns.into_draft(header, Grade { end, ..Grade::default() }));
}

/// Adds a message. In plain text, calls are `<function=name>` and results begin with `EXECUTION RESULT of`.
fn push(message: Message, is_text: bool, turns: &mut Turns) {
    let mut message = message;
    if is_text && message.role == Role::Assistant && message.tool_calls.is_empty() {
        message.tool_calls.extend(call_in(&message.text()));
    }
    if is_text && message.role == Role::User && turns.awaits() {
        let text = message.text().into_owned();
        if let Some(rest) = text.strip_prefix("EXECUTION RESULT of [")
            && let Some((name, result)) = rest.split_once("]:")
        {
            message.role = Role::Tool;
            message.name = Some(name.into());
            message.content = Some(Text::plain(result.trim_start_matches('\n')));
        }
    }
    turns.push(message);
}

/// The call in a text: `<function=execute_bash>` with `<parameter=command>` and so on.
fn call_in(text: &str) -> Option<ToolCall> {
    let (_, rest) = text.split_once("<function=")?;
    let (name, rest) = rest.split_once('>')?;
    let body = rest.split("</function>").next().unwrap_or(rest);
    let mut parameters = serde_json::Map::new();
    for part in body.split("<parameter=").skip(1) {
        if let Some((key, value)) = part.split_once('>') {
            let value = value.split("</parameter>").next().unwrap_or(value);
            parameters.insert(key.to_owned(), value.trim_matches('\n').into());
        }
    }
    Some(ToolCall::new(None, name, serde_json::Value::Object(parameters).to_string()))
}
