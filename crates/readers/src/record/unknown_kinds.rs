//! What no reader knows: a record of an unknown kind, or a speaker of an unknown role. What becomes of it is decided here
//! for all formats.
//!
//! Producers add kinds with every release, and most hold nothing about the run: they are counted. One that holds tokens,
//! a role, a call, something said or a grade is a part of the run that is not read, and an error.

use crate::record::node::Node;
use crate::record::parts::{RunPart, parts_in};
use crate::record::reading::Reading;
use crate::text::word_list;
use crate::transcript::{Role, Text};
use crate::value::json::{self, Written};

/// Members that a part of a run has, whatever the format.
const TELLING: &[&[&str]] = &[
    // Tokens and costs.
    word_list!(
        "usage usage_metadata usageMetadata usageDetails usage_details token_usage total_token_usage tokens",
        "input_tokens output_tokens prompt_tokens completion_tokens outputTokens inputTokens modelMetrics",
        "usage_to_metrics stats total_cost_usd",
    ),
    // Speakers and what they say.
    word_list!("role content text chunk final_text message summary thinking system_prompt"),
    // Calls and results.
    word_list!(
        "tool_calls toolCalls tool_call tool_call_id toolCallId tool_use_id toolRequests call_id callID tool_id",
        "tool_name toolName function function_call functionCall arguments observation output result command changes",
        "query output_type to_agent",
    ),
    // Grades, and how a run ended.
    word_list!("success score reward resolved outcome shutdownType"),
];
/// How many levels of a record are searched.
const LEVELS: usize = 3;
/// How many elements of a list are searched.
const ELEMENTS: usize = 8;

/// The first member that makes the record a part of a run.
fn telling<'m>(node: &Node<'_>, levels: usize) -> Option<&'m str> {
    let is_empty = |value: &str| matches!(value, "null" | "\"\"" | "[]" | "{}");
    let own = |(name, value): &(std::borrow::Cow<'_, str>, &str)| {
        TELLING.iter().copied().flatten().copied().find(|known| *known == name.as_ref() && !is_empty(value))
    };
    if let Some(found) = node.members().iter().find_map(own) {
        return Some(found);
    }
    // A call, whatever its kind is called.
    if node.has("name") && node.has(["input", "args", "parameters"]) {
        return Some("input");
    }
    // The beginning of a session.
    if node.has("model") && node.has(["session_id", "sessionId"]) {
        return Some("model");
    }
    let levels = levels.checked_sub(1)?;
    for (_, value) in node.members().iter().filter(|(_, value)| value.starts_with(['{', '['])) {
        let inner = Node::from_written(*value);
        let found = match inner.elements() {
            Some(elements) => elements.iter().take(ELEMENTS).find_map(|element| telling(element, levels)),
            None => telling(&inner, levels),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Kinds of content that are kept as text, or as a mark in its place.
const CONTENT: &[&str] = word_list!(
    "text input_text output_text summary_text refusal image image_url input_image output_image audio input_audio",
    "output_audio video video_url file input_file document search_result resource resource_link media blob uri data",
    "citation thinking redacted_thinking reasoning",
);

/// Whether parts of this kind are kept as text, or as a mark in its place.
pub(crate) fn is_content(kind: &str) -> bool {
    kind.is_empty() || CONTENT.contains(&kind)
}

impl Reading<'_> {
    /// Looks at a part of a message that the reader keeps as plain content: reported if it is of another kind.
    pub(crate) fn plain_content(&mut self, part: &Node<'_>) {
        if let Some(kind) = part.some_string("type").filter(|kind| !is_content(kind)) {
            self.unknown(&format!("part {kind}"), part);
        }
    }

    /// The content of a message: a string, or parts whose texts are joined by line feeds.
    pub fn content<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<Text> {
        let raw = raw?;
        let mut odd = Vec::new();
        let content = json::content_of(raw, &mut |kind, part| {
            if !is_content(kind) {
                odd.push((kind.to_owned(), part));
            }
        });
        for (kind, part) in odd {
            self.unknown(&format!("part {kind}"), &Node::from_written(part));
        }
        if content.is_none() {
            self.warn_at(
                raw.written(),
                format!("`{field}` is neither a string nor an array of parts"),
                "it is kept as the JSON it is",
            );
            return Some(Text::plain(raw.written()));
        }
        content
    }

    /// Passes over a record of a kind that this reader does not know: an error if it is a part of the run, else only
    /// counted. `kind` may say what has that kind, as in `item web_search`.
    pub(crate) fn unknown(&mut self, kind: &str, node: &Node<'_>) {
        match telling(node, LEVELS) {
            Some(member) => {
                self.part_of_run(kind, node);
                let what = format!("a record of the unknown kind `{kind}`, which has `{member}`");
                self.error_at(node.place(), what, "it is not read, with what it holds: is the kind misspelt, or new?");
            }
            None => self.unknown_kind(kind),
        }
    }

    /// Records which parts of the run a record of this kind holds, which is not read.
    pub(crate) fn part_of_run(&mut self, kind: &str, node: &Node<'_>) {
        self.left_unread(RunPart::Texts, kind);
        for part in parts_in(node.written()) {
            self.broken_tokens += u64::from(part == RunPart::Usage);
            self.left_unread(part, kind);
        }
    }

    /// Reports a speaker that no format has; the message is left out.
    pub(crate) fn unknown_role(&mut self, role: &str, node: &Node<'_>) {
        self.part_of_run(&format!("role {role}"), node);
        let help = "roles are system, developer, user, assistant, tool and function; the message is left out";
        self.error_at(node.place(), format!("`{role}` is no role"), help);
    }
}

impl Node<'_> {
    /// The role under that name, by the names that `known` has; one that is absent or unknown is reported.
    pub(crate) fn role(&self, name: &str, known: impl Fn(&str) -> Option<Role>, out: &mut Reading<'_>) -> Option<Role> {
        let Some(word) = self.some_word(name) else {
            out.error_at(self.place(), format!("a message without a `{name}`"), "the message is left out");
            return None;
        };
        let role = known(&word);
        if role.is_none() {
            out.unknown_role(&word, self);
        }
        role
    }
}
