//! Cline and Roo Code tasks: `api_conversation_history.json` has the API's messages, and `ui_messages.json` what the
//! editor showed. Calls are blocks, or XML in the text in older versions; results are texts that name the tool. Cline's
//! command line keeps the messages of a session in `ID.messages.json`, with the session's id beside them.

use super::Format;
use crate::open::probe::{Probe, Sketch};
use crate::read::turns::Turns;
use crate::read::{openai, texts};
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::text::word_list;
use crate::transcript::{Grade, Header, Instant, Message, PromptedBy, Role, Text, ToolCall, Usage};

/// The file with the API's messages.
pub(super) static FORMAT: Format = Format {
    id: "cline",
    summary: "Cline and Roo Code tasks: api_conversation_history.json; Cline CLI: *.messages.json",
    recognise,
    prompted_by: PromptedBy::Person,
    ..Format::reading(read)
};

/// The file's name.
pub(super) const NAME: &str = "api_conversation_history.json";

/// Tools whose calls may be written as XML in the text.
const TOOLS: &[&str] = word_list!(
    "execute_command read_file write_to_file replace_in_file search_files list_files list_code_definition_names",
    "browser_action use_mcp_tool access_mcp_resource ask_followup_question attempt_completion plan_mode_respond",
    "new_task condense web_fetch web_search apply_diff insert_content search_and_replace switch_mode update_todo_list",
    "codebase_search fetch_instructions load_mcp_documentation report_bug new_rule use_skill use_subagents apply_patch",
);

fn recognise(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    if document.has(&["sessionId", "messages", "agent", "origin"]) {
        return Some("`messages` with Cline's `sessionId`, `agent` and `origin`".to_owned());
    }
    let messages = document.elements();
    let has_role = |value: &Sketch| value.has(&["role", "content"]);
    if !has_role(messages.first()?) {
        return None;
    }
    let is_reply = |value: &Sketch| value.is("role", "assistant") && value.has_within("modelInfo", &["modelId"]);
    if messages.iter().any(is_reply) {
        return Some("messages with Cline's `modelInfo`".to_owned());
    }
    if probe.name == NAME { Some(format!("messages in a file called `{NAME}`")) } else { None }
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(whole) = Node::whole(record, out) else { return };
    let mut header = header(record);
    let messages = if let Some(messages) = whole.elements() {
        messages
    } else {
        header.run_id = whole.word("sessionId", out).unwrap_or(header.run_id);
        whole.list("messages", out)
    };
    let mut turns = Turns::default();
    for message in messages {
        match message.role("role", openai::role, out) {
            Some(Role::Assistant) => push_reply(&message, &mut turns, out),
            Some(Role::User) => push_user(&message, &mut turns, out),
            Some(role) => out.unknown_role(role.name(), &message),
            None => {}
        }
    }
    out.run(turns.into_draft(header, Grade::default()));
}

/// The run's header; tasks are identified by their folder.
pub(super) fn header(record: &Record<'_>) -> Header {
    let folder = &record.file.folder_name;
    let run_id = if folder.is_empty() { record.file.stem.clone() } else { format!("{folder}/{}", record.file.stem) };
    Header { run_id, agent: Some("cline".to_owned()), ..Header::default() }
}

/// The blocks of a message's content; a string is one text block.
fn blocks<'a>(message: &Node<'a>) -> Vec<Node<'a>> {
    message.get("content").map(|content| content.elements().unwrap_or_else(|| vec![content])).unwrap_or_default()
}

/// The text of a text block or a string.
fn text_of(block: &Node<'_>) -> Option<String> {
    let text = match block.as_string() {
        Some(text) => text,
        None => block.some_string("text")?,
    };
    Some(text.into_owned())
}

fn push_reply(message: &Node<'_>, turns: &mut Turns, out: &mut Reading<'_>) {
    let mut reply = Message::new(Role::Assistant);
    let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
    for block in blocks(message) {
        match block.some_word("type").as_deref() {
            Some("tool_use") => match block.word("name", out) {
                Some(name) => {
                    let id = block.word(["id", "call_id"], out);
                    reply.tool_calls.push(ToolCall::new(id.as_deref(), &name, block.arguments("input")));
                }
                None => out.error_at(block.place(), "a tool call without a name", "the call is left out"),
            },
            Some("thinking" | "reasoning") => thoughts.extend(block.some_word("thinking").or_else(|| text_of(&block))),
            Some("redacted_thinking") => {}
            _ => {
                out.plain_content(&block);
                texts.extend(text_of(&block));
            }
        }
    }
    let said = texts.join("\n");
    if reply.tool_calls.is_empty() {
        reply.tool_calls = calls_in(&said);
    }
    reply.content = Some(Text::plain(said));
    reply.set_reasoning(texts::lines(&thoughts));
    reply.ts = message.instant("ts", out);
    if let Some(info) = message.object("modelInfo", out) {
        reply.set_model(info.word(["modelId", "id"], out).map(Into::into));
    }
    if let Some(metrics) = message.counts("metrics", out) {
        reply.set_cost(metrics.dollars("cost", out));
        let usage = match metrics.counts("tokens", out) {
            Some(tokens) => Usage {
                input: tokens.tokens("prompt", out),
                output: tokens.tokens("completion", out),
                cache_read: tokens.tokens("cached", out),
                ..Usage::default()
            },
            // The command line's own: what was read from a cache or written to it is part of the input.
            None => Usage {
                input: metrics.tokens("inputTokens", out),
                output: metrics.tokens("outputTokens", out),
                cache_read: metrics.tokens("cacheReadTokens", out),
                cache_write: metrics.tokens("cacheWriteTokens", out),
                reasoning: None,
            },
        };
        reply.set_usage(tokens::recorded(usage));
    }
    turns.push(reply);
}

