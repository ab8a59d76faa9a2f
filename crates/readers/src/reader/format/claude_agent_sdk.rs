//! Claude Agent SDK streams (`--output-format stream-json`), plain or in a recorder's envelope
//! `{type, message, timestamp}` (FORMATS 8).

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Format, Layout, Raw};
use crate::reader::claude::Conversation;
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::transcript::{Draft, EndCause, Grade, Header, Lane, Role};

/// Claude Agent SDK streams.
pub(super) struct ClaudeAgentSdk;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow)]
    message: Raw<'a>,
    #[serde(borrow)]
    timestamp: Raw<'a>,
    #[serde(borrow)]
    parent_tool_use_id: Raw<'a>,
}

/// The fields of `system` and `result` lines, which an envelope puts inside `message`.
#[derive(Default, Deserialize)]
struct Facts<'a> {
    #[serde(borrow)]
    subtype: Raw<'a>,
    #[serde(borrow)]
    claude_code_version: Raw<'a>,
    #[serde(borrow)]
    session_id: Raw<'a>,
    #[serde(borrow)]
    total_cost_usd: Raw<'a>,
    #[serde(borrow)]
    parent_tool_use_id: Raw<'a>,
}

impl Format for ClaudeAgentSdk {
    fn id(&self) -> &'static str {
        "claude-agent-sdk"
    }

    fn summary(&self) -> &'static str {
        "Claude Agent SDK streams (stream-json)"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_line = |value: &Sketch| {
            let kind = value.text_of("type").unwrap_or_default();
            let inner = value.get("message").filter(|message| message.is_object()).unwrap_or(value);
            match kind.as_str() {
                "system" => inner.text_of("subtype").as_deref() == Some("init"),
                "result" => inner.has(&["subtype", "num_turns"]),
                // A log without its first and last line.
                "assistant" | "user" => {
                    let of_session = value.get("session_id").or(value.get("parent_tool_use_id")).is_some();
                    of_session && inner.text_of("role").as_deref() == Some(kind.as_str())
                }
                _ => false,
            }
        };
        probe.values.iter().any(is_line).then(|| {
            "lines of type `system` `init`, `result` with `num_turns`, or messages with `session_id`".to_owned()
        })
    }

    fn joins_lines(&self, _first: &Sketch) -> bool {
        true
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn prompted_by(&self) -> crate::transcript::PromptedBy {
        crate::transcript::PromptedBy::Program
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let mut conversation = Conversation::default();
        let mut about = About::default();
        for text in lines(record) {
            match serde_json::from_str::<Line<'_>>(text) {
                Ok(line) => add(&mut conversation, &mut about, text, &line, out),
                Err(error) => out.error(record.broken(text, &error)),
            }
        }
        let agent = "claude-agent-sdk";
        let draft = Draft {
            header: Header {
                run_id: record.file.stem.clone(),
                model: conversation.model,
                agent: Some(about.version.map_or_else(|| agent.to_owned(), |version| format!("{agent} {version}"))),
                meta: RawValue::from_string(format!("{{{}}}", about.meta.join(",")))
                    .ok()
                    .filter(|_| !about.meta.is_empty()),
                ..Header::default()
            },
            events: conversation.events,
            grade: Grade { end: about.end, ..Grade::default() },
            warnings: Vec::new(),
        };
        out.run_of_replies(draft, conversation.prints);
    }
}

/// The lines; an array of them, as the SDK's own tests keep it, is taken apart.
fn lines<'r>(record: &Record<'r>) -> Vec<&'r str> {
    match serde_json::from_str::<Vec<&RawValue>>(record.text) {
        Ok(elements) => elements.into_iter().map(RawValue::get).collect(),
        Err(_) => record.lines().collect(),
    }
}

/// What the lines beside the messages say.
#[derive(Default)]
struct About {
    version: Option<String>,
    end: EndCause,
    meta: Vec<String>,
}

fn add(conversation: &mut Conversation, about: &mut About, text: &str, line: &Line<'_>, out: &mut Reading<'_>) {
    let kind = out.string(line.kind, "type").unwrap_or_default();
    let ts = out.instant(line.timestamp, "timestamp");
    let facts: Facts<'_> = serde_json::from_str(line.message.map_or(text, RawValue::get)).unwrap_or_default();
    let parent = line.parent_tool_use_id.or(facts.parent_tool_use_id);
    let whose = out.word(parent, "parent_tool_use_id").map_or(Lane::Main, |parent| Lane::Side(parent.into()));
    match (&*kind, line.message) {
        ("assistant", Some(message)) => conversation.reply(message, None, ts, whose, out),
        ("user", Some(message)) => conversation.user(message, Role::User, ts, &whose, out),
        ("system", _) => {
            about.version = about.version.take().or_else(|| out.word(facts.claude_code_version, "claude_code_version"));
            if let Some(session) = out.word(facts.session_id, "session_id").filter(|_| about.meta.is_empty()) {
                about.meta.push(format!("\"session_id\":{}", serde_json::Value::String(session)));
            }
        }
        ("result", _) => {
            // A resumed session has several results; the last one says how it ended.
            about.end = end_cause(&out.string(facts.subtype, "subtype").unwrap_or_default());
            if let Some(cost) = out.number(facts.total_cost_usd, "total_cost_usd") {
                about.meta.retain(|field| !field.starts_with("\"total_cost_usd\""));
                about.meta.push(format!("\"total_cost_usd\":{cost}"));
            }
        }
        ("stream_event", _) => {}
        (kind, _) => out.unknown(kind),
    }
}

fn end_cause(subtype: &str) -> EndCause {
    match subtype {
        "success" => EndCause::SelfFinish,
        "error_max_turns" | "error_max_budget_usd" => EndCause::Cap,
        _ if subtype.starts_with("error") => EndCause::Error,
        _ => EndCause::Unknown,
    }
}
