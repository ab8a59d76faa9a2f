//! Gemini CLI chats: one document per session, or the newer log of records, where a later line replaces an earlier one
//! with the same id.

use std::collections::HashMap;

use super::{Format, lines_with, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::google::{self, GoogleTokenCounts};
use crate::read::texts;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::outcomes::failed_by_status;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Draft, Grade, Header, Lane, Message, Role, Text, ToolCall, Usage};
use crate::value::json;

/// Gemini CLI chats.
pub(super) static FORMAT: Format = Format {
    id: "gemini-cli",
    summary: "Gemini CLI chats: session-*.json, and the newer session-*.jsonl",
    recognise,
    joins_lines: |first| !first.has(&["messages"]),
    layout: |probe| lines_with("messages", probe),
    prompted_by: crate::transcript::PromptedBy::Person,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    if probe.any_with(&["sessionId", "projectHash"]) {
        return Some("`sessionId` with `projectHash`".to_owned());
    }
    let is_reply = |value: &Sketch| value.is("type", "gemini") && value.has(&["id"]);
    let messages = |value: &Sketch| value.elements_of("messages").iter().any(is_reply);
    let found = probe.any(|value| is_reply(value) || messages(value));
    reason_if(found, "messages of type `gemini`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut session = GeminiSession::default();
    let found = out.findings.made();
    for value in Node::values(record, out) {
        session.take_in(value, out);
    }
    if session.messages.is_empty() && session.id.is_none() {
        if out.findings.made() == found {
            out.error_at(record.text, "no session and no messages", "it is left out");
        }
        return;
    }
    let draft = session.into_draft(record, out);
    out.run(draft);
}

/// A session being read.
#[derive(Default)]
struct GeminiSession<'r> {
    id: Option<String>,
    started: Option<Node<'r>>,
    updated: Option<Node<'r>>,
    is_subagent: bool,
    /// Messages in the order in which their ids first appeared, each in its latest version.
    messages: Vec<GeminiMessage<'r>>,
    /// Index by id of the messages that were not taken back.
    known: HashMap<String, usize>,
}

/// One message of the session.
struct GeminiMessage<'r> {
    fields: Node<'r>,
    /// Taken back by the user: it was paid for but is not part of the conversation.
    rewound: bool,
}

impl<'r> GeminiSession<'r> {
    /// Reads one record: the session's own fields, a change to them, a message, or a rewind.
    fn take_in(&mut self, value: Node<'r>, out: &mut Reading<'_>) {
        let Some(fields) = value.into_object("record", out) else { return };
        if fields.has("$rewindTo") {
            self.rewind(&fields.some_word("$rewindTo").unwrap_or_default());
        } else if fields.has("$set") {
            let change = fields.object("$set", out).unwrap_or_default();
            self.describe(&change);
            self.messages_of(&change, out);
        } else if fields.has(["type", "id"]) && !fields.has("messages") {
            self.message(fields);
        } else {
            self.describe(&fields);
            self.messages_of(&fields, out);
        }
    }

    fn describe(&mut self, fields: &Node<'r>) {
        self.id = fields.some_word(["sessionId", "session_id"]).or(self.id.take());
        if self.started.is_none() {
            self.started = fields.get(["startTime", "start_time"]);
        }
        self.updated = fields.get(["lastUpdated", "last_updated"]).or(self.updated.take());
        self.is_subagent |= fields.is("kind", "subagent");
    }

    /// Adds a complete history. One that shares no message with the known ones was rewritten (compressed); then only
    /// its messages with token counts are added, since those were paid for.
    fn messages_of(&mut self, fields: &Node<'r>, out: &mut Reading<'_>) {
        let messages = fields.list("messages", out).into_iter();
        let found: Vec<Node<'r>> = messages.filter_map(|message| message.into_object("message", out)).collect();
        let is_known = |fields: &Node<'_>| fields.some_word("id").is_some_and(|id| self.known.contains_key(&id));
        let rewritten = !self.known.is_empty() && !found.iter().any(is_known);
        for fields in found {
            if !rewritten || fields.has("tokens") {
                self.message(fields);
            }
        }
    }

    /// Adds a message, or updates a known one to its later version.
    fn message(&mut self, fields: Node<'r>) {
        let id = fields.some_word("id");
        if let Some(id) = &id
            && let Some(at) = self.known.get(id)
            && let Some(known) = self.messages.get_mut(*at)
        {
            known.fields = fields;
            return;
        }
        if let Some(id) = id {
            self.known.insert(id, self.messages.len());
        }
        self.messages.push(GeminiMessage { fields, rewound: false });
    }

    /// Takes back all messages from the one with this id on; an unknown id takes back everything.
    fn rewind(&mut self, id: &str) {
        let from = self.known.get(id).copied().unwrap_or(0);
        self.known.retain(|_, at| *at < from);
        for entry in self.messages.iter_mut().skip(from) {
            entry.rewound = true;
        }
    }

