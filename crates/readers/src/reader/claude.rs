//! Messages as Anthropic's API spells them, which Claude Code and the Agent SDK write line by line.
//!
//! One model call is written as several lines, one for each content block, all with the same message
//! id, and its token counts are repeated on each: blocks are put together by id, and of the counts the
//! largest is kept, since early lines hold placeholders.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::copies::ReplyId;
use super::format::Raw;
use super::reading::Reading;
use super::{json, openai};
use crate::transcript::{Event, Instant, Lane, Message, Origin, Role, Text, ToolCall, Usage};

/// A message, as the API has it.
#[derive(Default, Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    model: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    stop_reason: Raw<'a>,
    #[serde(borrow)]
    usage: Raw<'a>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    thinking: Raw<'a>,
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    input: Raw<'a>,
    #[serde(borrow)]
    tool_use_id: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    is_error: Raw<'a>,
}

/// A conversation in the making.
#[derive(Default)]
pub(super) struct Conversation {
    /// What was recorded, in order.
    pub(super) events: Vec<Event>,
    /// Where the reply of each message id stands.
    replies: BTreeMap<String, usize>,
    /// The same, by prints that are equal in every file a line was copied to.
    pub(super) prints: Vec<ReplyId>,
    /// The model of the first call.
    pub(super) model: Option<String>,
}

impl Conversation {
    /// Adds a line of the agent's. `request` tells two replies of one id apart, if there is one.
    pub(super) fn reply(
        &mut self,
        raw: &RawValue,
        request: Option<&str>,
        ts: Option<Instant>,
        lane: Lane,
        out: &mut Reading<'_>,
    ) {
        let Some(wire) = out.part::<Wire<'_>>(Some(raw), "message", "an object") else { return };
        let model = out.string(wire.model, "model");
        let id = out.string(wire.id, "id").map(|id| format!("{id} {}", request.unwrap_or_default()));
        let at = id.as_ref().and_then(|id| self.replies.get(id).copied()).unwrap_or_else(|| {
            let mut reply = Message::new(Role::Assistant);
            // Local error texts are written in the model's name, but no model was called.
            let synthetic = model.as_deref() == Some("<synthetic>");
            reply.lane = if synthetic { Lane::Canned } else { lane };
            reply.model = model.as_deref().map(Into::into);
            if let Some(model) = model.as_deref().filter(|_| !synthetic) {
                self.model.get_or_insert_with(|| model.to_owned());
            }
            self.events.push(Event::Message(reply));
            let at = self.events.len() - 1;
            if let Some(id) = id.as_ref().filter(|_| !synthetic) {
                // Without a request's id, message ids of hand-made files are told apart by their time.
                let time = ts.filter(|_| request.is_none()).map(|ts| ts.0).unwrap_or_default();
                // And what is copied says the same: files that only share an id are about something else.
                let said = wire.content.map_or("", RawValue::get);
                self.prints.push((at, xxhash_rust::xxh3::xxh3_64(format!("{id} {time} {said}").as_bytes())));
            }
            at
        });
        if let Some(id) = id {
            self.replies.insert(id, at);
        }
        let Some(Event::Message(reply)) = self.events.get_mut(at) else { return };
        reply.ts = ts.or(reply.ts);
        add_blocks(reply, wire.content, out);
        if let Some(reason) = out.string(wire.stop_reason, "stop_reason") {
            reply.finish_reason = Some(reason.into());
        }
        if reply.lane != Lane::Canned {
            reply.usage = largest(reply.usage, openai::usage(wire.usage, out));
        }
    }

    /// Adds a line in the user's name: words, and results of tools. `role` is the one its words have.
    pub(super) fn user(&mut self, raw: &RawValue, role: Role, ts: Option<Instant>, lane: &Lane, out: &mut Reading<'_>) {
        let Some(wire) = out.part::<Wire<'_>>(Some(raw), "message", "an object") else { return };
        let Some(content) = wire.content else { return };
        if !content.get().starts_with('[') {
            self.say(role, out.content(Some(content), "content"), ts, lane);
            return;
        }
        // Words beside a result were typed while the agent worked.
        let mut beside_result = false;
        for raw in out.list(Some(content), "content") {
            if let Some(text) = json::text(raw) {
                self.say(role, Some(text), ts, lane);
                continue;
            }
            let Some(block) = out.part::<Block<'_>>(Some(raw), "content", "an array of blocks") else { continue };
            if out.string(block.kind, "type").as_deref() != Some("tool_result") {
                self.say(role, json::content(raw), ts, lane);
                continue;
            }
            let mut result = Message::new(Role::Tool);
            result.tool_call_id = out.word(block.tool_use_id, "tool_use_id").map(Into::into);
            result.content = out.content(block.content, "content").or_else(|| Some(Text::default()));
            // A result without the flag is a good one.
            result.is_error = Some(out.flag(block.is_error, "is_error").unwrap_or(false));
            result.ts = ts;
            result.lane = lane.clone();
            self.events.push(Event::Message(result));
            beside_result = true;
        }
        if beside_result {
            self.steer();
        }
    }

    /// What was said from event `at` on goes on from an earlier point: what was in between is taken back.
    pub(super) fn took_back(&mut self, at: usize) {
        self.events.insert(at, Event::taking_back());
    }

