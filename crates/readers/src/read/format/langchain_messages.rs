//! LangChain's messages as `messages_to_dict` writes them: each a `type` and its `data`.

use super::{Format, Layout};
use crate::open::probe::{Probe, Sketch};
use crate::read::dialect;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Grade, Header, Role};

/// LangChain's messages.
pub(super) struct LangChainMessages;

impl Format for LangChainMessages {
    fn id(&self) -> &'static str {
        "langchain-messages"
    }

    fn summary(&self) -> &'static str {
        "LangChain's messages (`messages_to_dict`): an array, or `messages`, of a `type` and `data`"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_message = |value: &Sketch| {
            let kind = value.text_of("type").unwrap_or_default();
            role(&kind).is_some() && value.get("data").is_some_and(|data| data.has(&["content"]))
        };
        let whole = probe.document()?;
        let list = if whole.is_array() { whole } else { whole.get("messages")? };
        list.elements().first().is_some_and(is_message).then(|| "messages of a `type` and `data`".to_owned())
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let Some(whole) = Node::whole(record, out) else { return };
        let messages = whole.elements().unwrap_or_else(|| whole.list("messages", out));
        let mut turns = Turns::default();
        for message in messages {
            if !message.expect_object("message", "an object", out) {
                continue;
            }
            let Some(role) = message.role("type", role, out) else { continue };
            let data = message.under("data", out);
            for mut said in dialect::messages_of(&data, role, out) {
                if said.role == Role::Assistant {
                    let about = data.within("response_metadata");
                    said.set_model(about.some_word(["model_name", "model"]).map(Into::into));
                    said.set_finish_reason(
                        said.finish_reason()
                            .map(Into::into)
                            .or_else(|| about.some_word("finish_reason").map(Into::into)),
                    );
                }
                turns.push(said);
            }
        }
        let header = Header {
            run_id: whole.some_word(["id", "session_id", "thread_id"]).unwrap_or_else(|| record.file.stem.clone()),
            ..Header::default()
        };
        out.run(turns.into_draft(header, Grade::default()));
    }
}

/// The role of a message's type.
fn role(kind: &str) -> Option<Role> {
    match kind {
        "human" | "HumanMessageChunk" => Some(Role::User),
        "ai" | "AIMessageChunk" => Some(Role::Assistant),
        "system" | "SystemMessageChunk" => Some(Role::System),
        "tool" | "function" | "ToolMessageChunk" => Some(Role::Tool),
        _ => None,
    }
}
