//! Actions in fenced blocks, as mini-swe-agent and SWE-agent write them.

use crate::transcript::{Text, ToolCall};

/// The languages of a shell block.
const SHELLS: [&str; 7] = ["bash", "mswea_bash_command", "sh", "shell", "console", "zsh", "terminal"];

/// A fenced block: its language and its text.
struct FencedBlock<'t> {
    language: &'t str,
    text: &'t str,
}

/// The blocks of a text that are closed. A block ends at the first line that begins with a fence.
fn blocks(text: &str) -> Vec<FencedBlock<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some(language) = line.strip_prefix("```") {
            match open.take() {
                Some((language, from)) => blocks.push(FencedBlock { language, text: &text[from..at] }),
                None => open = Some((language.trim(), at + line.len())),
            }
        }
        at += line.len();
    }
    blocks
}

/// The action of a reply: its only shell block, or else its last block that names no language. A reply with several
/// shell blocks has the last one; whether it was run, the answer says.
pub(super) fn action(text: &str) -> Option<ToolCall> {
    if !text.contains("```") {
        return None;
    }
    if let Some(command) = only_command(text) {
        return Some(ToolCall::new(None, "bash", command));
    }
    let blocks = blocks(text);
    let shell = blocks.iter().rfind(|block| SHELLS.contains(&block.language));
    if let Some(block) = shell.filter(|block| !block.text.trim().is_empty()) {
        return Some(ToolCall::new(None, "bash", in_json(block.text)));
    }
    let block = blocks.iter().rfind(|block| block.language.is_empty() && !block.text.trim().is_empty())?;
    Some(command_of(block.text))
}

/// A command as SWE-agent records it: the word it begins with is its name.
pub(crate) fn command_of(action: &str) -> ToolCall {
    let name = action.split_whitespace().next().unwrap_or_default();
    ToolCall::new(None, name, serde_json::Value::String(action.trim().to_owned()).to_string())
}

/// The command in a reply with exactly one fenced shell block, as JSON arguments.
pub(crate) fn only_command(text: &str) -> Option<Text> {
    let blocks: Vec<&str> = FENCES.iter().flat_map(|fence| text.split(fence).skip(1)).collect();
    let [block] = blocks[..] else { return None };
    let command = block.split("\n```").next().filter(|command| command.len() < block.len())?;
    Some(in_json(command))
}

/// The opening of a shell block in older and newer versions.
const FENCES: [&str; 2] = ["```bash\n", "```mswea_bash_command\n"];

fn in_json(command: &str) -> Text {
    Text::plain(serde_json::json!({ "command": command.trim() }).to_string())
}

/// The return code at the beginning of an observation.
pub(crate) fn return_code(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let text = text.strip_prefix("OBSERVATION:").unwrap_or(text).trim_start();
    text.strip_prefix("<returncode>")?.split("</returncode>").next()?.trim().parse().ok()
}
