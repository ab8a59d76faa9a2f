//! WebVoyager: chat messages whose calls are text, such as `Action: Type [2]; words`; the next observation is the
//! result.

use super::Format;
use crate::open::probe::{Probe, Sketch};
use crate::read::openai;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{EndCause, Grade, Header, PromptedBy, Role, ToolCall};

/// WebVoyager chats.
pub(super) static FORMAT: Format = Format {
    id: "webvoyager",
    summary: "WebVoyager's interact_messages.json: chat messages with `Action:` lines",
    recognise,
    prompted_by: PromptedBy::Program,
    ..Format::reading(read)
};

/// The beginning of the instructions in every version.
const BEGINS: &str = "Imagine you are a robot browsing the web";

fn recognise(probe: &Probe) -> Option<String> {
    let instructs = |value: &Sketch| {
        value.is("role", "system") && value.beginning_of("content").unwrap_or_default().starts_with(BEGINS)
    };
    let first = probe.document()?.elements().first()?;
    if instructs(first) { Some(format!("messages that begin with `{BEGINS}`")) } else { None }
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(whole) = Node::whole(record, out) else { return };
    let messages = whole.elements().unwrap_or_default();
    let mut turns = Turns::default();
    let mut end = EndCause::Unknown;
    for message in messages {
        let Some(mut message) = openai::message(&message, out) else { continue };
        if message.role == Role::Assistant && message.tool_calls.is_empty() {
            message.tool_calls.extend(action(&message.text()));
            let answers = message.tool_calls.iter().any(|call| call.name == "ANSWER");
            end = if answers { EndCause::SelfFinish } else { EndCause::Unknown };
        } else if message.role == Role::User && turns.awaits() {
            message.role = Role::Tool;
        }
        turns.push(message);
    }
    // The task is in the folder's name (`taskAmazon--0/interact_messages.json`) or the file's name.
    let (folder, stem) = (&record.file.folder_name, &record.file.stem);
    let task = [stem, folder].into_iter().find_map(|name| name.strip_prefix("task").filter(|name| name.contains("--")));
    let header = Header {
        run_id: task.unwrap_or(stem).to_owned(),
        task_id: task.map(str::to_owned),
        suite: Some("webvoyager".to_owned()),
        agent: Some("webvoyager".to_owned()),
        ..Header::default()
    };
    out.run(turns.into_draft(header, Grade { end, ..Grade::default() }));
}

/// The action at the end of a reply: `Click [3]`, `Type [2]; words`, `Scroll WINDOW; down`, `ANSWER; words`.
fn action(text: &str) -> Option<ToolCall> {
    let (_, action) = text.rsplit_once("Action:")?;
    let action = action.trim();
    let end = action.find(|c: char| !c.is_alphanumeric()).unwrap_or(action.len());
    let name = action.get(..end).filter(|name| !name.is_empty())?;
    let rest = action[end..].trim_start_matches([' ', ';']).trim();
    Some(ToolCall::new(None, name, serde_json::json!({ "action": rest }).to_string()))
}
