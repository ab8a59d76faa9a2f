//! Chats of VS Code's Copilot (`chatSessions`): one document, or the log of its changes, a change a line. A request is
//! a prompt; in agent mode its `toolCallRounds` are the replies, and in older chats the parts of its response are.

mod changes;

use super::{Format, RecordLayout, reason_if};
use crate::open::probe::{Probe, Shape, Sketch};
use crate::read::requests::is_step;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::text::word_list;
use crate::transcript::{EndCause, Grade, Header, Message, PromptedBy, Role, Text, ToolCall, Usage};
use crate::value::json;

/// Chats of VS Code's Copilot.
pub(super) static FORMAT: Format = Format {
    id: "vscode-chat",
    summary: "chats of VS Code's Copilot (`chatSessions`): a document, or a log of its changes",
    recognise,
    joins_lines: |first| first.has(&["kind", "v"]),
    layout,
    prompted_by: PromptedBy::Person,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let first = probe.first()?;
    if is_chat(first) {
        return Some("a chat with `requests` and `sessionId`".to_owned());
    }
    let is_whole = |line: &Sketch| line.has(&["kind"]) && matches!(line.get("v"), Some(chat) if is_chat(chat));
    reason_if(probe.any(is_whole), "changes of a chat with `requests` and `sessionId`")
}

fn layout(probe: &Probe) -> RecordLayout {
    match (probe.shape, probe.first()) {
        (Shape::Lines, Some(first)) if is_chat(first) => RecordLayout::Lines,
        _ => RecordLayout::Whole,
    }
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let values = Node::rows(record, out);
    match values.as_slice() {
        [chat] if !chat.has("kind") => push_run(chat, record, out),
        lines => {
            let Some(chat) = changes::applied(lines, out) else {
                return out.error_at(record.text, "no line sets the chat", "its changes are left out");
            };
            let chat = chat.to_string();
            if let Some(chat) = Node::inside(&chat, record.text) {
                push_run(&chat, record, out);
            }
        }
    }
}

/// Whether it is a whole chat.
fn is_chat(value: &Sketch) -> bool {
    value.has(&["requests", "sessionId", "version"])
}

fn push_run(chat: &Node<'_>, record: &Record<'_>, out: &mut Reading<'_>) {
    let (mut turns, mut end) = (Turns::default(), EndCause::Unknown);
    for request in chat.list("requests", out) {
        if let Some(request) = request.into_object("request", out) {
            end = push_request(&request, &mut turns, out);
        }
    }
    let header = Header {
        run_id: chat.word("sessionId", out).unwrap_or_else(|| record.file.stem.clone()),
        agent: Some("vscode-copilot".to_owned()),
        started_at: chat.instant("creationDate", out),
        ..Header::default()
    };
    out.run(turns.into_draft(header, Grade { end, ..Grade::default() }));
}

/// Reads a prompt and what it led to; says how it ended.
fn push_request(request: &Node<'_>, turns: &mut Turns, out: &mut Reading<'_>) -> EndCause {
    let (ts, model) = (request.instant("timestamp", out), request.word("modelId", out));
    let prompt = match request.get("message").filter(|said| !said.is_object()) {
        Some(_) => request.text("message", out),
        None => request.under("message", out).text("text", out),
    };
    turns.say(Role::User, prompt.unwrap_or_default(), ts);
    let replies_from = turns.len();
    let result = request.under("result", out);
    let metadata = result.under("metadata", out);
    let rounds = metadata.list("toolCallRounds", out);
    let results = metadata.under("toolCallResults", out);
    for round in &rounds {
        push_round(round, &results, model.as_deref(), turns, out);
    }
    let parts = request.list("response", out);
    if rounds.is_empty() {
        push_parts(&parts, model.as_deref(), turns, out);
    }
    // The counts of a request are those of its last model call: where there were more, the sum is not known.
    let usage = Usage {
        input: metadata.tokens("promptTokens", out).or_else(|| request.tokens("promptTokens", out)),
        output: metadata.tokens("outputTokens", out).or_else(|| request.tokens("completionTokens", out)),
        ..Usage::default()
    };
    let replies = turns.events().iter().skip(replies_from).filter(|event| is_step(event));
    if replies.count() == 1
        && let Some(reply) = turns.last_reply().filter(|_| !usage.is_empty())
    {
        reply.set_usage(Some(usage));
    }
    if request.flag("isCanceled", out) == Some(true) {
        turns.interrupted();
        return EndCause::Killed;
    }
    if result.has("errorDetails") { EndCause::Error } else { EndCause::Unknown }
}

