//! Who&When: one failed multi-agent run a file, with the step that was its mistake (FORMATS 6).

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Format, Layout, Raw};
use crate::reader::json;
use crate::reader::probe::Probe;
use crate::reader::reading::{Reading, Record};
use crate::transcript::{Draft, Event, Grade, Header, Message, Outcome, OutcomeSource, Role};

/// Who&When failure attributions.
pub(super) struct WhoAndWhen;

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow, rename = "question_ID")]
    question_id: Raw<'a>,
    #[serde(borrow)]
    question: Raw<'a>,
    #[serde(borrow)]
    level: Raw<'a>,
    #[serde(borrow)]
    is_correct: Raw<'a>,
    #[serde(borrow)]
    is_corrected: Raw<'a>,
    #[serde(borrow)]
    history: Raw<'a>,
    #[serde(borrow)]
    mistake_agent: Raw<'a>,
    #[serde(borrow)]
    mistake_step: Raw<'a>,
}

#[derive(Deserialize)]
struct Turn<'a> {
    #[serde(borrow)]
    role: Raw<'a>,
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
}

impl Format for WhoAndWhen {
    fn id(&self) -> &'static str {
        "who-and-when"
    }

    fn summary(&self) -> &'static str {
        "Who&When failure attributions"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let labelled = probe.document()?.has(&["history", "mistake_step"]);
        labelled.then(|| "a `history` with its `mistake_step`".to_owned())
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let wire: Wire<'_> = match record.parse() {
            Ok(wire) => wire,
            Err(diagnostic) => return out.error(diagnostic),
        };
        let mut events = Vec::new();
        for raw in out.list(wire.history, "history") {
            events.extend(turn(raw, out).map(Event::Message));
        }
        let graded = out.flag(wire.is_correct.or(wire.is_corrected), "is_correct");
        let mut meta = serde_json::Map::new();
        for (name, raw) in
            [("mistake_step", wire.mistake_step), ("mistake_agent", wire.mistake_agent), ("level", wire.level)]
        {
            if let Some(word) = out.word(raw, name) {
                meta.insert(name.to_owned(), word.parse::<u64>().map_or(word.into(), Into::into));
            }
        }
        let folder = record.file.folder.file_name().unwrap_or_default().to_string_lossy();
        let task_id = out.word(wire.question_id, "question_ID").or_else(|| out.word(wire.question, "question"));
        out.run(Draft {
            header: Header {
                run_id: format!("{folder}/{}", record.file.stem),
                task_id,
                suite: Some("who-and-when".to_owned()),
                meta: RawValue::from_string(serde_json::Value::Object(meta).to_string()).ok(),
                ..Header::default()
            },
            events,
            grade: Grade {
                outcome: Outcome::from_grade(graded),
                source: graded.map_or(OutcomeSource::None, |_| OutcomeSource::Native("is_correct")),
                ..Grade::default()
            },
            warnings: Vec::new(),
        });
    }
}

/// One turn: every speaker but the human is an agent, so that the mistake's index is its step's.
fn turn(raw: &RawValue, out: &mut Reading<'_>) -> Option<Message> {
    let turn: Turn<'_> = out.part(Some(raw), "history", "an array of objects")?;
    let role = out.string(turn.role, "role").unwrap_or_default();
    // The hand-crafted half has the speaker as the role, with a remark: `Orchestrator (thought)`.
    let speaker = match turn.name.and_then(json::string) {
        Some(name) => name.into_owned(),
        None => role.split(" (").next().unwrap_or(&role).to_owned(),
    };
    let mut message = Message::new(if speaker == "human" { Role::User } else { Role::Assistant });
    message.content = out.content(turn.content, "content");
    message.name = Some(speaker.into());
    Some(message)
}
