//! Calls in tags: `<function=NAME>`, `<tool_call>`, `<invoke name=…>`, `<command>` and `<execute_…>`.

use super::{call, call_of_texts, fences, json};
use crate::transcript::ToolCall;

/// The calls in a text, in order; empty if it has none in tags.
pub(super) fn calls(text: &str) -> Vec<ToolCall> {
    if !text.contains('<') && !text.contains("[TOOL_CALL") {
        return Vec::new();
    }
    let notations: [fn(&str) -> Vec<ToolCall>; 5] = [functions, tool_calls, invocations, listed, commands];
    notations.into_iter().map(|notation| notation(text)).find(|calls| !calls.is_empty()).unwrap_or_default()
}

/// What is between `open` and `close`, at each place; the last may be without its end.
fn between<'t>(text: &'t str, open: &'t str, close: &'t str) -> impl Iterator<Item = &'t str> {
    let inner = text.split(open).skip(1).filter_map(move |rest| rest.split(close).next());
    inner.filter(|inner| !inner.trim().is_empty())
}

/// `<function=NAME><parameter=P>…</parameter></function>`, or with JSON in place of the parameters.
fn functions(text: &str) -> Vec<ToolCall> {
    let one = |body: &str| {
        let (name, body) = body.split_once('>')?;
        let name = name.trim().trim_matches('"');
        let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
        if is_name { Some(with_parameters(name, body, "<parameter=", "</parameter>")) } else { None }
    };
    between(text, "<function=", "</function>").filter_map(one).collect()
}

/// `<invoke name="NAME"><parameter name="P">…</parameter></invoke>`.
fn invocations(text: &str) -> Vec<ToolCall> {
    let one = |body: &str| {
        let (name, body) = body.split_once("\">")?;
        Some(with_parameters(name, body, "<parameter name=\"", "</parameter>"))
    };
    between(text, "<invoke name=\"", "</invoke>").filter_map(one).collect()
}

fn with_parameters(name: &str, body: &str, open: &str, close: &str) -> ToolCall {
    let json = body.trim();
    if json.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok() {
        return call(name, Some(json));
    }
    let parameters = body.split(open).skip(1).filter_map(|rest| {
        let (name, value) = rest.split_once('>')?;
        let value = value.split(close).next()?;
        // A line feed after the tag and one before its end belong to the notation.
        let value = value.strip_prefix('\n').unwrap_or(value);
        Some((name.trim().trim_matches('"'), value.strip_suffix('\n').unwrap_or(value)))
    });
    call_of_texts(name, parameters)
}

/// `<tool_call>{"name": …, "arguments": …}</tool_call>`, also with tags of functions inside, which are read as such.
fn tool_calls(text: &str) -> Vec<ToolCall> {
    let all = ["<tool_call>", "<function_call>", "<tool_use>"].into_iter().flat_map(|open| {
        let close = match open {
            "<tool_call>" => "</tool_call>",
            "<function_call>" => "</function_call>",
            _ => "</tool_use>",
        };
        between(text, open, close).flat_map(json::objects)
    });
    all.collect()
}

/// `[TOOL_CALLS] [{"name": …, "arguments": …}]`.
fn listed(text: &str) -> Vec<ToolCall> {
    for mark in ["[TOOL_CALLS]", "[TOOL_CALL]"] {
        if let Some((_, rest)) = text.split_once(mark) {
            return json::objects(rest);
        }
    }
    Vec::new()
}

/// `<command>ls</command>`, `<execute_bash>ls</execute_bash>`, `<execute_ipython>…</execute_ipython>`.
fn commands(text: &str) -> Vec<ToolCall> {
    let last = |open, close| if text.contains(close) { between(text, open, close).last() } else { None };
    if let Some(action) = last("<command>", "</command>") {
        return vec![fences::command_of(action)];
    }
    for (open, close, name, argument) in [
        ("<execute_bash>", "</execute_bash>", "execute_bash", "command"),
        ("<execute_ipython>", "</execute_ipython>", "execute_ipython_cell", "code"),
        ("<bash>", "</bash>", "bash", "command"),
        ("<python>", "</python>", "python", "code"),
    ] {
        if let Some(code) = last(open, close) {
            return vec![call_of_texts(name, [(argument, code.trim())])];
        }
    }
    Vec::new()
}
