//! Reads messages in any dialect that span recorders copy into their fields: OpenAI chat and Responses, Anthropic
//! blocks, LangChain serialisations, OpenTelemetry parts, Google contents.
//!
//! Deliberately lenient: the recorded framework, not the recorder, determines what a message looks like here. Anything
//! not understood is left out.

use crate::read::openai;
use crate::record::node::{MemberNames, Node};
use crate::record::outcomes::failed_by_status;
use crate::record::reading::Reading;
use crate::record::tokens;
use crate::text::word_list;
use crate::transcript::{Message, Name, Role, Text, ToolCall, Usage};
use crate::value::json;

/// Most containers opened on the way to a message.
const DEPTH: usize = 24;

/// The messages in `value`, in order. A bare string is a message of the role `speaker`.
pub(crate) fn messages(value: &Node<'_>, speaker: Role, out: &mut Reading<'_>) -> Vec<Message> {
    let mut found = Vec::new();
    push(&value.opened().node(), speaker, DEPTH, &mut found, out);
    found
}

/// The message in `value`, whose role is recorded elsewhere, and the results inside it.
pub(crate) fn messages_of(value: &Node<'_>, role: Role, out: &mut Reading<'_>) -> Vec<Message> {
    let mut found = Vec::new();
    push_message(value, role, &mut found, out);
    found
}

/// The single reply in `value`: all the assistant's texts and calls in it.
pub(crate) fn reply(value: &Node<'_>, out: &mut Reading<'_>) -> Option<Message> {
    let mut whole: Option<Message> = None;
    for message in messages(value, Role::Assistant, out).into_iter().filter(|message| message.role == Role::Assistant) {
        match &mut whole {
            None => whole = Some(message),
            Some(whole) => join(whole, message),
        }
    }
    whole
}

/// Adds a later piece of the same reply.
pub(crate) fn join(whole: &mut Message, piece: Message) {
    let both = |a: Option<Text>, b: Option<Text>| match (a, b) {
        (Some(a), Some(b)) if !b.is_empty() => {
            Some(if a.is_empty() { b } else { Text::plain(format!("{}\n{}", a.as_str(), b.as_str())) })
        }
        (a, b) => a.or(b),
    };
    whole.set_reasoning(both(whole.reasoning().cloned(), piece.reasoning().cloned()));
    whole.set_finish_reason(whole.finish_reason().or(piece.finish_reason()).map(Into::into));
    whole.set_usage(whole.usage().or(piece.usage()));
    whole.content = both(whole.content.take(), piece.content);
    whole.tool_calls.extend(piece.tool_calls);
}

fn push(value: &Node<'_>, speaker: Role, depth: usize, found: &mut Vec<Message>, out: &mut Reading<'_>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    if value.is_object() {
        push_object(value, speaker, depth, found, out);
    } else if let Some(items) = value.elements() {
        for item in &items {
            push(item, speaker, depth, found, out);
        }
    } else if let Some(text) = json::text(value).filter(|text| !text.is_empty()) {
        found.push(Message::saying(speaker, text));
    }
}

