//! Calls as JSON objects: the whole reply, a fenced block, or what follows `Action:`.

use super::{call, call_of_texts};
use crate::record::node::{Node, sound};
use crate::transcript::ToolCall;

/// Names of the member that names the tool, each with those that may hold its arguments. Those of the second list are
/// names that other objects have too: an object that has them and more is no call.
const CLEAR: [&str; 6] = ["tool_name", "toolName", "function_name", "tool", "function", "action"];
const ARGUMENTS: [&str; 9] =
    ["arguments", "args", "parameters", "params", "input", "tool_input", "action_input", "kwargs", "tool_args"];

/// The calls in a text that is JSON, or holds it in a fence, or names an action and its input.
pub(super) fn calls(text: &str) -> Vec<ToolCall> {
    let whole = text.trim();
    if whole.starts_with(['{', '[']) {
        return objects(whole);
    }
    let fenced = ["```json\n", "```tool_call\n", "```tool_code\n", "```\n{"].into_iter().find_map(|open| {
        let at = text.rfind(open)? + open.len() - usize::from(open.ends_with('{'));
        Some(&text[at..])
    });
    let calls = fenced.map(objects).unwrap_or_default();
    if calls.is_empty() { action(text).into_iter().collect() } else { calls }
}

/// The calls among the objects at the beginning of a text: one, several one after the other, or a list.
pub(super) fn objects(text: &str) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    for value in serde_json::Deserializer::from_str(text.trim_start()).into_iter::<&serde_json::value::RawValue>() {
        let Ok(value) = value else { break };
        if sound(value.get()).is_err() {
            break;
        }
        let value = Node::from_written(value);
        match value.elements() {
            Some(elements) => calls.extend(elements.iter().filter_map(object)),
            None => calls.extend(object(&value)),
        }
    }
    calls
}

/// The call that an object is.
fn object(value: &Node<'_>) -> Option<ToolCall> {
    if let Some(list) = value.get(["tool_calls", "tool_call", "function_call"]) {
        return match list.elements() {
            Some(calls) => calls.iter().find_map(object),
            None => object(&list),
        };
    }
    let nested = value.get(["function", "action", "tool"]).filter(Node::is_object);
    let inner = nested.as_ref().unwrap_or(value);
    let arguments = inner.get(ARGUMENTS).or(value.get(ARGUMENTS));
    let name = match inner.some_string(CLEAR) {
        Some(name) => name,
        None => inner.some_string("name")?,
    };
    let is_name = !name.trim().is_empty() && name.len() <= 80 && !name.trim().contains(char::is_whitespace);
    let is_call = match &arguments {
        Some(asked) => asked.is_object() || inner.has(CLEAR) || nested.is_some(),
        None => value.has(["tool_name", "toolName", "function_name", "tool"]),
    };
    if is_name && is_call { Some(call(name.trim(), arguments.as_ref().map(Node::written))) } else { None }
}

/// `Action: NAME` and `Action Input: …`, as in ReAct. A final answer is no call.
fn action(text: &str) -> Option<ToolCall> {
    let after = |mark: &str| {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(mark))?;
        Some((line.trim(), line.as_ptr() as usize - text.as_ptr() as usize))
    };
    let (name, _) = after("Action:")?;
    let (_, at) = after("Action Input:")?;
    let input = text[at..].split("\nObservation").next().unwrap_or_default().trim();
    if name.is_empty() || name.len() > 80 {
        return None;
    }
    let is_object = input.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(input).is_ok();
    Some(if is_object { call(name, Some(input)) } else { call_of_texts(name, [("input", input)]) })
}
