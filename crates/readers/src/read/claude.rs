//! Messages as in Anthropic's API, which Claude Code and the Agent SDK write line by line.
//!
//! One model call is written as several lines, one per content block, all with the same message id, and its token
//! counts are repeated on each line. Blocks are joined by id, and the largest counts are kept, since early lines hold
//! placeholders.

use std::collections::{HashMap, HashSet};
use std::mem;

use crate::read::iterations::{self, OtherRequest};
use crate::read::{subagents, texts};
use crate::record::node::Node;
use crate::record::reading::{Reading, ReplyId};
use crate::record::usage;
use crate::text::word_list;
use crate::transcript::{Event, Instant, Lane, Message, Origin, Role, Text, ToolCall, messages};
use crate::value::json;

/// A conversation being built.
#[derive(Default)]
pub(crate) struct ClaudeConversation {
    /// The events so far.
    pub(crate) events: Vec<Event>,
    /// Index of the reply with each message id.
    replies: HashMap<String, usize>,
    /// The indices of the replies with hashes that are equal in every file a line was copied to.
    pub(crate) prints: Vec<ReplyId>,
    /// Whether the lines have ids of requests; without them, messages of unrelated files may have one id.
    pub(crate) has_requests: bool,
    /// The model of the first call.
    pub(crate) model: Option<String>,
    /// The requests that a reply took besides its own, by the index of the reply.
    requests: HashMap<usize, Vec<OtherRequest>>,
}

impl ClaudeConversation {
    /// Adds a line of the agent's. `request`, if any, distinguishes replies with the same id.
    pub(crate) fn reply(
        &mut self,
        wire: &Node<'_>,
        request: Option<&str>,
        ts: Option<Instant>,
        lane: Lane,
        out: &mut Reading<'_>,
    ) {
        if !wire.expect_object("message", "an object", out) {
            return;
        }
        self.has_requests |= request.is_some();
        let model = wire.string("model", out);
        let id = wire.string("id", out).map(|id| format!("{id} {}", request.unwrap_or_default()));
        let at = id.as_ref().and_then(|id| self.replies.get(id).copied()).unwrap_or_else(|| {
            let mut reply = Message::new(Role::Assistant);
            // Local error texts are written in the model's name, although no model was called.
            let synthetic = model.as_deref() == Some("<synthetic>");
            reply.lane = if synthetic { Lane::Canned } else { lane };
            reply.set_model(model.as_deref().map(Into::into));
            if let Some(model) = model.as_deref().filter(|_| !synthetic) {
                self.model.get_or_insert_with(|| model.to_owned());
            }
            self.events.push(Event::Message(reply));
            let at = self.events.len() - 1;
            if let Some(id) = id.as_ref().filter(|_| !synthetic) {
                // Without a request id, the time is included, since hand-made files may reuse message ids.
                let time = ts.filter(|_| request.is_none()).map(|ts| ts.0).unwrap_or_default();
                // The content is included because copies have the same content: files that only share an id are
                // unrelated.
                let content = wire.get("content");
                let said = content.as_ref().map(Node::written).unwrap_or_default();
                self.prints.push((at, xxhash_rust::xxh3::xxh3_64(format!("{id} {time} {said}").as_bytes())));
            }
            at
        });
        if let Some(id) = id {
            self.replies.insert(id, at);
        }
        let Some(Event::Message(reply)) = self.events.get_mut(at) else { return };
        reply.ts = ts.or(reply.ts);
        let results = add_blocks(reply, wire, out);
        if let Some(reason) = wire.string("stop_reason", out) {
            reply.set_finish_reason(Some(reason.into()));
        }
        if reply.lane != Lane::Canned {
            let taken = iterations::taken(wire, out);
            reply.set_usage(usage::largest(reply.usage(), taken.last));
            if !taken.others.is_empty() {
                self.requests.insert(at, taken.others);
            }
        }
        let lane = reply.lane.clone();
        for mut result in results {
            (result.ts, result.lane) = (ts, lane.clone());
            self.events.push(Event::Message(result));
        }
    }

