//! agentao's replay log: one event per line, with the messages themselves in the next call's delta.
//!
//! Hitting a cap leaves no event; the turn's `incomplete_reason` is the only trace of it. The calls of a turn's last
//! batch are in no delta; they are taken from the tools' own events.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::openai;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::transcript::{Draft, EndCause, Event, Instant, Lane, Message, Role, Text, ToolCall, Usage};

/// agentao replay logs.
pub(super) static FORMAT: Format = Format {
    id: "agentao",
    summary: "agentao replay logs (.agentao/replays/*.jsonl)",
    recognise,
    joins_lines: |_| true,
    prompted_by: crate::transcript::PromptedBy::Person,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_event = |value: &Sketch| value.has(&["event_id", "seq", "kind", "payload"]);
    let is_header = |value: &Sketch| value.is("kind", "replay_header");
    if probe.any(is_header) {
        return Some("a `replay_header`".to_owned());
    }
    reason_if(probe.any(is_event), "events with `seq`, `kind` and `payload`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut log = AgentaoLog::default();
    for value in Node::values(record, out) {
        let Some(event) = value.into_object("event", out) else { continue };
        log.take_in(&event, out);
    }
    if log.n_events > 0 {
        let draft = log.into_draft(&record.file.stem);
        out.run(draft);
    }
}

/// A log being read.
#[derive(Default)]
struct AgentaoLog {
    draft: Draft,
    session: Option<String>,
    instance: Option<String>,
    turns: Vec<AgentaoTurn>,
    seq: Option<u64>,
    n_events: usize,
}

/// A tool that is running or has finished.
#[derive(Default)]
struct Tool {
    id: Option<String>,
    name: String,
    arguments: Text,
    ended: bool,
    is_error: Option<bool>,
    result: Option<Text>,
    ts: Option<Instant>,
}

/// A turn being read.
#[derive(Default)]
struct AgentaoTurn {
    id: Option<String>,
    lane: Lane,
    /// The text streamed so far for the next reply.
    chunks: String,
    /// The last reply and its index among the events, until the next delta has its calls.
    pending: Option<(usize, Message)>,
    tools: Vec<Tool>,
    /// The user's message, which the first delta will repeat.
    asked: Option<String>,
    /// Number of messages the model has been sent.
    n_sent: u64,
    /// Number of calls taken from the tools' events.
    n_called: u64,
}

impl AgentaoLog {
    fn take_in(&mut self, event: &Node<'_>, out: &mut Reading<'_>) {
        let Some(kind) = event.string("kind", out) else {
            if !event.has("kind") {
                out.error_at(event.place(), "a line without a `kind`", "the line is left out");
            }
            return;
        };
        self.n_events += 1;
        self.check_seq(event, out);
        if self.session.is_none() {
            self.session = event.some_word("session_id");
        }
        if self.instance.is_none() {
            self.instance = event.some_word("instance_id");
        }
        let payload = event.object("payload", out).unwrap_or_default();
        let ts = event.instant("ts", out);
        match &*kind {
            "replay_header" => self.draft.header.started_at = payload.instant("created_at", out),
            "session_started" => self.draft.header.model = payload.some_word("model"),
            "session_ended" => self.draft.header.ended_at = ts,
            "context_compressed" | "compaction_settled" | "error" => {
                self.draft.events.extend(event.note(format!("agentao.{kind}")));
            }
            _ if is_turn_kind(&kind) => {
                let Self { draft, turns, .. } = self;
                turn_of(turns, event).take_in(&kind, &payload, ts, draft, out);
            }
            _ if is_passed_over(&kind) => {}
            other => out.unknown(other, event),
        }
    }

    /// Sequence numbers have no gaps, so a missing number is a missing line.
    fn check_seq(&mut self, event: &Node<'_>, out: &mut Reading<'_>) {
        let seq = event.count("seq", out);
        if let (Some(last), Some(seq)) = (self.seq, seq)
            && seq != last.saturating_add(1)
        {
            let what = format!("event {seq} follows event {last}");
            out.warn_at(event.place(), what, "lines are missing, or out of order");
        }
        self.seq = seq.or(self.seq);
    }

    fn into_draft(mut self, stem: &str) -> Draft {
        for turn in &mut self.turns {
            turn.settle(None, &mut self.draft);
        }
        self.draft.header.run_id = match (self.session, self.instance) {
            (Some(session), Some(instance)) => format!("{session}.{instance}"),
            (Some(session), None) => session,
            _ => stem.to_owned(),
        };
        self.draft.header.agent = Some("agentao".to_owned());
        self.draft
    }
}

fn is_turn_kind(kind: &str) -> bool {
    matches!(
        kind,
        "turn_started"
            | "user_message"
            | "llm_call_started"
            | "llm_call_delta"
            | "assistant_text_chunk"
            | "llm_call_completed"
            | "permission_decision"
            | "tool_lifecycle"
            | "tool_started"
            | "tool_completed"
            | "tool_result"
            | "turn_completed"
    )
}

/// Kinds of the host's own events, or whose content is already in the messages.
fn is_passed_over(kind: &str) -> bool {
    let families = ["subagent_", "ask_user_", "session_", "replay_", "permission_", "plugin_"];
    kind == "tool_output_chunk" || families.iter().any(|family| kind.starts_with(family))
}

/// The turn an event belongs to. A turn with a parent is a sub-agent's.
fn turn_of<'t>(turns: &'t mut Vec<AgentaoTurn>, event: &Node<'_>) -> &'t mut AgentaoTurn {
    let id = event.some_word("turn_id");
    let at = turns.iter().rposition(|turn| turn.id == id).unwrap_or_else(|| {
        let lane = match (&id, event.some_word("parent_turn_id")) {
            (Some(id), Some(_)) => Lane::Side(id.as_str().into()),
            _ => Lane::Main,
        };
        let before = turns.iter().rfind(|turn| turn.lane == lane).map(|turn| turn.n_sent).unwrap_or_default();
        turns.push(AgentaoTurn { id, lane, n_sent: before, ..AgentaoTurn::default() });
        turns.len() - 1
    });
    &mut turns[at]
}

impl AgentaoTurn {
    fn take_in(
        &mut self,
        kind: &str,
        payload: &Node<'_>,
        ts: Option<Instant>,
        draft: &mut Draft,
        out: &mut Reading<'_>,
    ) {
        match kind {
            "user_message" => {
                let mut message = Message::new(Role::User);
                message.content = payload.content("content", out);
                message.ts = ts;
                self.asked = Some(message.text().into_owned());
                self.push(message, draft);
            }
            "llm_call_started" => self.chunks.clear(),
            "assistant_text_chunk" => self.chunks.push_str(&payload.some_word("chunk").unwrap_or_default()),
            "llm_call_delta" => self.delta(payload, draft, out),
            "llm_call_completed" => self.reply(payload, ts, draft, out),
            "tool_lifecycle" | "permission_decision" | "tool_started" | "tool_completed" | "tool_result" => {
                self.tool(kind, payload, ts, out);
            }
            "turn_completed" => self.complete(payload, ts, draft),
            _ => {}
        }
    }

    fn push(&self, mut message: Message, draft: &mut Draft) {
        message.lane = match (&self.lane, message.lane) {
            (Lane::Main, lane) => lane,
            (lane, _) => lane.clone(),
        };
        draft.events.push(Event::Message(message));
    }

    /// The end of a model call. Its tool calls come with the next delta.
    fn reply(&mut self, payload: &Node<'_>, ts: Option<Instant>, draft: &mut Draft, out: &mut Reading<'_>) {
        self.settle(None, draft);
        let mut message = Message::new(Role::Assistant);
        let chunks = std::mem::take(&mut self.chunks);
        message.content = Some(Text::plain(chunks)).filter(|text| !text.is_empty());
        message.ts = ts;
        message.set_model(
            payload.some_word("model").map(Into::into).or_else(|| draft.header.model.as_deref().map(Into::into)),
        );
        message.set_finish_reason(payload.some_word("finish_reason").map(Into::into));
        if payload.is("status", "error") {
            message.set_finish_reason(Some("error".into()));
        }
        message.set_usage(usage(payload, out));
        self.pending = Some((draft.events.len(), message));
    }

    /// Reads an event of a tool.
    fn tool(&mut self, kind: &str, payload: &Node<'_>, ts: Option<Instant>, out: &mut Reading<'_>) {
        let id = payload.some_word(["tool_call_id", "call_id"]);
        let at = self.tools.iter().position(|tool| id.is_some() && tool.id == id).unwrap_or_else(|| {
            self.tools.push(Tool { id, ..Tool::default() });
            self.tools.len() - 1
        });
        let Some(tool) = self.tools.get_mut(at) else { return };
        if let Some(name) = payload.some_word(["tool_name", "tool"]) {
            tool.name = name;
        }
        match kind {
            "tool_started" => tool.arguments = payload.arguments("args"),
            "tool_lifecycle" if payload.is("phase", "started") => {}
            "tool_lifecycle" | "tool_completed" | "tool_result" => {
                tool.ended = true;
                tool.ts = payload.instant("completed_at", out).or(tool.ts).or(ts);
                tool.result = payload.content("content", out).or(tool.result.take());
                tool.is_error = match payload.some_word(["outcome", "status"]).as_deref() {
                    Some("ok") => Some(false),
                    Some("error" | "failed") => Some(true),
                    _ => tool.is_error,
                };
            }
            _ => {}
        }
    }

    /// Reads the messages that a call adds to those already sent: the previous reply, its results, and anything
    /// inserted between them.
    fn delta(&mut self, payload: &Node<'_>, draft: &mut Draft, out: &mut Reading<'_>) {
        let added = payload.list("added_messages", out);
        let mut messages: Vec<Message> = added.iter().filter_map(|node| openai::message(node, out)).collect();
        let from = payload.count("delta_start_index", out);
        let sent = payload.count("total_messages", out);
        let is_reply = |message: &Message| message.role == Role::Assistant;
        // A delta that starts before the end of what was sent rewrites the history; only its end is new.
        let rewritten = from.is_some_and(|from| from < self.n_sent);
        if let Some(last) = messages.iter().rposition(is_reply).filter(|_| self.pending.is_some() || rewritten) {
            messages.drain(..last + usize::from(self.pending.is_none()));
        }
        self.n_sent = sent.unwrap_or(self.n_sent);
        let said = messages.iter().position(is_reply).filter(|_| self.pending.is_some()).map(|at| messages.remove(at));
        let results: Vec<Message> = match &said {
            Some(_) => extract(&mut messages, |message| message.role == Role::Tool),
            None => Vec::new(),
        };
        if self.pending.is_some() {
            self.settle(said.map(|said| (said, results)), draft);
        }
        for mut message in messages {
            match message.role {
                Role::User if self.is_own_question(&message.text()) => continue,
                Role::Assistant => message.lane = Lane::Canned,
                Role::Tool => continue,
                Role::User | Role::System => {}
            }
            self.push(message, draft);
        }
    }

    /// Whether it is the turn's own question, which its first delta repeats after a reminder.
    fn is_own_question(&mut self, text: &str) -> bool {
        let is_own = self.asked.as_ref().is_some_and(|asked| text.ends_with(asked.as_str()));
        if is_own {
            self.asked = None;
        }
        is_own
    }

    /// Adds the pending reply with its calls and results, taken from the delta or else from the tools' events.
    fn settle(&mut self, said: Option<(Message, Vec<Message>)>, draft: &mut Draft) {
        let Some((at, mut reply)) = self.pending.take() else { return };
        let tools = std::mem::take(&mut self.tools);
        self.n_called += tools.len() as u64;
        let (said, results) = said.unzip();
        let mut results = results.unwrap_or_default();
        if let Some(said) = said {
            reply.set_reasoning(said.reasoning().cloned());
            reply.content = said.content.or(reply.content);
            reply.tool_calls = said.tool_calls;
        }
        let known_calls = !reply.tool_calls.is_empty();
        let has_results = !results.is_empty();
        for tool in tools {
            if !known_calls {
                reply.tool_calls.push(ToolCall::new(tool.id.as_deref(), &tool.name, tool.arguments));
            }
            let known = results.iter_mut().find(|result| result.tool_call_id.as_deref() == tool.id.as_deref());
            match known {
                Some(result) => (result.is_error, result.ts) = (tool.is_error, tool.ts),
                None if tool.ended && !has_results => {
                    let mut result = Message::new(Role::Tool);
                    (result.content, result.is_error, result.ts) = (tool.result, tool.is_error, tool.ts);
                    (result.name, result.tool_call_id) = (Some(tool.name.into()), tool.id.map(Into::into));
                    results.push(result);
                }
                None => {}
            }
        }
        // A sub-agent may have added messages since: they go after the reply that called it.
        let since = draft.events.split_off(at.min(draft.events.len()));
        self.push(reply, draft);
        draft.events.extend(since);
        for result in results {
            self.push(result, draft);
        }
    }

    fn complete(&mut self, payload: &Node<'_>, ts: Option<Instant>, draft: &mut Draft) {
        let reason = payload.some_word("incomplete_reason");
        let text = payload.some_text("final_text");
        if let Some((_, reply)) = self.pending.as_mut().filter(|_| reason.is_none() && self.tools.is_empty()) {
            reply.content = reply.content.take().or(text.clone());
        }
        self.settle(None, draft);
        if self.lane != Lane::Main {
            return;
        }
        draft.grade.end = match (reason.as_deref(), payload.some_word("status").as_deref()) {
            (Some(_), _) => EndCause::Cap,
            (None, Some("error")) => EndCause::Error,
            (None, Some("cancelled" | "interrupted")) => EndCause::Killed,
            (None, Some(_)) => EndCause::SelfFinish,
            (None, None) => EndCause::Unknown,
        };
        let Some(reason) = reason else { return };
        let counted = payload.some_count("tool_count").unwrap_or(0);
        if counted > self.n_called {
            draft
                .warnings
                .push(format!("{} calls of a turn that ended in {reason} are not recorded", counted - self.n_called));
        }
        let mut message = Message::new(Role::Assistant);
        (message.content, message.ts, message.lane) = (text, ts, Lane::Canned);
        self.push(message, draft);
    }
}

/// Removes and returns the messages for which `wanted` is true.
fn extract(messages: &mut Vec<Message>, wanted: impl Fn(&Message) -> bool) -> Vec<Message> {
    let (taken, left) = std::mem::take(messages).into_iter().partition(wanted);
    *messages = left;
    taken
}

/// The token counts of one call: cached tokens are part of the prompt, reasoning is part of the completion.
fn usage(payload: &Node<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let mut count = |name: &str| payload.tokens(name, out);
    let usage = Usage {
        input: count("prompt_tokens"),
        cache_read: count("cache_read_tokens"),
        cache_write: count("cache_creation_tokens"),
        output: count("completion_tokens"),
        reasoning: count("reasoning_tokens"),
    };
    tokens::recorded(usage)
}