fn push_object(value: &Node<'_>, speaker: Role, depth: usize, found: &mut Vec<Message>, out: &mut Reading<'_>) {
    let kind = value.some_string("type").unwrap_or_default();
    // LangChain: {"lc": 1, "id": [.., "AIMessage"], "kwargs": {..}} and {"type": "ai", "data": {..}}.
    if let Some(inner) = value.get(["kwargs", "data"]).filter(Node::is_object) {
        let class = value.some_list("id").last().and_then(Node::as_string);
        if let Some(role) = class_role(class.as_deref().unwrap_or_default()).or(class_role(&kind)) {
            return push_message(&inner, role, found, out);
        }
        if inner.mentions("content") {
            return out.unknown_role(&class.unwrap_or(kind), value);
        }
    }
    if let Some(name) = value.some_string("role") {
        match named_role(&name) {
            Some(role) => return push_message(value, role, found, out),
            // Whoever it is says something.
            None if value.has(["content", "contents", "parts", "tool_calls", "toolCalls", "function_call"]) => {
                return out.unknown_role(&name, value);
            }
            None => {}
        }
    }
    if let Some(message) = item(&kind, value) {
        return found.push(message);
    }
    if let Some(role) = class_role(&kind).filter(|_| value.mentions("content")) {
        return push_message(value, role, found, out);
    }
    if !kind.is_empty() && value.has(["call_id", "tool_call_id", "tool_use_id"]) {
        return out.unknown(&format!("item {kind}"), value);
    }
    if push_contained(value, speaker, depth, found, out) {
        return;
    }
    // Google's candidates have their role inside `content`.
    if let Some(inner) = value.get("content").filter(|inner| inner.has("parts")) {
        return push(&inner, speaker, depth, found, out);
    }
    if !kind.is_empty() {
        out.plain_content(value);
    }
    if let Some(text) = text_under(value, ["text", "content"]) {
        found.push(Message::saying(speaker, text));
    }
}

/// The message that an item of this kind is by itself: a call, a result or a thought.
fn item(kind: &str, value: &Node<'_>) -> Option<Message> {
    let mut message = Message::new(Role::Assistant);
    match kind {
        "function_call" | "custom_tool_call" | "tool_call" | "tool_use" | "local_shell_call" => {
            message.tool_calls.extend(tool_call(value));
        }
        "function_call_output" | "custom_tool_call_output" | "tool_call_response" | "tool_result" => {
            return Some(tool_result(value));
        }
        "reasoning" => message.set_reasoning(text_under(value, ["summary", "content", "text"])),
        _ => return None,
    }
    Some(message)
}

/// Members that hold messages.
const CONTAINERS: &[&str] =
    word_list!("messages message choices candidates generations contents output input response delta");

/// Adds the messages under the first of these members that holds any; false if none does. The finish reason of a choice
/// stands beside its message.
fn push_contained(
    value: &Node<'_>,
    speaker: Role,
    depth: usize,
    found: &mut Vec<Message>,
    out: &mut Reading<'_>,
) -> bool {
    let before = found.len();
    for name in CONTAINERS {
        let Some(inner) = value.get(*name) else { continue };
        // What an API offers to choose from is never a bare text.
        if matches!(*name, "choices" | "candidates" | "generations") && inner.as_string().is_some() {
            continue;
        }
        push(&inner, speaker, depth, found, out);
        if found.len() > before {
            let finish = value.some_word(["finish_reason", "stop_reason"]).map(Into::into);
            if let Some(last) = found.last_mut().filter(|last| last.role == Role::Assistant) {
                last.set_finish_reason(last.finish_reason().map(Into::into).or(finish));
            }
            return true;
        }
    }
    false
}

/// The role with that name in any dialect.
pub(crate) fn named_role(name: &str) -> Option<Role> {
    match name.to_ascii_lowercase().as_str() {
        "developer" | "instructions" => Some(Role::System),
        "function" | "tool_result" | "toolresult" => Some(Role::Tool),
        name => openai::role(name),
    }
}

/// The role of a LangChain class or type name.
pub(crate) fn class_role(name: &str) -> Option<Role> {
    match name {
        "HumanMessage" | "HumanMessageChunk" | "human" | "user" => Some(Role::User),
        "AIMessage" | "AIMessageChunk" | "ai" | "assistant" => Some(Role::Assistant),
        "SystemMessage" | "SystemMessageChunk" | "system" => Some(Role::System),
        "ToolMessage" | "ToolMessageChunk" | "FunctionMessage" | "FunctionMessageChunk" | "tool" | "function" => {
            Some(Role::Tool)
        }
        _ => None,
    }
}