    fn into_draft(self, record: &Record<'_>, out: &mut Reading<'_>) -> Draft {
        let mut header = Header {
            run_id: self.id.unwrap_or_else(|| record.file.stem.clone()),
            agent: Some(if self.is_subagent { "gemini-cli subagent" } else { "gemini-cli" }.to_owned()),
            started_at: out.instant(self.started.as_ref(), "startTime"),
            ended_at: out.instant(self.updated.as_ref(), "lastUpdated"),
            ..Header::default()
        };
        let mut turns = Turns::default();
        for entry in &self.messages {
            push_message(entry, &mut turns, out);
        }
        // The first model named, even in a reply that was taken back.
        let replies = turns.messages();
        header.model = replies.filter(|m| m.role == Role::Assistant).find_map(|m| m.model()).map(str::to_owned);
        let mut draft = turns.into_draft(header, Grade::default());
        let taken_back = self.messages.iter().filter(|entry| entry.rewound).count();
        if taken_back > 0 {
            draft.warnings.push(format!("{taken_back} messages were taken back by the user: paid for, but no steps"));
        }
        draft
    }
}

/// Adds one message and the results inside it.
fn push_message(entry: &GeminiMessage<'_>, turns: &mut Turns, out: &mut Reading<'_>) {
    let fields = &entry.fields;
    let kind = fields.string("type", out);
    let role = match kind.as_deref() {
        Some("user") => Role::User,
        Some("gemini" | "model" | "assistant") => Role::Assistant,
        Some(kind @ ("info" | "error" | "warning")) => {
            let said = google::parts(fields.get("content").as_ref(), out).text;
            turns.note(format!("gemini-cli.{kind}"), fields.kept());
            if said.unwrap_or_default().as_str().starts_with("Request cancelled") {
                turns.interrupted();
            }
            return;
        }
        Some(other) => return out.unknown(other, fields),
        None if fields.has("type") => return,
        None => return out.error_at(fields.place(), "a message without a `type`", "the message is left out"),
    };
    if role == Role::User && entry.rewound {
        return;
    }
    let mut message = Message::new(role);
    let said = google::parts(fields.get("content").as_ref(), out);
    if role == Role::User && !said.results.is_empty() && said.text.is_none() {
        return push_results(said.results, turns);
    }
    message.content = said.text;
    message.ts = fields.instant("timestamp", out);
    if entry.rewound {
        message.lane = Lane::Side("rewound".into());
    }
    let mut results = said.results;
    if role == Role::Assistant {
        message.set_model(fields.string("model", out).map(Into::into));
        message.set_usage(usage(fields, out));
        message.set_reasoning(thoughts(fields, out).or(said.reasoning));
        message.tool_calls = said.calls;
        for call in fields.list(["toolCalls", "tool_calls"], out) {
            push_call(call, &mut message, &mut results, out);
        }
    }
    let lane = message.lane.clone();
    turns.push(message);
    for mut result in results {
        result.lane = lane.clone();
        turns.push(result);
    }
}

/// Adds results that stand in a line of their own, which newer versions write in the user's name. The reply that asked
/// may hold them already.
fn push_results(results: Vec<Message>, turns: &mut Turns) {
    let is_known = |result: &Message| {
        let messages = turns.messages();
        messages.filter(|message| message.is_result()).any(|known| known.tool_call_id == result.tool_call_id)
    };
    let new: Vec<Message> =
        results.into_iter().filter(|result| result.tool_call_id.is_none() || !is_known(result)).collect();
    turns.push_all(new);
}

/// The token counts of one call: `input` includes `cached`; `thoughts` and `tool` are counted separately.
fn usage(fields: &Node<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let tokens = fields.counts("tokens", out)?;
    let mut count = |name: &str| out.tokens(tokens.get(name).as_ref(), &format!("tokens.{name}"));
    let (input, cached, output) = (count("input"), count("cached"), count("output"));
    let (thoughts, tool, total) = (count("thoughts"), count("tool"), count("total"));
    GoogleTokenCounts { input, cached, output, thoughts, tool, total }.usage()
}

/// The model's thoughts, one per line.
fn thoughts(fields: &Node<'_>, out: &mut Reading<'_>) -> Option<Text> {
    let mut lines = Vec::new();
    for thought in fields.list("thoughts", out) {
        let words = [thought.some_word("subject"), thought.some_word("description")];
        let line = words.into_iter().flatten().collect::<Vec<_>>().join(": ");
        lines.push(if line.is_empty() { json::word(&thought).unwrap_or_default() } else { line });
    }
    texts::lines(&lines)
}

/// Adds a call to the reply, and its result if the call has ended.
fn push_call(call: Node<'_>, reply: &mut Message, results: &mut Vec<Message>, out: &mut Reading<'_>) {
    let Some(call) = call.into_object("tool call", out) else { return };
    let Some(name) = call.some_word("name") else {
        return out.error_at(call.place(), "a tool call without a name", "the call is left out");
    };
    let id = call.some_word("id");
    reply.tool_calls.push(ToolCall::new(id.as_deref(), &name, call.arguments(["args", "arguments"])));
    let status = call.some_word("status");
    let said = google::parts(call.get("result").as_ref(), out);
    let ended = matches!(status.as_deref(), Some("success" | "error" | "cancelled"));
    let response = said.results.into_iter().next();
    if !ended && response.is_none() && said.text.is_none() {
        return;
    }
    let mut result = response.unwrap_or_else(|| Message::new(Role::Tool));
    let shown = || call.some_text(["resultDisplay", "result_display"]);
    result.content = result.content.or(said.text).or_else(shown);
    result.tool_call_id = id.map(Into::into).or(result.tool_call_id);
    result.name = Some(name.into());
    // A call cancelled by the user neither succeeded nor failed.
    result.is_error = failed_by_status(status.as_deref());
    result.ts = call.instant("timestamp", out);
    results.push(result);
}
