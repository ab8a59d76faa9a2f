//! Claude Code sessions: one session a file, one content block a line (FORMATS 7).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Format, Layout, Raw};
use crate::reader::claude::Conversation;
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::transcript::{Draft, EndCause, Event, Grade, Header, Instant, Lane, Message, Note, Role};

/// Claude Code sessions.
pub(super) struct ClaudeCode;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow)]
    subtype: Raw<'a>,
    #[serde(borrow)]
    message: Raw<'a>,
    #[serde(borrow)]
    timestamp: Raw<'a>,
    #[serde(borrow, rename = "isSidechain")]
    is_sidechain: Raw<'a>,
    #[serde(borrow, rename = "agentId")]
    agent_id: Raw<'a>,
    #[serde(borrow, rename = "isMeta")]
    is_meta: Raw<'a>,
    #[serde(borrow, rename = "isCompactSummary")]
    is_compact_summary: Raw<'a>,
    #[serde(borrow, rename = "requestId")]
    request_id: Raw<'a>,
    #[serde(borrow, rename = "sessionId")]
    session_id: Raw<'a>,
    #[serde(borrow)]
    version: Raw<'a>,
    #[serde(borrow)]
    uuid: Raw<'a>,
    #[serde(borrow, rename = "parentUuid")]
    parent_uuid: Raw<'a>,
}

/// Types of line that say nothing about the run.
const IGNORED: &[&str] =
    &["summary", "queue-operation", "file-history-snapshot", "progress", "attachment", "last-prompt", "custom-title"];

impl Format for ClaudeCode {
    fn id(&self) -> &'static str {
        "claude-code"
    }

    fn summary(&self) -> &'static str {
        "Claude Code sessions (JSONL)"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_line = |value: &Sketch| {
            value.has(&["sessionId", "type"]) && ["uuid", "parentUuid", "message"].iter().any(|key| value.has(&[key]))
        };
        if probe.values.iter().any(is_line) {
            return Some("lines with `sessionId` and `uuid`".to_owned());
        }
        let web = probe.document()?.get("loglines")?.is_array();
        web.then(|| "a document with `loglines`".to_owned())
    }

    fn joins_lines(&self, _first: &Sketch) -> bool {
        true
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn prompted_by(&self) -> crate::transcript::PromptedBy {
        crate::transcript::PromptedBy::Person
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let lines = parse_lines(record, out);
        // A file of nothing but a sub-agent's lines is that sub-agent's run.
        let spoken = |line: &&(&str, Line<'_>)| line.1.message.is_some();
        let all_side =
            lines.iter().any(|line| spoken(&line)) && lines.iter().filter(spoken).all(|(_, line)| is_side(line));
        let mut session =
            Session { conversation: Conversation::default(), all_side, id: None, version: None, path: Path::default() };
        for (text, line) in &lines {
            session.add(text, line, out);
        }
        let Session { conversation, id, version, .. } = session;
        let end = if conversation.is_interrupted() { EndCause::Killed } else { EndCause::Unknown };
        let agent = if all_side { "claude-code subagent" } else { "claude-code" };
        // A checkpoint's file is called `full`, whatever the session.
        let named = id.clone().filter(|_| record.file.stem == "full");
        let parent = id.clone().filter(|_| all_side);
        let meta = id.map(|id| format!("{{\"session_id\":{}}}", serde_json::Value::String(id)));
        let draft = Draft {
            header: Header {
                run_id: named.unwrap_or_else(|| record.file.stem.clone()),
                parent,
                model: conversation.model,
                agent: Some(version.map_or_else(|| agent.to_owned(), |version| format!("{agent} {version}"))),
                meta: meta.and_then(|meta| RawValue::from_string(meta).ok()),
                ..Header::default()
            },
            events: conversation.events,
            grade: Grade { end, ..Grade::default() },
            warnings: Vec::new(),
        };
        out.run_of_replies(draft, conversation.prints);
    }
}

/// The lines of a session file, or of a web session's document.
fn parse_lines<'r>(record: &Record<'r>, out: &mut Reading<'_>) -> Vec<(&'r str, Line<'r>)> {
    #[derive(Deserialize)]
    struct Web<'a> {
        #[serde(borrow)]
        loglines: Vec<&'a RawValue>,
    }
    let texts: Vec<&str> = match serde_json::from_str::<Web<'_>>(record.text) {
        Ok(web) => web.loglines.into_iter().map(RawValue::get).collect(),
        Err(_) => record.lines().collect(),
    };
    let mut lines = Vec::with_capacity(texts.len());
    for text in texts {
        match serde_json::from_str(text) {
            Ok(line) => lines.push((text, line)),
            Err(error) => out.error(record.broken(text, &error)),
        }
    }
    lines
}

