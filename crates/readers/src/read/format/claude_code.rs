//! Claude Code sessions: one session per file, one content block per line.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde_json::Value;

use super::{Format, object_of, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::claude::ClaudeConversation;
use crate::read::requests::is_step;
use crate::read::{subagents, texts};
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::text::word_list;
use crate::transcript::{Draft, EndCause, Event, Grade, Header, Instant, Lane, PromptedBy, Role};
use crate::value::json;

/// Claude Code sessions.
pub(super) static FORMAT: Format = Format {
    id: "claude-code",
    summary: "Claude Code sessions (JSONL)",
    recognise,
    joins_lines: |_| true,
    prompted_by: PromptedBy::Person,
    keeps_sub_agents_apart: true,
    ..Format::reading(read)
};

/// Types of lines that hold nothing about the run, or that repeat what other lines hold; those from `api-request` on hold
/// what is sent with each request, and what the session has cost so far.
const IGNORED: &[&str] = word_list!(
    "summary queue-operation file-history-snapshot progress attachment last-prompt custom-title ai-title agent-name",
    "agent-color agent-setting permission-mode mode pr-link worktree-state tag task-summary content-replacement",
    "attribution-snapshot speculation-accept bridge-session saved_hook_context invoked-skills fork-context-ref",
    "relocated started tools-used atis-latch api-request api-request-blob api-request-shape cost-state",
);

fn recognise(probe: &Probe) -> Option<String> {
    let is_line = |value: &Sketch| {
        value.has(&["sessionId", "type"]) && ["uuid", "parentUuid", "message"].iter().any(|key| value.has(&[key]))
    };
    if probe.any(is_line) {
        return Some("lines with `sessionId` and `uuid`".to_owned());
    }
    // What people publish has lost the session's id sometimes. Streams of the Agent SDK have no `parentUuid`.
    let is_anonymous = |value: &Sketch| {
        value.has(&["type", "uuid", "parentUuid"]) && value.has_within("message", &["role", "content"])
    };
    if probe.any(is_anonymous) {
        return Some("lines with `uuid` and `parentUuid`".to_owned());
    }
    let web = probe.document()?.get("loglines")?.is_array();
    reason_if(web, "a document with `loglines`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let ClaudeCodeSession { mut conversation, all_side, id, version, .. } = ClaudeCodeSession::from_record(record, out);
    let end = if conversation.is_interrupted() { EndCause::Killed } else { EndCause::Unknown };
    for child in record.children {
        if let Some(session) = subagents::read_file(child, record, out, ClaudeCodeSession::from_record) {
            let lane = Lane::Side(session.agent.unwrap_or_else(|| child.name.stem.clone()).into());
            conversation.take_in(session.conversation, &lane);
        }
    }
    let agent = if all_side { "claude-code subagent" } else { "claude-code" };
    // The file of a checkpoint is called `full` in every session.
    let named = id.clone().filter(|_| record.file.stem == "full");
    let parent = id.clone().filter(|_| all_side);
    let header = Header {
        run_id: named.unwrap_or_else(|| record.file.stem.clone()),
        parent,
        model: conversation.model,
        agent: Some(texts::agent_name(agent, version)),
        meta: object_of([("session_id", id.map(Value::String))]),
        ..Header::default()
    };
    let grade = Grade { end, ..Grade::default() };
    let draft = Draft { header, events: conversation.events, grade, warnings: Vec::new() };
    if conversation.has_requests {
        out.run_of_replies(draft, conversation.prints);
    } else {
        out.run(draft);
    }
}

/// The lines of a session file, or of the document that holds a web session.
fn parse_lines<'r>(record: &Record<'r>, out: &mut Reading<'_>) -> Vec<Node<'r>> {
    let web = Node::from_written(record.text).get("loglines").and_then(|lines| json::elements(&lines));
    let lines = web.unwrap_or_else(|| record.lines().collect());
    lines.into_iter().filter_map(|line| Node::line(line, out)).collect()
}

fn is_side(line: &Node<'_>) -> bool {
    line.is_true("isSidechain")
}

/// A session being read.
struct ClaudeCodeSession {
    conversation: ClaudeConversation,
    all_side: bool,
    id: Option<String>,
    /// The sub-agent, if it is one's.
    agent: Option<String>,
    version: Option<String>,
    path: Path,
}

/// Which line each line answers. A prompt that continues from before the last answered prompt takes back everything
/// after that point.
#[derive(Default)]
struct Path {
    /// The index of each line and the id of the line it answers.
    lines: HashMap<String, (usize, Option<String>)>,
    n_lines: usize,
    /// The last answered prompt.
    prompt: Option<usize>,
    /// The last prompt, if not yet answered.
    asked: Option<usize>,
}

impl Path {
    /// Adds a line; true for a prompt that continues from before the last answered prompt.
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

    /// Whether the last answered prompt is not among the ancestors of this line.
    fn goes_back(&self, from: Option<&str>) -> bool {
        let (Some(last), mut before, mut above) = (self.prompt, from, usize::MAX) else { return false };
        while let Some((place, parent)) = before.and_then(|id| self.lines.get(id)) {
            // A line answers an earlier one; this check ends cycles.
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

impl ClaudeCodeSession {
    fn from_record(record: &Record<'_>, out: &mut Reading<'_>) -> Self {
        let lines = parse_lines(record, out);
        // A file with only a sub-agent's lines is that sub-agent's run.
        let spoken = || lines.iter().filter(|line| line.has("message"));
        let all_side = spoken().next().is_some() && spoken().all(is_side);
        let agent = match spoken().next() {
            Some(line) if all_side => line.word("agentId", out),
            _ => None,
        };
        let mut session = Self {
            conversation: ClaudeConversation::default(),
            all_side,
            id: None,
            agent,
            version: None,
            path: Path::default(),
        };
        for line in &lines {
            session.add(line, out);
        }
        session.conversation.add_requests();
        session
    }

    fn add(&mut self, line: &Node<'_>, out: &mut Reading<'_>) {
        if self.id.is_none() {
            self.id = line.word("sessionId", out);
        }
        if self.version.is_none() {
            self.version = line.word("version", out);
        }
        let ts = line.instant("timestamp", out);
        let whose = if is_side(line) && !self.all_side {
            Lane::Side(line.word("agentId", out).unwrap_or_else(|| "sidechain".to_owned()).into())
        } else {
            Lane::Main
        };
        let before = self.conversation.events.len();
        self.message(line, ts, whose, out);
        let said = self.conversation.events.get(before..).unwrap_or_default();
        let (is_prompt, is_reply) = (said.iter().any(Event::is_prompt), said.iter().any(is_step));
        let (uuid, parent) = (line.word("uuid", out), line.word("parentUuid", out));
        if self.path.take(uuid, parent, is_prompt, is_reply) {
            self.conversation.took_back(before);
        }
    }

    fn message(&mut self, line: &Node<'_>, ts: Option<Instant>, whose: Lane, out: &mut Reading<'_>) {
        let kind = line.string("type", out).unwrap_or_default();
        match (&*kind, line.get("message").filter(|message| message.written().starts_with('{'))) {
            ("assistant", Some(message)) => {
                let request = line.string("requestId", out);
                self.conversation.reply(&message, request.as_deref(), ts, whose, out);
            }
            ("user", Some(message)) => {
                // Text that the program wrote in the user's name is an instruction, not a turn of the user's.
                let put_in = line.is_true("isMeta") || line.is_true("isCompactSummary");
                let role = if put_in { Role::System } else { Role::User };
                self.conversation.user(&message, role, ts, &whose, out);
            }
            ("assistant" | "user", None) => {
                out.warn_at(line.place(), "a line whose `message` is no object", "it is left out");
            }
            ("system", _) => {
                let subtype = line.string("subtype", out).unwrap_or_default();
                if subtype == "compact_boundary" {
                    self.conversation.events.extend(line.note("claude-code.compact_boundary"));
                }
            }
            ("", _) => out.warn_at(line.place(), "a line without a `type`", "it is left out"),
            (kind, _) if IGNORED.contains(&kind) => {}
            (kind, _) => out.unknown(kind, line),
        }
    }
}
