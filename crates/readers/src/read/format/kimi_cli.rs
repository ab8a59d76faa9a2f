//! Kimi CLI's sessions (`context.jsonl`): chat messages, a line each, between lines of the program whose roles begin with
//! an underscore.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::turns::Turns;
use crate::read::{openai, texts};
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Grade, Header, Message, PromptedBy, Role};
use crate::value::json;

/// Kimi CLI's sessions.
pub(super) static FORMAT: Format = Format {
    id: "kimi-cli",
    summary: "Kimi CLI's sessions: context.jsonl, with `_checkpoint` and `_usage` lines",
    recognise,
    joins_lines: |_| true,
    prompted_by: PromptedBy::Person,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_own = |value: &Sketch| {
        let role = value.text_of("role").unwrap_or_default();
        matches!(&*role, "_checkpoint" | "_usage" | "_system_prompt")
    };
    reason_if(probe.any(is_own), "lines of the role `_checkpoint`, `_usage` or `_system_prompt`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    // The file is called the same in every session; its folder is the session's.
    let file = record.file;
    let is_context = file.stem.starts_with("context") && !file.folder_name.is_empty();
    let run_id = if is_context { file.folder_name.clone() } else { file.stem.clone() };
    let header = Header { run_id, agent: Some("kimi-cli".to_owned()), ..Header::default() };
    let mut turns = Turns::default();
    for line in Node::values(record, out) {
        let Some(line) = line.into_object("line", out) else { continue };
        match line.some_string("role").as_deref() {
            // The tokens in the context, not those that were spent.
            Some("_checkpoint" | "_usage") => {}
            Some("_system_prompt") => {
                let mut message = Message::new(Role::System);
                message.content = line.content("content", out);
                turns.push(message);
            }
            _ => {
                if let Some(message) = message(&line, out) {
                    turns.push(message);
                }
            }
        }
    }
    out.run(turns.into_draft(header, Grade::default()));
}

fn message(line: &Node<'_>, out: &mut Reading<'_>) -> Option<Message> {
    let mut message = Message::new(line.role("role", openai::role, out)?);
    message.content = match line.get("content").filter(Node::is_list) {
        None => line.content("content", out),
        Some(parts) => {
            let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
            for part in parts.elements().unwrap_or_default() {
                match part.some_string("type").as_deref() {
                    Some("text") => texts.extend(part.string("text", out)),
                    Some("think") => thoughts.extend(part.string("think", out)),
                    Some(kind) => {
                        out.plain_content(&part);
                        texts.push(json::mark(kind, part.written()).into());
                    }
                    None => out.unknown("part", &part),
                }
            }
            message.set_reasoning(texts::lines(&thoughts));
            texts::lines(&texts)
        }
    };
    message.tool_calls = openai::calls_of(line, out);
    if message.role == Role::Tool {
        message.tool_call_id = line.word("tool_call_id", out).map(Into::into);
        message.is_error = Some(message.text().trim_start().starts_with("<system>ERROR"));
    }
    Some(message)
}
