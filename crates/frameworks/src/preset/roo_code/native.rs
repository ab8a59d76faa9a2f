//! How Roo's parser of native tool calls normalises a call before it is compared.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::frame::identity::{KeyOrder, js_text};
use crate::transcript::ToolCall;

/// Roo's tools and their required arguments (alternatives as `a|b`); without them, a call is refused.
const TOOLS: &[(&str, &[&str])] = &[
    ("access_mcp_resource", &["server_name", "uri"]),
    ("apply_diff", &["path", "diff"]),
    ("apply_patch", &["patch"]),
    ("ask_followup_question", &["question", "follow_up"]),
    ("attempt_completion", &["result"]),
    ("browser_action", &["action"]),
    ("codebase_search", &["query"]),
    ("edit", &["file_path", "old_string", "new_string"]),
    ("edit_file", &["file_path", "old_string", "new_string"]),
    ("execute_command", &["command"]),
    ("generate_image", &["prompt", "path"]),
    ("list_files", &["path"]),
    ("new_task", &["mode", "message"]),
    ("read_command_output", &["artifact_id"]),
    ("read_file", &["path|files"]),
    ("run_slash_command", &["command"]),
    ("search_and_replace", &["file_path", "old_string", "new_string"]),
    ("search_files", &["path", "regex"]),
    ("search_replace", &["file_path", "old_string", "new_string"]),
    ("skill", &["skill"]),
    ("switch_mode", &["mode_slug", "reason"]),
    ("update_todo_list", &["todos"]),
    ("use_mcp_tool", &["server_name", "tool_name"]),
    ("write_to_file", &["path", "content"]),
];

/// Parameters known to some tool of Roo; others are dropped before the comparison.
const PARAMETERS: &[&str] = &[
    "action",
    "anchor_line",
    "args",
    "arguments",
    "artifact_id",
    "command",
    "content",
    "coordinate",
    "cwd",
    "diff",
    "expected_replacements",
    "file_path",
    "file_pattern",
    "files",
    "follow_up",
    "image",
    "include_header",
    "include_siblings",
    "indentation",
    "limit",
    "line",
    "line_ranges",
    "max_levels",
    "max_lines",
    "message",
    "mode",
    "mode_slug",
    "new_string",
    "offset",
    "old_string",
    "operations",
    "patch",
    "path",
    "prompt",
    "query",
    "question",
    "reason",
    "recursive",
    "regex",
    "replace_all",
    "result",
    "search",
    "server_name",
    "size",
    "skill",
    "start_line",
    "end_line",
    "task",
    "text",
    "todos",
    "tool_name",
    "uri",
    "url",
];

/// The form in which a call is compared, or `None` if it is refused before the check.
pub(super) fn identity(call: &ToolCall) -> Option<String> {
    let name = if &*call.name == "write_file" { "write_to_file" } else { &*call.name };
    let (_, required) = TOOLS.iter().find(|(tool, _)| *tool == name)?;
    let Some(Value::Object(given)) = call.json_arguments() else { return None };
    let is_given = |names: &&str| names.split('|').any(|name| given.get(name).is_some_and(|value| !value.is_null()));
    if !required.iter().all(is_given) {
        return None;
    }
    let known = given.iter().filter(|(key, _)| PARAMETERS.contains(&key.as_str()));
    let texts: BTreeMap<&str, String> = known.map(|(key, value)| (key.as_str(), parameter_text(value))).collect();
    Some(format!("{name}\n{texts:?}"))
}

/// Strings are kept; everything else becomes JSON text in the given order.
fn parameter_text(value: &Value) -> String {
    if let Value::String(text) = value { text.clone() } else { js_text(value, KeyOrder::Given) }
}
