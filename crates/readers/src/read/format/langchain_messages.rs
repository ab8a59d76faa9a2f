//! LangChain's messages in each of the ways that people write them down: `messages_to_dict` (a `type` and its `data`),
//! `dumps` (the class, and its fields under `kwargs`) and `model_dump` (the fields alone), in a list or a state's `messages`.

use super::Format;
use crate::open::probe::Probe;
use crate::read::dialect::{self, class_role};
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Grade, Header, Role};

/// LangChain's messages.
pub(super) static FORMAT: Format = Format {
    id: "langchain-messages",
    summary: "LangChain's messages (`messages_to_dict`, `dumps`, `model_dump`): an array, or a state's `messages`",
    recognise,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let whole = probe.document()?;
    let list = if whole.is_array() { whole } else { whole.get("messages")? };
    let first = list.elements().first()?;
    let is_named = class_role(&first.text_of("type").unwrap_or_default()).is_some();
    let is_dumped = first.get("lc").is_some() && first.has_within("kwargs", &["content"]);
    if is_named && first.has_within("data", &["content"]) {
        Some("messages of a `type` and `data`".to_owned())
    } else if is_dumped {
        Some("messages of a class and `kwargs`".to_owned())
    } else if is_named && first.has(&["content", "additional_kwargs", "response_metadata"]) {
        Some("messages with a `type` and `response_metadata`".to_owned())
    } else {
        None
    }
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(whole) = Node::whole(record, out) else { return };
    let messages = whole.elements().unwrap_or_else(|| whole.list("messages", out));
    let mut turns = Turns::default();
    for message in messages {
        if !message.expect_object("message", "an object", out) {
            continue;
        }
        let (data, role) = if message.has("lc") {
            let class = message.some_list("id").last().and_then(Node::as_string).unwrap_or_default().into_owned();
            let role = class_role(&class);
            if role.is_none() {
                out.unknown_role(&class, &message);
            }
            (message.under("kwargs", out), role)
        } else {
            let role = message.role("type", class_role, out);
            (if message.has("data") { message.under("data", out) } else { message }, role)
        };
        let Some(role) = role else { continue };
        for mut said in dialect::messages_of(&data, role, out) {
            if said.role == Role::Assistant {
                let about = data.within("response_metadata");
                said.set_model(about.some_word(["model_name", "model"]).map(Into::into));
                if said.finish_reason().is_none() {
                    said.set_finish_reason(about.some_word("finish_reason").map(Into::into));
                }
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