    /// Adds the requests that replies took besides their own, each after its reply. To be called once, at the end.
    pub(crate) fn add_requests(&mut self) {
        let mut requests = mem::take(&mut self.requests);
        if requests.is_empty() {
            return;
        }
        let mut places = Vec::with_capacity(self.events.len());
        for (at, event) in mem::take(&mut self.events).into_iter().enumerate() {
            places.push(self.events.len());
            let (model, ts) = (event.message().and_then(Message::model).map(Into::into), event.ts());
            self.events.push(event);
            let taken = requests.remove(&at).unwrap_or_default().into_iter();
            self.events.extend(taken.map(|request| request.into_event(model.as_ref(), ts)));
        }
        for (at, _) in &mut self.prints {
            *at = places.get(*at).copied().unwrap_or(*at);
        }
    }

    /// Adds a line in the user's name: texts, which get the role `role`, and tool results.
    pub(crate) fn user(
        &mut self,
        wire: &Node<'_>,
        role: Role,
        ts: Option<Instant>,
        lane: &Lane,
        out: &mut Reading<'_>,
    ) {
        if !wire.expect_object("message", "an object", out) {
            return;
        }
        let Some(blocks) = blocks(wire, out) else {
            return self.say(role, wire.content("content", out), ts, lane);
        };
        // Texts beside a result were typed while the agent was working.
        let mut beside_result = false;
        for block in blocks {
            if let Some(text) = json::text(&block) {
                self.say(role, Some(text), ts, lane);
                continue;
            }
            if !block.expect_object("content", "an array of blocks", out) {
                continue;
            }
            if block.string("type", out).as_deref() != Some("tool_result") {
                out.plain_content(&block);
                let said = out.content(Some(&block), "content");
                self.say(role, said, ts, lane);
                continue;
            }
            let mut result = Message::new(Role::Tool);
            result.tool_call_id = block.word("tool_use_id", out).map(Into::into);
            result.content = block.content("content", out);
            // A result without the flag is not an error.
            result.is_error = Some(block.flag("is_error", out).unwrap_or(false));
            result.ts = ts;
            result.lane = lane.clone();
            self.events.push(Event::Message(result));
            beside_result = true;
        }
        if beside_result {
            self.steer();
        }
    }

    /// Adds the conversation of a sub-agent that is in another file. What it was handed a copy of is here already.
    pub(crate) fn take_in(&mut self, agent: Self, lane: &Lane) {
        let own: HashSet<u64> = self.prints.iter().map(|(_, print)| *print).collect();
        let prints: HashMap<usize, u64> = agent.prints.into_iter().collect();
        let mut copied = HashSet::new();
        let (mut events, mut of_events) = (Vec::new(), Vec::new());
        for (at, event) in agent.events.into_iter().enumerate() {
            let Event::Message(message) = &event else { continue };
            if let Some(call) = &message.tool_call_id
                && copied.contains(call)
            {
                continue;
            }
            if let Some(print) = prints.get(&at) {
                if own.contains(print) {
                    copied.extend(message.tool_calls.iter().filter_map(|call| call.id.clone()));
                    continue;
                }
                of_events.push((events.len(), *print));
            }
            events.push(event);
        }
        subagents::on_lane(&mut events, lane);
        let (at, n) = (subagents::place(&self.events, &events), events.len());
        self.prints.iter_mut().filter(|(own, _)| *own >= at).for_each(|(own, _)| *own += n);
        self.prints.extend(of_events.into_iter().map(|(own, print)| (own + at, print)));
        self.events.splice(at..at, events);
    }

    /// Marks that the messages from event `at` on continue from an earlier point, so that what came in between is
    /// taken back.
    pub(crate) fn took_back(&mut self, at: usize) {
        self.events.insert(at, Event::taking_back());
    }

    /// Marks the prompts at the end as steering: they were typed while the agent was working.
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
            // A command that the program answered itself was not a prompt.
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

    /// Whether the user's last message says that they interrupted the agent.
    pub(crate) fn is_interrupted(&self) -> bool {
        match messages(&self.events).rev().find(|message| message.role != Role::System) {
            Some(last) => last.role == Role::User && last.text().starts_with("[Request interrupted by user"),
            None => false,
        }
    }
}