    /// The prompts at the end are words that steer the agent at work.
    fn steer(&mut self) {
        for event in self.events.iter_mut().rev() {
            match event {
                Event::Message(message) if message.role == Role::User => {
                    if message.origin == Origin::Prompt {
                        message.origin = Origin::Steering;
                    }
                }
                _ => break,
            }
        }
    }

    fn say(&mut self, role: Role, content: Option<Text>, ts: Option<Instant>, lane: &Lane) {
        let Some(content) = content else { return };
        let mut message = Message::saying(role, content);
        if role == Role::User {
            message.origin = origin(&message.text());
            // What was answered by the program was no prompt.
            let answered_here = message.text().starts_with("<local-command-std");
            if let (true, Some(Event::Message(before))) = (answered_here, self.events.last_mut())
                && before.role == Role::User
                && before.text().trim_start().starts_with("<command-")
            {
                before.origin = Origin::Host;
            }
        }
        message.ts = ts;
        message.lane = lane.clone();
        self.events.push(Event::Message(message));
    }

    /// True when the last words of the user are that they interrupted the agent.
    pub(super) fn is_interrupted(&self) -> bool {
        let last = self.events.iter().rev().filter_map(Event::message).find(|message| message.role != Role::System);
        last.is_some_and(|message| {
            message.role == Role::User && message.text().starts_with("[Request interrupted by user")
        })
    }
}

/// How text begins that the program writes in the user's name.
const HOST: &[&str] = &[
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "Caveat: The messages below were generated by the user while running local commands",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<system-reminder>",
    "<user-memory-input>",
    "<user-prompt-submit-hook>",
    "<ide_opened_file>",
    "<ide_selection>",
    "<ide_diagnostics>",
    "<session-start-hook>",
    "Stop hook feedback:",
    "SessionStart hook",
    "[SYSTEM NOTIFICATION",
    "This session is being continued from a previous conversation",
    "Base directory for this skill:",
    "[Image: original",
    "[Image: source:",
];

/// Commands that the program answers itself.
const LOCAL: &[&str] = &[
    "clear",
    "compact",
    "model",
    "cost",
    "context",
    "config",
    "status",
    "login",
    "logout",
    "mcp",
    "memory",
    "doctor",
    "help",
    "exit",
    "quit",
    "resume",
    "permissions",
    "agents",
    "hooks",
    "ide",
    "vim",
    "usage",
    "export",
    "add-dir",
    "rewind",
    "plugin",
    "theme",
    "output-style",
    "release-notes",
    "terminal-setup",
    "statusline",
    "fast",
    "tasks",
    "skills",
    "rename",
    "stats",
    "upgrade",
    "bug",
    "feedback",
    "settings",
    "sandbox",
    "color",
    "effort",
    "extra-usage",
];

/// Whose words a text in the user's name holds.
fn origin(text: &str) -> Origin {
    let text = text.trim_start();
    if text.starts_with("[Request interrupted by user") {
        return Origin::Interruption;
    }
    let command = text.split("<command-name>").nth(1).and_then(|rest| rest.split("</command-name>").next());
    let is_local = |name: &str| LOCAL.contains(&name.trim().trim_start_matches('/'));
    let begins_with_command = text.starts_with("<command-");
    if HOST.iter().any(|mark| text.starts_with(mark)) || (begins_with_command && command.is_some_and(is_local)) {
        return Origin::Host;
    }
    Origin::Prompt
}

/// Adds the content blocks of a line to the reply they belong to.
fn add_blocks(reply: &mut Message, content: Raw<'_>, out: &mut Reading<'_>) {
    let Some(content) = content else { return };
    if !content.get().starts_with('[') {
        append(&mut reply.content, out.content(Some(content), "content"));
        return;
    }
    for raw in out.list(Some(content), "content") {
        if let Some(text) = json::text(raw) {
            append(&mut reply.content, Some(text));
            continue;
        }
        let Some(block) = out.part::<Block<'_>>(Some(raw), "content", "an array of blocks") else { continue };
        match out.string(block.kind, "type").as_deref() {
            Some("text") => append(&mut reply.content, out.text(block.text, "text")),
            Some("thinking") => append(&mut reply.reasoning, out.text(block.thinking, "thinking")),
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                let Some(name) = out.string(block.name, "name") else { continue };
                let id = out.word(block.id, "id");
                if id.is_none() || reply.tool_calls.iter().all(|call| call.id.as_deref() != id.as_deref()) {
                    reply.tool_calls.push(ToolCall::new(id.as_deref(), &name, openai::arguments(block.input)));
                }
            }
            Some("redacted_thinking") | None => {}
            Some(other) => out.unknown(&format!("block {other}")),
        }
    }
}

fn append(slot: &mut Option<Text>, more: Option<Text>) {
    let Some(more) = more else { return };
    *slot = Some(match slot.take().filter(|text| !text.is_empty()) {
        None => more,
        Some(text) => Text::plain(format!("{}\n{}", text.as_str(), more.as_str())),
    });
}

/// The larger of each count.
fn largest(one: Option<Usage>, other: Option<Usage>) -> Option<Usage> {
    let (Some(one), Some(other)) = (one, other) else { return one.or(other) };
    Some(Usage {
        input: one.input.max(other.input),
        cache_read: one.cache_read.max(other.cache_read),
        cache_write: one.cache_write.max(other.cache_write),
        output: one.output.max(other.output),
        reasoning: one.reasoning.max(other.reasoning),
    })
}