/// A reply with the results of its calls.
fn push_round(round: &Node<'_>, results: &Node<'_>, model: Option<&str>, turns: &mut Turns, out: &mut Reading<'_>) {
    let mut reply = Message::new(Role::Assistant);
    reply.content = round.content("response", out);
    reply.set_reasoning(round.get("thinking").and_then(|said| json::content(&said.get("text").unwrap_or(said))));
    reply.ts = round.instant("timestamp", out);
    reply.set_model(model.map(Into::into));
    let mut answers = Vec::new();
    for call in round.list("toolCalls", out) {
        let Some(name) = call.word("name", out) else {
            out.error_at(call.place(), "a tool call without a name", "the call is left out");
            continue;
        };
        let id = call.word("id", out);
        reply.tool_calls.push(ToolCall::new(id.as_deref(), &name, call.arguments("arguments")));
        if let Some(id) = id
            && let Some(found) = results.get(id.as_str())
        {
            answers.push((id, found));
        }
    }
    turns.push(reply);
    for (id, found) in answers {
        push_result(&id, &found, turns);
    }
}

fn push_result(id: &str, found: &Node<'_>, turns: &mut Turns) {
    let mut result = Message::new(Role::Tool);
    if found.has("content") {
        let parts = found.some_list("content");
        let texts: Vec<String> = parts.iter().map(|part| text_of(part).as_str().into_owned()).collect();
        result.content = Some(Text::plain(texts.join("\n")));
    }
    result.tool_call_id = Some(id.into());
    result.is_error = found.some_flag(["isError", "hasError"]);
    turns.push(result);
}

/// The text of a part of a result, or else its JSON.
fn text_of(part: &Node<'_>) -> Text {
    match part.get("value") {
        Some(value) => value.compact_text(),
        None => part.as_content(),
    }
}

/// The replies of a response without rounds: one begins where a text follows a tool's part.
fn push_parts(parts: &[Node<'_>], model: Option<&str>, turns: &mut Turns, out: &mut Reading<'_>) {
    let (mut reply, mut texts): (Message, Vec<String>) = (Message::new(Role::Assistant), Vec::new());
    let mut push = |reply: &mut Message, texts: &mut Vec<String>| {
        if texts.is_empty() && reply.tool_calls.is_empty() {
            return;
        }
        let mut whole = std::mem::replace(reply, Message::new(Role::Assistant));
        if !texts.is_empty() {
            whole.content = Some(Text::plain(std::mem::take(texts).concat()));
        }
        whole.set_model(model.map(Into::into));
        turns.push(whole);
    };
    for part in parts {
        match part.some_word("kind").as_deref() {
            None | Some("markdownContent") => {
                let said = part.within(["value", "content"]);
                let Some(text) = said.get("value").unwrap_or(said).as_string() else { continue };
                if !reply.tool_calls.is_empty() {
                    push(&mut reply, &mut texts);
                }
                texts.push(text.into_owned());
            }
            Some("toolInvocationSerialized" | "toolInvocation") => {
                let Some(name) = part.word("toolId", out) else { continue };
                let id = part.word("toolCallId", out);
                let command = part.at(&["toolSpecificData", "commandLine"]);
                let arguments = command.map(|command| command.compact_text()).unwrap_or_default();
                reply.tool_calls.push(ToolCall::new(id.as_deref(), &name, arguments));
            }
            Some(kind) if SHOWN.contains(&kind) => {}
            Some(kind) => out.unknown(&format!("part {kind}"), part),
        }
    }
    push(&mut reply, &mut texts);
}

/// Kinds of parts that only show what the replies and calls hold.
const SHOWN: &[&str] = word_list!(
    "inlineReference codeblockUri textEditGroup notebookEditGroup undoStop progressMessage progressTaskSerialized",
    "prepareToolInvocation mcpServersStarting thinking warning confirmation elicitation elicitationSerialized command",
    "treeData multiDiffData references",
);
