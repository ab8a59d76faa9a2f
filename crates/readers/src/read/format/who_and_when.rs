//! Who&When: one failed multi-agent run per file, with the index of the decisive mistake's step.

use serde_json::value::RawValue;

use super::{Format, reason_if};
use crate::open::probe::Probe;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::outcomes::native_grade;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Header, Message, Role};

/// Who&When failure attributions.
pub(super) static FORMAT: Format =
    Format { id: "who-and-when", summary: "Who&When failure attributions", recognise, ..Format::reading(read) };

fn recognise(probe: &Probe) -> Option<String> {
    let labelled = probe.document()?.has(&["history", "mistake_step"]);
    reason_if(labelled, "a `history` with its `mistake_step`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(run) = Node::line(record.text, out) else { return };
    let mut turns = Turns::default();
    for turn in run.list("history", out) {
        if turn.expect_object("history", "an array of objects", out) {
            turns.push(message(&turn, out));
        }
    }
    let graded = run.flag(["is_correct", "is_corrected"], out);
    let mut meta = serde_json::Map::new();
    for name in ["mistake_step", "mistake_agent", "level"] {
        if let Some(word) = run.word(name, out) {
            meta.insert(name.to_owned(), word.parse::<u64>().map_or(word.into(), Into::into));
        }
    }
    let folder = record.file.folder.file_name().unwrap_or_default().to_string_lossy();
    let header = Header {
        run_id: format!("{folder}/{}", record.file.stem),
        task_id: run.word("question_ID", out).or_else(|| run.word("question", out)),
        suite: Some("who-and-when".to_owned()),
        meta: RawValue::from_string(serde_json::Value::Object(meta).to_string()).ok(),
        ..Header::default()
    };
    out.run(turns.into_draft(header, native_grade("is_correct", graded, None)));
}

/// One turn. Every speaker but the human counts as an agent, so that the mistake's index is a step's index.
fn message(turn: &Node<'_>, out: &mut Reading<'_>) -> Message {
    let role = turn.string("role", out).unwrap_or_default();
    // The hand-crafted half has the speaker in the role, with a remark: `Orchestrator (thought)`.
    let speaker = match turn.some_string("name") {
        Some(name) => name.into_owned(),
        None => role.split(" (").next().unwrap_or(&role).to_owned(),
    };
    let mut message = Message::new(if speaker == "human" { Role::User } else { Role::Assistant });
    message.content = turn.content("content", out);
    message.name = Some(speaker.into());
    message
}
