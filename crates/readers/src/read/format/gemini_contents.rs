//! A history as Google's API takes it: a document with `contents` of a `role` and `parts`.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::google;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Grade, Header, Message, Role};

/// Histories as Google's API takes them.
pub(super) static FORMAT: Format = Format {
    id: "gemini-contents",
    summary: "histories as Google's API takes them: `contents` of a `role` and `parts`",
    recognise,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_content = |value: &Sketch| value.has(&["role", "parts"]);
    let contents = probe.document()?.get("contents")?.elements();
    reason_if(is_content(contents.first()?), "`contents` of a `role` and `parts`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(whole) = Node::whole(record, out) else { return };
    let mut turns = Turns::default();
    if let Some(instruction) = whole.get(["systemInstruction", "system_instruction"]) {
        let said = google::parts(instruction.get("parts").as_ref().or(Some(&instruction)), out);
        turns.push(Message::saying(Role::System, said.text.unwrap_or_default()));
    }
    for content in whole.list("contents", out) {
        if !content.expect_object("contents", "a content (an object)", out) {
            continue;
        }
        let known = |word: &str| match word {
            "user" | "function" | "tool" => Some(Role::User),
            "model" => Some(Role::Assistant),
            _ => None,
        };
        let Some(role) = content.role("role", known, out) else { continue };
        let said = google::parts(content.get("parts").as_ref(), out);
        let failed = failures(&content);
        for (n, mut result) in said.results.into_iter().enumerate() {
            result.is_error = failed.get(n).copied();
            turns.push(result);
        }
        let mut message = Message::new(role);
        message.content = said.text;
        message.set_reasoning(said.reasoning);
        message.tool_calls = said.calls;
        message.set_usage(google::usage(&content, out));
        if role == Role::Assistant || message.content.is_some() {
            turns.push(message);
        }
    }
    let header = Header {
        run_id: whole.some_word(["id", "session_id"]).unwrap_or_else(|| record.file.stem.clone()),
        model: whole.some_word(["model", "modelVersion"]),
        ..Header::default()
    };
    out.run(turns.into_draft(header, Grade::default()));
}

/// Of each function response, whether it is one of an `error`.
fn failures(content: &Node<'_>) -> Vec<bool> {
    let mut failures = Vec::new();
    for part in content.some_list("parts") {
        if let Some(response) = part.get(["functionResponse", "function_response"]) {
            failures.push(response.within("response").has("error"));
        }
    }
    failures
}
