//! The parts of a run that a record may hold, whatever its format: calls, results, usage.

use std::collections::BTreeSet;

use crate::json_text::{self, trimmed};
use crate::text::word_list;
use crate::transcript::named;

named! {
    /// A part of a run, without which most rules cannot be evaluated.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum RunPart {
        Calls = "calls of tools",
        Results = "results of tools",
        Usage = "token counts",
        /// What somebody says.
        Texts = "texts",
    }
}

/// Members that hold calls, wherever they are.
const CALLS: [&str; 8] =
    ["tool_calls", "toolCalls", "tool_call", "toolCall", "toolRequests", "function_call", "functionCall", "tool_uses"];
/// Members that say which call a result answers.
const ANSWERED: [&str; 7] =
    ["source_call_id", "tool_call_id", "toolCallId", "tool_use_id", "call_id", "callID", "tool_id"];
/// Members that are token counts.
const COUNTS: &[&str] = word_list!(
    "input_tokens output_tokens prompt_tokens completion_tokens inputTokens outputTokens total_token_usage",
    "promptTokenCount total_tokens",
);

/// Objects of token counts.
const USAGES: [&str; 7] =
    ["usage", "usage_metadata", "usageMetadata", "tokens", "token_usage", "modelMetrics", "stats"];

/// How the recipient of a message begins that is a call, in OpenAI's Harmony.
pub(crate) const HARMONY_TOOLS: &str = "functions.";

/// How many levels of a record are searched.
const LEVELS: usize = 4;

/// The calls, results and counts in a record.
pub(crate) fn parts_in(record: &str) -> BTreeSet<RunPart> {
    let mut found = BTreeSet::new();
    look(record, LEVELS, &mut found);
    found
}

fn look(value: &str, levels: usize, found: &mut BTreeSet<RunPart>) {
    if value.starts_with('[') {
        for element in elements(value) {
            look(element, levels, found);
        }
        return;
    }
    let object = ObjectMembers::from_text(value);
    if object.is_call() {
        found.insert(RunPart::Calls);
    } else if object.is_result() {
        found.insert(RunPart::Results);
    }
    let counts = COUNTS.iter().any(|name| !matches!(object.get(name), None | Some("0")));
    if counts || USAGES.iter().any(|name| object.written(name).starts_with("{\"")) {
        found.insert(RunPart::Usage);
    }
    let Some(levels) = levels.checked_sub(1) else { return };
    for (_, inner) in object.0 {
        if inner.starts_with(['{', '[']) {
            look(inner, levels, found);
        }
    }
}

/// The elements of an array.
pub(crate) fn elements(array: &str) -> Vec<&str> {
    let mut elements = Vec::new();
    each_element(array, |element| elements.push(element));
    elements
}

/// Calls `each` with the elements of an array.
pub(crate) fn each_element<'a>(array: &'a str, mut each: impl FnMut(&'a str)) {
    json_text::array(array, |element| each(trimmed(element)));
}

const NAMES: [&str; 5] = ["name", "tool", "tool_name", "toolName", "function"];
/// Kinds of calls in the usual dialects.
const CALL_KINDS: [&str; 5] = ["tool_use", "tool_call", "tool-call", "function_call", "toolCall"];

/// The members of an object that are not null; looking at them does not mean that they are read.
pub(crate) struct ObjectMembers<'a>(pub(crate) Vec<(&'a str, &'a str)>);

impl<'a> ObjectMembers<'a> {
    /// The object in the text; one without members for anything else.
    pub(crate) fn from_text(text: &'a str) -> Self {
        let mut members = Vec::new();
        json_text::members(text, |name, value| {
            if value != "null" {
                members.push((name, trimmed(value)));
            }
        });
        Self(members)
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// The value under that name; empty without one.
    fn written(&self, name: &str) -> &'a str {
        self.get(name).unwrap_or_default()
    }

    fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.get(name).is_some())
    }

    /// Whether it, or an object inside it, has one of these members.
    fn has_or_inside(&self, names: &[&str]) -> bool {
        let is_inner = |(name, value): &&(&str, &str)| value.starts_with('{') && !USAGES.contains(name);
        self.has(names) || self.0.iter().filter(is_inner).any(|(_, inner)| ObjectMembers::from_text(inner).has(names))
    }

    /// Whether it has or is a call, by any name. Its arguments may not be recorded.
    fn is_call(&self) -> bool {
        let asks = self.has_or_inside(&["arguments", "args", "input", "parameters", "call_arguments"]);
        self.has(&NAMES) && (asks || self.has(&ANSWERED) && !self.says()) || self.is_certain_call()
    }

    /// Whether it has or is a call in one of the usual dialects.
    pub(crate) fn is_certain_call(&self) -> bool {
        let is_kind = CALL_KINDS.contains(&self.written("type").trim_matches('"'));
        let to_tool = self.written("recipient").trim_start_matches('"').starts_with(HARMONY_TOOLS);
        to_tool || is_kind && self.has(&NAMES) || CALLS.iter().any(|name| holds_call(self.written(name)))
    }

    fn is_result(&self) -> bool {
        self.has(&ANSWERED) && self.says() || self.get("observation").is_some()
    }

    /// Whether it has what a call returned.
    fn says(&self) -> bool {
        self.has_or_inside(&["output", "result", "content", "response", "call_result"])
    }
}

/// Whether it is a call or a list of them, and not a number of calls by tool.
fn holds_call(value: &str) -> bool {
    if value.starts_with('[') {
        return matches!(elements(value).first(), Some(first) if first.starts_with('{'));
    }
    ObjectMembers::from_text(value).has_or_inside(&["function", "args", "arguments", "input"])
}
