//! OpenAI chat messages in any wrapping: an array of messages, objects with `messages`, or one
//! message a line (FORMATS 15).

use serde_json::value::RawValue;

use super::{Format, Layout};
use crate::reader::probe::{Probe, Shape, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::{json, labels, openai};
use crate::transcript::{Draft, Event, Grade, Header, Outcome, OutcomeSource};

/// OpenAI chat messages.
pub(super) struct Chat;

/// Fields that may hold the outcome, best first.
const OUTCOME_KEYS: &[&str] = &["reward", "score", "resolved", "success", "is_correct", "passed", "label"];

/// The object around the messages, as its fields.
type Fields<'a> = Vec<(String, &'a RawValue)>;

impl Format for Chat {
    fn id(&self) -> &'static str {
        "chat"
    }

    fn summary(&self) -> &'static str {
        "OpenAI chat messages: an array, objects with `messages`, or one message a line"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_message = |value: &Sketch| value.text_of("role").is_some_and(|role| openai::role(&role).is_some());
        let holds =
            |value: &Sketch| value.get("messages").is_some_and(|list| list.elements().first().is_some_and(is_message));
        let first = probe.first()?;
        if holds(first) || probe.values.iter().any(holds) {
            return Some("`messages` with roles".to_owned());
        }
        if first.elements().first().is_some_and(is_message) {
            return Some("an array of messages with roles".to_owned());
        }
        if first.elements().first().is_some_and(holds) {
            return Some("an array of objects with `messages`".to_owned());
        }
        let lines = probe.shape == Shape::Lines && probe.values.iter().all(is_message);
        lines.then(|| "lines that are messages with roles".to_owned())
    }

    fn layout(&self, probe: &Probe) -> Layout {
        let many = |value: &Sketch| value.first().is_some_and(|first| first.get("messages").is_some());
        match (probe.shape, probe.first()) {
            (Shape::Document, Some(first)) if first.is_array() && many(first) => {
                Layout::Elements { at: None, envelope: &[] }
            }
            (Shape::Lines, Some(first)) if first.get("messages").is_some() || first.is_array() => Layout::Lines,
            _ => Layout::Whole,
        }
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        match record.parse::<&RawValue>() {
            Ok(whole) if whole.get().starts_with('[') => {
                let messages = out.list(Some(whole), "messages");
                push_run(record, &Vec::new(), &messages, out);
            }
            Ok(whole) => {
                let fields = json::fields(whole).unwrap_or_default();
                match find(&fields, &["messages"]) {
                    Some(messages) => {
                        let messages = out.list(Some(messages), "messages");
                        push_run(record, &fields, &messages, out);
                    }
                    None => {
                        out.error_at(record.text, "neither messages nor an object with `messages`", "it is left out");
                    }
                }
            }
            Err(_) if looks_like_lines(record) => {
                let mut messages = Vec::new();
                for line in record.lines() {
                    match serde_json::from_str::<&RawValue>(line) {
                        Ok(message) => messages.push(message),
                        Err(error) => out.error(record.broken(line, &error)),
                    }
                }
                push_run(record, &Vec::new(), &messages, out);
            }
            Err(diagnostic) => out.error(diagnostic),
        }
    }
}

/// The first of `keys` that the object has.
fn find<'a>(fields: &Fields<'a>, keys: &[&str]) -> Option<&'a RawValue> {
    let value = |key: &&str| fields.iter().find(|(name, raw)| name == key && raw.get() != "null").map(|(_, raw)| *raw);
    keys.iter().find_map(value)
}

/// True when the first line is a value by itself.
fn looks_like_lines(record: &Record<'_>) -> bool {
    record.lines().take(2).any(|line| serde_json::from_str::<&RawValue>(line).is_ok())
}

fn push_run(record: &Record<'_>, fields: &Fields<'_>, messages: &[&RawValue], out: &mut Reading<'_>) {
    let mut events = Vec::new();
    for raw in messages {
        events.extend(openai::message(raw, out).map(|message| Event::Message(Box::new(message))));
    }
    let word = |keys: &[&str]| find(fields, keys).and_then(json::word);
    let stem = &record.file.stem;
    let run_id = match (word(&["run_id", "id", "conversation_id", "session_id"]), record.key) {
        (Some(id), "") => id,
        (Some(id), _) => format!("{stem}/{id}"),
        (None, "") => stem.clone(),
        (None, key) => format!("{stem}/{key}"),
    };
    out.run(Draft {
        header: Header {
            run_id,
            task_id: word(&["task_id", "instance_id", "task"]),
            trial: word(&["trial"]),
            suite: word(&["suite", "dataset"]),
            model: word(&["model"]),
            agent: word(&["agent"]),
            ..Header::default()
        },
        events,
        grade: grade(fields, record.options.outcome_key.as_deref()),
        warnings: Vec::new(),
    });
}

/// The outcome, from the field the user names or from the first that usually holds it.
fn grade(fields: &Fields<'_>, wanted: Option<&str>) -> Grade {
    let candidates: Vec<&str> = wanted.map_or_else(|| OUTCOME_KEYS.to_vec(), |key| vec![key]);
    for key in candidates {
        let Some(raw) = find(fields, &[key]) else { continue };
        let score = json::number(raw).filter(|_| json::flag(raw).is_none());
        let word = json::string(raw).and_then(|word| labels::grade_word(&word));
        let graded = json::flag(raw).or_else(|| score.map(|score| score >= 1.0)).or(word);
        if graded.is_some() {
            let source = OUTCOME_KEYS.iter().find(|known| **known == key).copied().unwrap_or("the one named");
            return Grade {
                outcome: Outcome::from_grade(graded),
                score,
                source: OutcomeSource::Native(source),
                ..Grade::default()
            };
        }
    }
    Grade::default()
}