/// Adds one message whose role is known. Results inside a user's message become separate messages.
fn push_message(value: &Node<'_>, role: Role, found: &mut Vec<Message>, out: &mut Reading<'_>) {
    let mut message = Message::new(role);
    let before = found.len();
    let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
    let content = value.get(["content", "contents", "parts"]).map(|content| content.opened());
    if let Some(content) = content.as_ref().map(|content| content.node()) {
        match parts_of(&content, role) {
            Some(parts) => {
                for part in &parts {
                    push_part(part, &mut message, &mut texts, &mut thoughts, found, out);
                }
                message.content = joined(&mut texts);
            }
            // A tool's result may be a list of anything.
            None if content.is_list() => message.content = Some(content.compact_text()),
            None => message.content = text_of(&content),
        }
    }
    let named = text_under(value, ["reasoning_content", "reasoning", "thinking"]);
    thoughts.extend(named);
    message.set_reasoning(joined(&mut thoughts));
    if let Some(calls) = calls_of(value)
        && let Some(calls) = calls.opened().node().elements()
    {
        let known: Vec<Option<Name>> = message.tool_calls.iter().map(|call| call.id.clone()).collect();
        let new = calls.iter().filter_map(tool_call).filter(|call| call.id.is_none() || !known.contains(&call.id));
        message.tool_calls.extend(new);
    }
    if let Some(call) = value.get("function_call") {
        message.tool_calls.extend(tool_call(&call));
    }
    message.set_finish_reason(value.some_word(["finish_reason", "stop_reason"]).map(Into::into));
    message.set_usage(usage_under(value, ["usage_metadata", "usage"], out));
    let only_results = found.len() > before && message.content.is_none();
    if only_results {
        return;
    }
    if role == Role::Tool {
        message.tool_call_id = value.some_word(["tool_call_id", "toolCallId", "call_id", "id"]).map(Into::into);
        message.name = value.some_word(["name", "tool_name", "toolName"]).map(Into::into);
        message.is_error = flagged(value);
    }
    found.push(message);
}

/// The calls of a message, which LangChain may keep among the provider's own fields.
fn calls_of<'a>(value: &Node<'a>) -> Option<Node<'a>> {
    if let Some(own) = value.get(["tool_calls", "toolCalls"])
        && !matches!(own.elements(), Some(calls) if calls.is_empty())
    {
        return Some(own);
    }
    value.at(&["additional_kwargs", "tool_calls"])
}

/// The parts of a message whose content is a list of parts.
fn parts_of<'a>(content: &Node<'a>, role: Role) -> Option<Vec<Node<'a>>> {
    let parts = content.elements()?;
    if role != Role::Tool || parts.is_empty() || parts.iter().any(is_part) { Some(parts) } else { None }
}

/// Whether it is a part of a message in any dialect, rather than plain data.
fn is_part(value: &Node<'_>) -> bool {
    let fields =
        ["type", "text", "functionCall", "function_call", "functionResponse", "function_response", "inlineData"];
    value.written().starts_with('"') || fields.iter().any(|field| value.mentions(field))
}

/// One part of a message.
fn push_part(
    part: &Node<'_>,
    message: &mut Message,
    texts: &mut Vec<Text>,
    thoughts: &mut Vec<Text>,
    found: &mut Vec<Message>,
    out: &mut Reading<'_>,
) {
    let inner = part.get("message_content");
    let part = inner.as_ref().unwrap_or(part);
    let kind = part.some_string("type").unwrap_or_default();
    // Google's and Amazon's parts have no type.
    let call = part.get(["functionCall", "function_call", "toolUse"]);
    let response = part.get(["functionResponse", "function_response", "toolResult"]);
    let thought = part.at(&["reasoningContent", "reasoningText", "text"]);
    match &*kind {
        "tool_call" | "tool_use" | "tool-call" | "function_call" | "server_tool_use" | "function" => {
            message.tool_calls.extend(tool_call(part));
        }
        "tool_call_response" | "tool_result" | "tool-result" | "function_call_output" => found.push(tool_result(part)),
        "thinking" | "reasoning" => {
            thoughts.extend(text_under(part, ["thinking", "content", "text"]));
        }
        _ => {
            if let Some(call) = call {
                message.tool_calls.extend(tool_call(&call));
            } else if let Some(response) = response {
                found.push(tool_result(&response));
            } else if part.has("reasoningContent") {
                if let Some(thought) = thought {
                    thoughts.extend(text_of(&thought));
                }
            } else if part.has("cachePoint") {
                // A mark of what the provider keeps.
            } else {
                out.plain_content(part);
                texts.push(text_of(part).unwrap_or_else(|| {
                    let kind = if kind.is_empty() { "data" } else { &kind };
                    Text::plain(json::mark(kind, &part.compact()))
                }));
            }
        }
    }
}