fn is_side(line: &Line<'_>) -> bool {
    line.is_sidechain.is_some_and(|raw| raw.get() == "true")
}

/// A session in the making.
struct Session {
    conversation: Conversation,
    all_side: bool,
    id: Option<String>,
    version: Option<String>,
    path: Path,
}

/// Which line each line answers: a prompt that goes on from before the last prompt takes back what was between.
#[derive(Default)]
struct Path {
    /// The place of each line, and of the one it answers.
    lines: BTreeMap<String, (usize, Option<String>)>,
    n_lines: usize,
    /// The last answered prompt.
    prompt: Option<usize>,
    /// The last prompt, which nothing answered yet.
    asked: Option<usize>,
}

impl Path {
    /// Takes a line in; true for a prompt that goes on from before the last answered one.
    fn take(&mut self, uuid: Option<String>, parent: Option<String>, is_prompt: bool, is_reply: bool) -> bool {
        let at = self.n_lines;
        self.n_lines += 1;
        if is_reply {
            self.prompt = self.asked.take().or(self.prompt);
        }
        let goes_back = is_prompt && self.goes_back(parent.as_deref());
        if is_prompt {
            self.asked = Some(at);
        }
        self.lines.extend(uuid.map(|uuid| (uuid, (at, parent))));
        goes_back
    }

    /// Is the last answered prompt none of the lines up from this one?
    fn goes_back(&self, from: Option<&str>) -> bool {
        let (Some(last), mut before, mut above) = (self.prompt, from, usize::MAX) else { return false };
        while let Some((place, parent)) = before.and_then(|id| self.lines.get(id)) {
            // A line answers an earlier one; two that answer each other are nobody's way back.
            if *place >= above {
                return false;
            }
            match place.cmp(&last) {
                Ordering::Greater => (before, above) = (parent.as_deref(), *place),
                Ordering::Equal => return false,
                Ordering::Less => return true,
            }
        }
        false
    }
}

impl Session {
    fn add(&mut self, text: &str, line: &Line<'_>, out: &mut Reading<'_>) {
        if self.id.is_none() {
            self.id = out.word(line.session_id, "sessionId");
        }
        if self.version.is_none() {
            self.version = out.word(line.version, "version");
        }
        let kind = out.string(line.kind, "type").unwrap_or_default();
        let ts = out.instant(line.timestamp, "timestamp");
        let whose = if is_side(line) && !self.all_side {
            Lane::Side(out.word(line.agent_id, "agentId").unwrap_or_else(|| "sidechain".to_owned()).into())
        } else {
            Lane::Main
        };
        let before = self.conversation.events.len();
        self.message(text, line, &kind, ts, whose, out);
        let said = self.conversation.events.get(before..).unwrap_or_default();
        let (is_prompt, is_reply) =
            (said.iter().any(Event::is_prompt), said.iter().any(|event| event.message().is_some_and(Message::is_step)));
        let (uuid, parent) = (out.word(line.uuid, "uuid"), out.word(line.parent_uuid, "parentUuid"));
        if self.path.take(uuid, parent, is_prompt, is_reply) {
            self.conversation.took_back(before);
        }
    }

    fn message(
        &mut self,
        text: &str,
        line: &Line<'_>,
        kind: &str,
        ts: Option<Instant>,
        whose: Lane,
        out: &mut Reading<'_>,
    ) {
        match (kind, line.message.filter(|message| message.get().starts_with('{'))) {
            ("assistant", Some(message)) => {
                let request = out.string(line.request_id, "requestId");
                self.conversation.reply(message, request.as_deref(), ts, whose, out);
            }
            ("user", Some(message)) => {
                // Words the program put in the user's mouth are instructions, not a turn of theirs.
                let put_in = [line.is_meta, line.is_compact_summary].iter().flatten().any(|raw| raw.get() == "true");
                let role = if put_in { Role::System } else { Role::User };
                self.conversation.user(message, role, ts, &whose, out);
            }
            ("assistant" | "user", None) => out.warn_at(text, "a line whose `message` is no object", "it is left out"),
            ("system", _) => {
                let subtype = out.string(line.subtype, "subtype").unwrap_or_default();
                let body = RawValue::from_string(text.to_owned());
                if let Some(body) = body.ok().filter(|_| subtype == "compact_boundary") {
                    self.conversation
                        .events
                        .push(Event::Note(Note { kind: "claude-code.compact_boundary".into(), body }));
                }
            }
            ("", _) => out.warn_at(text, "a line without a `type`", "it is left out"),
            (kind, _) if IGNORED.contains(&kind) => {}
            (kind, _) => out.unknown(kind),
        }
    }
}