/// Beginnings of texts that the program writes in the user's name.
const HOST: &[&str] = &[
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "Caveat: The messages below were generated by the user while running local commands",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "<user-memory-input>",
    "<user-prompt-submit-hook>",
    "<ide_opened_file>",
    "<ide_selection>",
    "<ide_diagnostics>",
    "<session-start-hook>",
    "Stop hook feedback:",
    "SessionStart hook",
    "This session is being continued from a previous conversation",
    "Base directory for this skill:",
    "[Image: original",
    "[Image: source:",
];

/// Beginnings of texts in which the program tells of something that happened meanwhile.
const NOTIFICATIONS: [&str; 2] = ["<task-notification>", "[SYSTEM NOTIFICATION"];

/// Commands that the program answers itself.
const LOCAL: &[&str] = word_list!(
    "clear compact model cost context config status login logout mcp memory doctor help exit quit resume permissions",
    "agents hooks ide vim usage export add-dir rewind plugin theme output-style release-notes terminal-setup",
    "statusline fast tasks skills rename stats upgrade bug feedback settings sandbox color effort extra-usage",
);

/// Who wrote a text that is in the user's name.
fn origin(text: &str) -> Origin {
    let text = text.trim_start();
    if text.starts_with("[Request interrupted by user") {
        return Origin::Interruption;
    }
    if NOTIFICATIONS.iter().any(|mark| text.starts_with(mark)) {
        return Origin::Notification;
    }
    if HOST.iter().any(|mark| text.starts_with(mark)) || names_local_command(text) {
        return Origin::Host;
    }
    Origin::Prompt
}

fn names_local_command(text: &str) -> bool {
    let Some(rest) = text.split("<command-name>").nth(1) else { return false };
    let name = rest.split("</command-name>").next().unwrap_or(rest);
    text.starts_with("<command-") && LOCAL.contains(&name.trim().trim_start_matches('/'))
}

/// The blocks of a message's content; `None` if the content is plain text or absent.
fn blocks<'a>(wire: &Node<'a>, out: &mut Reading<'_>) -> Option<Vec<Node<'a>>> {
    wire.get("content").filter(|content| content.written().starts_with('['))?;
    Some(wire.list("content", out))
}

/// Adds the content blocks of a line to the reply they belong to, and returns the results among them: those of tools
/// that the provider runs itself.
fn add_blocks(reply: &mut Message, wire: &Node<'_>, out: &mut Reading<'_>) -> Vec<Message> {
    let mut results = Vec::new();
    let Some(blocks) = blocks(wire, out) else {
        reply.content = texts::followed(reply.content.take(), wire.content("content", out));
        return results;
    };
    for block in blocks {
        if let Some(text) = json::text(&block) {
            reply.content = texts::followed(reply.content.take(), Some(text));
            continue;
        }
        if !block.expect_object("content", "an array of blocks", out) {
            continue;
        }
        match block.string("type", out).as_deref() {
            Some("text") => reply.content = texts::followed(reply.content.take(), block.text("text", out)),
            Some("thinking") => {
                reply.set_reasoning(texts::followed(reply.reasoning().cloned(), block.text("thinking", out)));
            }
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                let Some(name) = block.string("name", out) else { continue };
                let id = block.word("id", out);
                if id.is_none() || reply.tool_calls.iter().all(|call| call.id.as_deref() != id.as_deref()) {
                    reply.tool_calls.push(ToolCall::new(id.as_deref(), &name, block.arguments("input")));
                }
            }
            Some(kind) if kind.ends_with("_tool_result") => results.push(served(&block, out)),
            Some("redacted_thinking") | None => {}
            Some(other) => out.unknown(&format!("block {other}"), &block),
        }
    }
    results
}

/// The result of a tool that the provider ran. Its content is text, a list, or an object whose type tells of an error.
fn served(block: &Node<'_>, out: &mut Reading<'_>) -> Message {
    let mut result = Message::new(Role::Tool);
    result.tool_call_id = block.word("tool_use_id", out).map(Into::into);
    let content = block.get("content");
    if let Some(content) = &content {
        result.content = Some(content.some_text("text").unwrap_or_else(|| content.as_content()));
    }
    let kind = content.unwrap_or_default().some_string("type").unwrap_or_default();
    result.is_error = Some(kind.ends_with("_error") || block.is_true("is_error"));
    result
}