/// A tool's result that is not part of a message.
fn tool_result(value: &Node<'_>) -> Message {
    let mut message = Message::new(Role::Tool);
    let ids = ["tool_use_id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "id"];
    message.tool_call_id = value.some_word(ids).map(Into::into);
    message.name = value.some_word(["name", "toolName", "tool_name"]).map(Into::into);
    let said = value.get(["content", "output", "response", "result"]);
    message.content = said.map(|said| text_of(&said).unwrap_or_else(|| said.compact_text()));
    message.is_error = flagged(value);
    message
}

/// The error flag of a dialect: Anthropic's `is_error`, LangChain's `status`.
fn flagged(value: &Node<'_>) -> Option<bool> {
    if let Some(flag) = value.some_flag(["is_error", "isError"]) {
        return Some(flag);
    }
    failed_by_status(value.some_string("status").as_deref())
}

/// A call in any dialect; `None` without a name.
fn tool_call(value: &Node<'_>) -> Option<ToolCall> {
    let outer = value.get("tool_call");
    let value = outer.as_ref().unwrap_or(value);
    let inner = value.get(["function", "custom"]).filter(Node::is_object);
    let inner = inner.as_ref().unwrap_or(value);
    let name = inner.some_word(["name", "toolName", "tool_name"])?;
    let id = value.some_word(["call_id", "tool_call_id", "toolCallId", "toolUseId", "id"]);
    let arguments = inner.get(["arguments", "args", "input", "parameters"]).map(|asked| asked.compact_text());
    Some(ToolCall::new(id.as_deref(), &name, arguments.unwrap_or_default()))
}

/// The text of a string, a part, or a list of parts; `None` if there is none.
fn text_of(value: &Node<'_>) -> Option<Text> {
    if let Some(text) = json::text(value) {
        return Some(text);
    }
    if let Some(parts) = value.elements() {
        if parts.is_empty() {
            return Some(Text::plain(""));
        }
        let mut texts: Vec<Text> = parts.iter().filter_map(text_of).collect();
        return joined(&mut texts);
    }
    match value.get("json") {
        Some(data) => Some(data.compact_text()),
        None => json::text(value.get(["text", "content"])?.written()),
    }
}

/// The text of the member under the first of these names.
fn text_under(value: &Node<'_>, names: impl MemberNames) -> Option<Text> {
    text_of(&value.get(names)?)
}

/// The texts joined by line feeds; a single one stays undecoded.
fn joined(texts: &mut Vec<Text>) -> Option<Text> {
    match texts.len() {
        0 | 1 => texts.pop(),
        _ => Some(Text::plain(texts.iter().map(Text::as_str).collect::<Vec<_>>().join("\n"))),
    }
}

/// The token counts under the first of these names.
pub(crate) fn usage_under(value: &Node<'_>, names: impl MemberNames, out: &mut Reading<'_>) -> Option<Usage> {
    usage(&value.get(names)?, out)
}

/// Token counts in any spelling. Anthropic counts cached tokens separately from the input, everybody else as part of
/// it; where the total is the sum of input and output, they are part of it whoever wrote it.
pub(crate) fn usage(value: &Node<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let of_input = value
        .counts(["input_token_details", "input_tokens_details", "prompt_tokens_details", "prompt_token_details"], out);
    let names =
        ["output_token_details", "output_tokens_details", "completion_tokens_details", "completion_token_details"];
    let of_output = value.counts(names, out);
    let mut detail = |side: &Option<Node<'_>>, names: [&str; 2]| side.as_ref()?.tokens(names, out);
    let (read, written) =
        (detail(&of_input, ["cache_read", "cached_tokens"]), detail(&of_input, ["cache_creation", "cache_write"]));
    let reasoning = detail(&of_output, ["reasoning", "reasoning_tokens"]);
    let read_beside = value.tokens(["cache_read_input_tokens", "cacheReadInputTokens"], out);
    let written_beside = value.tokens(["cache_creation_input_tokens", "cacheWriteInputTokens"], out);
    let input = value.tokens(["input_tokens", "prompt_tokens", "inputTokens", "promptTokens"], out);
    let beside = !value.mentions("prompt_tokens") && of_input.is_none();
    let output = value.tokens(["output_tokens", "completion_tokens", "outputTokens", "completionTokens"], out);
    let total = value.tokens(["total_tokens", "totalTokens"], out);
    let is_whole = match (total, input, output) {
        (Some(total), Some(input), Some(output)) => total == input.saturating_add(output),
        _ => false,
    };
    let extra = read_beside.unwrap_or(0).saturating_add(written_beside.unwrap_or(0));
    let usage = Usage {
        input: if beside && !is_whole { input.map(|input| input.saturating_add(extra)) } else { input },
        cache_read: read.or(read_beside),
        cache_write: written.or(written_beside),
        output,
        reasoning,
    };
    tokens::recorded(usage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::in_memory;

    fn told(json: &str) -> Vec<String> {
        in_memory::within("x", json, |out| messages(&Node::from_written(json), Role::User, out))
            .iter()
            .map(|message| {
                let calls: Vec<String> =
                    message.tool_calls.iter().map(|call| format!(" {}({})", call.name, call.arguments)).collect();
                let id = message.tool_call_id.as_deref().map(|id| format!(" for {id}")).unwrap_or_default();
                format!("{} {}{}{id}", message.role.name(), message.text(), calls.concat())
            })
            .collect()
    }

    #[test]
    fn one_conversation_in_every_dialect() {
        let cases = [
            r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"on it","tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"a"}]"#,
            r#"[{"role":"user","parts":[{"type":"text","content":"hi"}]},{"role":"assistant","parts":[{"type":"text","content":"on it"},{"type":"tool_call","id":"c","name":"ls","arguments":{}}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c","response":"a"}]}]"#,
            r#"{"messages":[[{"type":"human","content":"hi"},{"lc":1,"type":"constructor","id":["x","AIMessage"],"kwargs":{"content":"on it","tool_calls":[{"name":"ls","args":{},"id":"c"}]}},{"type":"tool","data":{"content":"a","tool_call_id":"c"}}]]}"#,
            r#"[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"on it"},{"type":"tool_use","id":"c","name":"ls","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"a"}]}]}]"#,
        ];
        for case in cases {
            assert_eq!(told(case), ["user hi", "assistant on it ls({})", "tool a for c"], "{case}");
        }
        let items = r#"[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},{"type":"function_call","call_id":"c","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"a"}]"#;
        assert_eq!(told(items), ["user hi", "assistant  ls({})", "tool a for c"]);
    }

    #[test]
    fn cached_tokens_count_once() {
        for (json, input, read) in [
            (r#"{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":90}"#, 100, 90),
            (r#"{"prompt_tokens":100,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":90}}"#, 100, 90),
            (r#"{"input_tokens":100,"output_tokens":1,"input_token_details":{"cache_read":90}}"#, 100, 90),
            (r#"{"inputTokens":10,"outputTokens":1,"totalTokens":101,"cacheReadInputTokens":90}"#, 100, 90),
            (r#"{"inputTokens":100,"outputTokens":1,"totalTokens":101,"cacheReadInputTokens":90}"#, 100, 90),
        ] {
            let usage = in_memory::within("x", json, |out| usage(&Node::from_written(json), out)).unwrap();
            assert_eq!((usage.input, usage.cache_read), (Some(input), Some(read)), "{json}");
        }
    }
}
