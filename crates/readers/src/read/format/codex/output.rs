//! What a tool returned, without the frame that the recorder puts around it.

use crate::record::node::Node;
use crate::record::reading::Reading;
use crate::transcript::Text;
use crate::value::json;

/// A tool's output, and whether its exit code means failure.
pub(super) fn output(item: &Node<'_>, out: &mut Reading<'_>) -> (Option<Text>, Option<bool>) {
    let content = item.content("output", out);
    let text = content.as_ref().map(Text::as_str).unwrap_or_default();
    let raw = item.get("output");
    let written = [&*text, raw.as_ref().map(Node::written).unwrap_or_default()];
    let mut objects = written.iter().filter(|text| text.trim_start().starts_with('{'));
    let wrapped = objects.find_map(|text| Node::inside(text, text)).unwrap_or_default();
    let code = wrapped.within("metadata").some_number("exit_code");
    let success = wrapped.some_flag("success");
    let failed = code.map(|code| code != 0.0).or(success.map(|success| !success));
    let failed = failed.or_else(|| exit_code(&text).map(|code| code != 0));
    let (said, code) = without_frame(&text);
    drop(text);
    (said.map(Text::plain).or(content), failed.or(code.map(|code| code != 0)))
}

/// Beginnings of lines before an output that differ between equal outputs …
const MEASURED: &[&str] = &["Chunk ID", "Wall time", "Original token count", "Total output lines"];
/// … and of those that are the same.
const STATED: &[&str] = &["Process exited", "Process running", "Exit code", "Script completed", "Script failed"];

/// The output without what the recorder measured around it, if it has such a frame; and the exit code in the output of a
/// script, which is the result of its command.
fn without_frame(text: &str) -> (Option<String>, Option<i64>) {
    let Some((head, said)) = text.split_once("Output:\n") else { return (None, None) };
    let begins = |line: &str, words: &[&str]| words.iter().any(|word| line.starts_with(word));
    let is_frame = |line: &str| line.is_empty() || begins(line, MEASURED) || begins(line, STATED);
    if head.is_empty() || !head.lines().all(is_frame) {
        return (None, None);
    }
    let mut whole: Vec<&str> = head.lines().filter(|line| begins(line, STATED)).collect();
    whole.push("Output:");
    let result = if said.trim().starts_with('{') { json::value(said.trim()).ok() } else { None };
    let Some(mut result) = result else { return (Some(format!("{}\n{said}", whole.join("\n"))), None) };
    let code = result["exit_code"].as_i64();
    if let Some(members) = result.as_object_mut() {
        members.retain(|name, _| !["chunk_id", "wall_time_seconds", "original_token_count"].contains(&name.as_str()));
    }
    (Some(format!("{}\n{result}", whole.join("\n"))), code)
}

/// The exit code in the lines before the output itself.
fn exit_code(text: &str) -> Option<i64> {
    let head = text.split("\nOutput:").next().unwrap_or(text);
    for mark in ["Process exited with code ", "Exit code: ", "exit code "] {
        let Some(digits) = head.split(mark).nth(1) else { continue };
        let end = digits.find(|digit: char| !digit.is_ascii_digit() && digit != '-').unwrap_or(digits.len());
        if let Ok(code) = digits[..end].parse() {
            return Some(code);
        }
    }
    None
}
