//! OpenAI Codex CLI rollouts: one session per file, one item or token count per line.
//!
//! A model call is identified by its token count, which is written twice: a count is a new call only if the session's
//! total changed. The items since the previous call belong to it. A rollout without these counts may have a usage record
//! for each call (`token_usage_record`, since 0.171); one without either is divided at the tool outputs.

mod output;

use std::collections::HashMap;

use super::{Format, joined, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::{openai, texts};
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::usage;
use crate::text::word_list;
use crate::transcript::{
    Draft, EndCause, Event, Grade, Header, Instant, Lane, Message, Origin, PromptedBy, Role, Text, ToolCall, Usage,
};

/// Codex CLI rollouts.
pub(super) static FORMAT: Format = Format {
    id: "codex",
    summary: "OpenAI Codex CLI rollouts (JSONL)",
    recognise,
    joins_lines: |_| true,
    prompted_by: PromptedBy::Person,
    ..Format::reading(read)
};

/// Types of lines with an envelope; and, below, types of items, which older rollouts write without one.
const ENVELOPES: &[&str] = &["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
const ITEMS: &[&str] = word_list!(
    "message reasoning function_call function_call_output custom_tool_call custom_tool_call_output local_shell_call",
    "local_shell_call_output web_search_call image_generation_call tool_search_call tool_search_output",
);
/// Types of lines and of items that hold nothing about the run, and beginnings of others.
const IGNORED: &[&str] =
    &["world_state", "inter_agent_communication", "session_state", "turn_state", "ghost_snapshot", "other"];
/// Beginnings of texts that the program inserts among the user's messages, in the user's name.
const HOST: &[&str] = &["<skill>", "<user_shell_command>", "<subagent_notification>", "<hook_prompt"];
/// Beginnings of event kinds that repeat items or concern only the program.
const SAID_AGAIN: &[&str] = word_list!(
    "user_message agent_message agent_reasoning exec_command_ mcp_tool_call_ patch_apply_ web_search_ turn_diff",
    "plan_update stream_error warning background_event thread_ view_image_tool_call entered_review_mode",
    "exited_review_mode token_usage item_ agent_reasoning_ reasoning_ plan_ raw_response_item exec_approval_",
    "apply_patch_approval_ request_ elicitation_ dynamic_tool_call_ mcp_startup_ mcp_list_ list_ skills_",
    "session_configured shutdown_ collab_ hook_ deprecation_notice undo_ model_ image_generation_ guardian_ sub_agent_",
    "realtime_",
);

fn recognise(probe: &Probe) -> Option<String> {
    let is_one_of = |value: &Sketch, kinds: &[&str]| kinds.contains(&&*value.text_of("type").unwrap_or_default());
    let enveloped = |value: &Sketch| value.has(&["payload"]) && is_one_of(value, ENVELOPES);
    if probe.any(enveloped) {
        return Some("lines with a `payload` of Codex's types".to_owned());
    }
    let opens = probe.first()?.has(&["id", "timestamp", "instructions"]);
    let bare = |value: &Sketch| is_one_of(value, ITEMS);
    reason_if(opens && probe.any(bare), "a session's line and Codex's items")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    // Calls end at counts if the rollout has any; usage records repeat them.
    let has = |mark: &str| memchr::memmem::find(record.text.as_bytes(), mark.as_bytes()).is_some();
    let has_counts = has("\"total_token_usage\"");
    let by_records = !has_counts && has("\"token_usage_record\"");
    let mut session = CodexSession { counted: has_counts || by_records, by_records, ..CodexSession::default() };
    for line in record.lines() {
        if let Some(line) = Node::line(line, out) {
            session.add(&line, out);
        }
    }
    let header = Header {
        run_id: record.file.stem.clone(),
        model: session.model,
        agent: Some(texts::agent_name("codex", session.version)),
        ..Header::default()
    };
    let grade = Grade { end: session.end, ..Grade::default() };
    out.run(Draft { header, events: session.events, grade, warnings: Vec::new() });
}

/// A session being read.
#[derive(Default)]
struct CodexSession {
    events: Vec<Event>,
    /// Index of the reply of the call in progress.
    open: Option<usize>,
    /// Index of the latest reply.
    latest: Option<usize>,
    counted: bool,
    /// Whether the counts are those of usage records.
    by_records: bool,
    /// Whether each call failed, by call id, where the program reported it.
    ended: HashMap<String, bool>,
    total: Option<Usage>,
    model: Option<String>,
    version: Option<String>,
    end: EndCause,
    /// Whether the program's current turn has had a prompt; `None` between turns.
    turn: Option<bool>,
}

impl CodexSession {
    fn add(&mut self, line: &Node<'_>, out: &mut Reading<'_>) {
        let kind = line.string("type", out).unwrap_or_default();
        let ts = line.instant("timestamp", out);
        let payload = line.object("payload", out);
        let is_bare = !line.has("payload");
        if payload.is_none() && !is_bare {
            return;
        }
        let item = payload.as_ref().unwrap_or(line);
        match &*kind {
            "response_item" => self.item(item, ts, out),
            "event_msg" => self.event(item, ts, out),
            "session_meta" => self.version = item.word("cli_version", out),
            "turn_context" => self.model = item.string("model", out).map(Into::into).or(self.model.take()),
            "compacted" => self.events.extend(item.note("codex.compacted")),
            "token_usage_record" if self.by_records => {
                let mut counts = |name| item.counts(name, out).map(|counts| usage(&counts, out));
                self.call_ends(counts("thread_token_usage"), counts("usage"), ts);
            }
            "token_usage_record" => {}
            "" if is_bare => {}
            kind if IGNORED.iter().any(|begins| kind.starts_with(begins)) => {}
            kind if is_bare && ITEMS.contains(&kind) => self.item(item, ts, out),
            other => out.unknown(other, item),
        }
    }

    fn item(&mut self, item: &Node<'_>, ts: Option<Instant>, out: &mut Reading<'_>) {
        let kind = item.string("type", out).unwrap_or_default();
        match &*kind {
            "message" => self.message(item, ts, out),
            "reasoning" => {
                let said = item.content("summary", out).filter(|text| !text.is_empty());
                self.reply(ts, |reply| reply.set_reasoning(said.or(reply.reasoning().cloned())));
            }
            "function_call"
            | "custom_tool_call"
            | "local_shell_call"
            | "web_search_call"
            | "image_generation_call"
            | "tool_search_call" => {
                let arguments = item.arguments(["arguments", "input", "action"]);
                let id = item.word(["call_id", "id"], out);
                let name = match item.string("name", out) {
                    Some(name) => name.into_owned(),
                    None => kind.trim_end_matches("_call").to_owned(),
                };
                self.reply(ts, |reply| reply.tool_calls.push(ToolCall::new(id.as_deref(), &name, arguments)));
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" | "tool_search_output" => {
                let mut result = Message::new(Role::Tool);
                result.tool_call_id = item.word("call_id", out).map(Into::into);
                (result.content, result.is_error) = output::output(item, out);
                // The tools that a search found are its result.
                if result.content.is_none() {
                    result.content = item.get("tools").map(|tools| Text::plain(tools.written()));
                }
                if let Some(id) = &result.tool_call_id
                    && let Some(failed) = self.ended.get(id.as_str())
                {
                    result.is_error = Some(*failed);
                }
                result.ts = ts;
                self.events.push(Event::Message(result));
                if !self.counted {
                    self.open = None;
                }
            }
            "compaction" | "compaction_summary" | "context_compaction" => {
                self.events.extend(item.note("codex.compaction"));
            }
            kind if IGNORED.iter().any(|begins| kind.starts_with(begins)) => {}
            other => out.unknown(&format!("item {other}"), item),
        }
    }

    fn message(&mut self, item: &Node<'_>, ts: Option<Instant>, out: &mut Reading<'_>) {
        let content = item.content("content", out);
        let Some(role) = item.role("role", openai::role, out) else { return };
        if role == Role::Assistant {
            return self.reply(ts, |reply| reply.content = joined(reply.content.take(), content));
        }
        let mut message = Message::new(role);
        message.content = content;
        message.ts = ts;
        attribute(&mut message);
        if message.role == Role::User && message.origin == Origin::Prompt {
            message.origin = self.origin();
        }
        self.events.push(Event::Message(message));
        self.open = None;
    }

    /// What a text of the user's is. In the program's turns, the first text is the prompt and later texts are steering.
    fn origin(&mut self) -> Origin {
        let steers = self.turn == Some(true);
        self.turn = self.turn.map(|_| true);
        if steers { Origin::Steering } else { Origin::Prompt }
    }

    fn event(&mut self, item: &Node<'_>, ts: Option<Instant>, out: &mut Reading<'_>) {
        match &*item.string("type", out).unwrap_or_default() {
            "token_count" => self.count(item, ts, out),
            "task_complete" | "turn_complete" => (self.end, self.turn) = (EndCause::SelfFinish, None),
            "turn_aborted" => {
                (self.end, self.turn) = (EndCause::Killed, None);
                self.events.push(Event::interruption());
            }
            "error" => self.end = EndCause::Error,
            "task_started" | "turn_started" => (self.end, self.turn) = (EndCause::Unknown, Some(false)),
            "context_compacted" => self.events.extend(item.note("codex.context_compacted")),
            "patch_apply_end" => self.ended(item, item.flag("success", out).map(|success| !success), out),
            "exec_command_end" => {
                self.ended(item, item.number("exit_code", out).map(|code| code != 0.0), out);
            }
            "item_completed" => self.item_completed(item, out),
            "mcp_tool_call_end" => self.ended(item, has_failed(&item.within("result")), out),
            kind if SAID_AGAIN.iter().any(|begins| kind.starts_with(begins)) => {}
            other => out.unknown(&format!("event {other}"), item),
        }
    }

    /// Reads the end of a command. One that ran inside a script belongs to the call that runs it, which failed if any of
    /// its commands did.
    fn item_completed(&mut self, event: &Node<'_>, out: &mut Reading<'_>) {
        let Some(item) = event.object("item", out) else { return };
        let Some(code) = item.number(["exit_code", "exitCode"], out) else { return };
        let id = item.word(["call_id", "id"], out);
        let Some(latest) = self.latest else { return };
        let Some(Event::Message(reply)) = self.events.get(latest) else { return };
        let ids: Vec<&str> = reply.tool_calls.iter().filter_map(|call| call.id.as_deref()).collect();
        let own = id.as_deref().filter(|id| ids.contains(id));
        let Some(call) = own.or(ids.last().copied()) else { return };
        let failed = self.ended.entry(call.to_owned()).or_default();
        *failed |= code != 0.0;
    }

    /// Records whether a tool failed, as reported by the program before or after the result.
    fn ended(&mut self, item: &Node<'_>, failed: Option<bool>, out: &mut Reading<'_>) {
        let (Some(id), Some(failed)) = (item.word("call_id", out), failed) else { return };
        for event in self.events.iter_mut().rev() {
            if let Event::Message(result) = event
                && result.role == Role::Tool
                && result.tool_call_id.as_deref() == Some(&id)
            {
                result.is_error = Some(failed);
                break;
            }
        }
        self.ended.insert(id, failed);
    }

    /// Reads a token count, which is one model call if the total changed.
    fn count(&mut self, item: &Node<'_>, ts: Option<Instant>, out: &mut Reading<'_>) {
        let Some(info) = item.object("info", out) else { return };
        let mut counts = |name| info.counts(name, out).map(|counts| usage(&counts, out));
        // One without a number says nothing of the session so far; the next one does.
        let total = counts("total_token_usage").filter(|total| total.total().is_some());
        self.call_ends(total, counts("last_token_usage"), ts);
    }

    /// Ends the call in progress, with the session's total after it and its own counts.
    fn call_ends(&mut self, total: Option<Usage>, last: Option<Usage>, ts: Option<Instant>) {
        if total.is_none() || total == self.total {
            return;
        }
        let before = std::mem::replace(&mut self.total, total);
        let grown = total.map(|total| usage::difference(total, before.unwrap_or_default()));
        // If the total grew by more than the last call, an unrecorded call is included; the total is correct. The
        // first total may continue an earlier session, and a total that fell was restarted.
        let more = before.is_some() && grown.and_then(|grown| grown.total()) > last.and_then(|last| last.total());
        let call = if more { grown } else { last.or(grown) };
        if self.open.is_none() {
            // A call without any recorded item, such as one that compacts the context.
            let mut unseen = Message::new(Role::Assistant);
            (unseen.lane, unseen.ts) = (Lane::Side("unseen".into()), ts);
            self.events.push(Event::Message(unseen));
            self.open = Some(self.events.len() - 1);
        }
        if let Some(open) = self.open.take()
            && let Some(Event::Message(reply)) = self.events.get_mut(open)
        {
            reply.set_usage(call);
        }
    }

    /// Changes the reply of the call in progress, or creates one.
    fn reply(&mut self, ts: Option<Instant>, change: impl FnOnce(&mut Message)) {
        let Self { open, events, model, .. } = self;
        self.latest = Some(change_reply(open, events, model.as_deref(), ts, change));
    }
}

/// Changes the reply at `open`, or creates one. Returns its index.
pub(super) fn change_reply(
    open: &mut Option<usize>,
    events: &mut Vec<Event>,
    model: Option<&str>,
    ts: Option<Instant>,
    change: impl FnOnce(&mut Message),
) -> usize {
    let at = *open.get_or_insert_with(|| {
        let mut reply = Message::new(Role::Assistant);
        reply.set_model(model.map(Into::into));
        events.push(Event::Message(reply));
        events.len() - 1
    });
    if let Some(Event::Message(reply)) = events.get_mut(at) {
        reply.ts = ts.or(reply.ts);
        change(reply);
    }
    at
}

/// Says who wrote a message in the user's name: the program writes its context, its notes and its interruption marks
/// there.
pub(super) fn attribute(message: &mut Message) {
    let text = message.text();
    let begins = |marks: &[&str]| marks.iter().any(|mark| text.starts_with(mark));
    if message.role != Role::User {
        return;
    }
    let (is_context, is_interruption, is_host) = (begins(CONTEXT), begins(&[ABORTED]), begins(HOST));
    drop(text);
    if is_context {
        message.role = Role::System;
    } else if is_interruption {
        message.origin = Origin::Interruption;
    } else if is_host {
        message.origin = Origin::Host;
    }
}

/// Beginnings of the context that the program writes before the user's message, in the user's name.
const CONTEXT: &[&str] = &["<environment_context>", "<user_instructions>", "# AGENTS.md", "<INSTRUCTIONS>"];
/// How the mark of an interruption begins.
pub(super) const ABORTED: &str = "<turn_aborted>";

/// The token counts: cached tokens are part of the input, reasoning of the output.
pub(super) fn usage(counts: &Node<'_>, out: &mut Reading<'_>) -> Usage {
    Usage {
        input: counts.tokens("input_tokens", out),
        cache_read: counts.tokens("cached_input_tokens", out),
        cache_write: None,
        output: counts.tokens("output_tokens", out),
        reasoning: counts.tokens("reasoning_output_tokens", out),
    }
}

/// Whether a tool of an MCP server failed: `{"Ok": {"isError": …}}` or `{"Err": …}`.
fn has_failed(result: &Node<'_>) -> Option<bool> {
    if let Some(given) = result.get("Ok") {
        return Some(given.some_flag(["isError", "is_error"]) == Some(true));
    }
    if result.has("Err") { Some(true) } else { None }
}