/// Adds the results first, then the person's text, then what the editor added.
fn push_user(message: &Node<'_>, turns: &mut Turns, out: &mut Reading<'_>) {
    let ts = message.instant("ts", out);
    let (mut said, mut added) = (Vec::new(), Vec::new());
    for block in blocks(message) {
        if block.is("type", "tool_result") {
            let mut result = Message::new(Role::Tool);
            result.tool_call_id = block.word("tool_use_id", out).map(Into::into);
            let answers = answers_in(&block);
            let succeeded: Vec<bool> = answers.iter().filter_map(|answer| answer.flag("success", out)).collect();
            result.is_error = match block.flag("is_error", out) {
                None if !answers.is_empty() && succeeded.len() == answers.len() => Some(succeeded.contains(&false)),
                flag => flag,
            };
            result.content = if answers.is_empty() {
                block.content("content", out)
            } else {
                // One without its text leaves the whole unknown, not empty.
                let texts: Option<Vec<String>> = answers.iter().map(|answer| answer.some_word("result")).collect();
                texts.map(|texts| Text::plain(texts.join("\n")))
            };
            result.ts = ts;
            turns.push(result);
            continue;
        }
        out.plain_content(&block);
        let Some(text) = text_of(&block) else {
            added.extend(out.content(Some(&block), "content").map(|text| text.as_str().into_owned()));
            continue;
        };
        if let Some((tool, result)) = result_in(&text) {
            turns.push(answer(tool, result, ts));
        } else if is_added(&text) {
            added.push(text);
        } else {
            said.push(text);
        }
    }
    if !said.is_empty() {
        turns.say(Role::User, Text::plain(said.join("\n")), ts);
    }
    if !added.is_empty() {
        turns.say(Role::System, Text::plain(added.join("\n")), ts);
    }
}

/// The answers in a result of the command line: one for each file read or command run by the call.
fn answers_in<'a>(block: &Node<'a>) -> Vec<Node<'a>> {
    let parts = block.some_list("content");
    let is_answer = |part: &Node<'_>| part.mentions("query") && part.mentions("success");
    if parts.iter().all(is_answer) { parts } else { Vec::new() }
}

/// The result of a tool that is identified only by name.
pub(super) fn answer(tool: &str, result: &str, ts: Option<Instant>) -> Message {
    let mut message = Message::saying(Role::Tool, Text::plain(result));
    message.name = Some(tool.into());
    message.ts = ts;
    if result.trim_start().starts_with("The tool execution failed") {
        message.is_error = Some(true);
    }
    message
}

/// The tool and result in `[read_file for 'x'] Result:` and the text after it.
pub(super) fn result_in(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('[')?;
    let name = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|end| *end > 0)?;
    let behind = &rest[name..];
    let (_, result) = behind.split_once("] Result:").filter(|_| behind.starts_with([']', ' ']))?;
    Some((&rest[..name], result.trim_start_matches(['\n', ' '])))
}

/// Whether the editor added the text to the user's message.
fn is_added(text: &str) -> bool {
    let text = text.trim_start();
    [
        "<environment_details>",
        "[ERROR]",
        "[TASK RESUMPTION]",
        "[SYSTEM] This run is not complete",
        "(The user did not provide a new message.",
        "# task_progress",
        "# TODO LIST",
        "# todo list",
    ]
    .iter()
    .any(|begins| text.starts_with(begins))
}

/// Calls written as XML: `<read_file><path>x</path></read_file>`.
fn calls_in(text: &str) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    let mut rest = text;
    while let Some((at, tool)) = TOOLS.iter().filter_map(|tool| Some((rest.find(&format!("<{tool}>"))?, *tool))).min() {
        let body = &rest[at + tool.len() + 2..];
        let Some((inside, behind)) = body.split_once(&format!("</{tool}>")) else { break };
        calls.push(ToolCall::new(None, tool, Text::plain(parameters(inside).to_string())));
        rest = behind;
    }
    calls
}

/// The parameters of such a call, in order.
fn parameters(inside: &str) -> serde_json::Value {
    let mut parameters = serde_json::Map::new();
    let mut rest = inside;
    while let Some((_, opened)) = rest.split_once('<') {
        let Some((name, body)) = opened.split_once('>') else { break };
        match body.split_once(&format!("</{name}>")) {
            Some((value, behind)) if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                parameters.insert(name.to_owned(), value.trim().into());
                rest = behind;
            }
            _ => rest = opened,
        }
    }
    serde_json::Value::Object(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_name_their_tool_even_with_brackets_in_its_argument() {
        assert_eq!(result_in("[read_file for 'a[0].ts'] Result:\nx"), Some(("read_file", "x")));
        assert_eq!(result_in("[attempt_completion] Result: Done"), Some(("attempt_completion", "Done")));
        assert_eq!(result_in("[ERROR] You did not use a tool"), None);
        assert_eq!(result_in("see [x] Result: y"), None);
    }

    #[test]
    fn calls_as_xml_keep_their_parameters() {
        let calls = calls_in("I look.\n<read_file>\n<path>a.rs</path>\n</read_file> <x> <execute_command>");
        assert_eq!(calls.len(), 1);
        assert_eq!((calls[0].name.as_str(), calls[0].arguments.as_str().as_ref()), ("read_file", r#"{"path":"a.rs"}"#));
    }
}
