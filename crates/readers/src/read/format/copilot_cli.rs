//! Copilot CLI sessions: one event per line. Output tokens are known per call, input tokens only for the whole
//! session, from its shutdown event.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::agent_session::AgentSession;
use crate::read::subagents;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::{tokens, usage};
use crate::text::word_list;
use crate::transcript::{EndCause, Message, Origin, PromptedBy, Role, Text, ToolCall, Totals, Usage};

/// Copilot CLI sessions.
pub(super) static FORMAT: Format = Format {
    id: "copilot-cli",
    summary: "Copilot CLI sessions: session-state/*/events.jsonl",
    recognise,
    joins_lines: |_| true,
    prompted_by: PromptedBy::Person,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_event = |value: &Sketch| {
        let kind = value.text_of("type").unwrap_or_default();
        let own = ["session.", "assistant.", "user.", "tool.execution", "hook.", "system."];
        value.has(&["data", "id", "timestamp"]) && own.iter().any(|prefix| kind.starts_with(prefix))
    };
    let from_copilot = |value: &Sketch| is_event(value) && value.text_within("data", "producer").is_some();
    if probe.any(from_copilot) {
        return Some("a `session.start` event with its `producer`".to_owned());
    }
    let known = |value: &Sketch| is_event(value) && value.has(&["parentId"]);
    reason_if(probe.any(known), "events with `type`, `data` and `parentId`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut session = AgentSession::default();
    for line in record.lines() {
        if let Some(event) = Node::value(line, record, out) {
            add_event(&mut session, &event, out);
        }
    }
    session.name_if_unnamed(&record.file.stem);
    session.header.agent.get_or_insert_with(|| "copilot-cli".to_owned());
    out.run(session.into_draft());
}

fn add_event(session: &mut AgentSession, event: &Node<'_>, out: &mut Reading<'_>) {
    let kind = event.string("type", out).unwrap_or_default();
    let Some(data) = event.object("data", out) else { return };
    let ts = event.instant("timestamp", out);
    // A sub-agent's events name the call that started it.
    let lane = subagents::lane(data.word("parentToolCallId", out));
    match &*kind {
        "session.start" | "session.resume" => {
            if let Some(id) = data.word("sessionId", out) {
                session.header.run_id = id;
            }
            let version = data.word("copilotVersion", out);
            session.header.agent =
                version.map(|version| format!("copilot-cli {version}")).or(session.header.agent.take());
            if session.header.model.is_none() {
                session.header.model = data.some_word("selectedModel");
            }
            session.header.started_at = session.header.started_at.or_else(|| data.instant("startTime", out)).or(ts);
        }
        "session.shutdown" => {
            session.header.totals = totals(&data, out);
            session.header.ended_at = ts;
            session.end = if data.is("shutdownType", "error") { EndCause::Error } else { session.end };
        }
        "user.message" => {
            let mut said = Message::new(Role::User);
            (said.content, said.ts, said.lane) = (data.content("content", out), ts, lane);
            session.turns.push(said);
            session.end = EndCause::Unknown;
        }
        "system.message" => {
            let mut said = Message::new(Role::System);
            (said.content, said.ts) = (data.content("content", out), ts);
            session.turns.push(said);
        }
        "assistant.message" => {
            let key = data.word("messageId", out).unwrap_or_else(|| format!("event {}", session.turns.len()));
            let mut reply = reply(&data, out);
            (reply.ts, reply.lane) = (ts, lane);
            session.turns.piece(&key, reply);
        }
        "tool.execution_complete" => {
            let mut result = result(&data, out);
            (result.ts, result.lane) = (ts, lane);
            session.turns.push(result);
        }
        "abort" => {
            let mut mark = Message::new(Role::User);
            (mark.content, mark.ts, mark.origin) = (data.text("reason", out), ts, Origin::Interruption);
            session.turns.push(mark);
            session.end = EndCause::Killed;
        }
        "session.error" => session.end = EndCause::Error,
        "session.compaction_complete" | "session.truncation" => {
            session.turns.note(format!("copilot-cli.{}", kind.trim_start_matches("session.")), data.kept());
        }
        // The host's own events: turns, hooks, permissions, notifications, progress of tools.
        kind if HOST.contains(&kind) || FAMILIES.iter().any(|family| kind.starts_with(family)) => {}
        other => out.unknown(other, event),
    }
}

/// A piece of a reply, with the calls that it asks for.
fn reply(data: &Node<'_>, out: &mut Reading<'_>) -> Message {
    let mut reply = Message::new(Role::Assistant);
    reply.content = data.content("content", out);
    reply.set_reasoning(data.content("reasoningText", out));
    reply.set_model(data.word("model", out).map(Into::into));
    for request in data.list("toolRequests", out) {
        let id = request.word(["toolCallId", "id"], out);
        match request.word("name", out) {
            Some(name) => {
                let arguments = request.arguments("arguments");
                reply.tool_calls.push(ToolCall::new(id.as_deref(), &name, arguments));
            }
            None => out.error_at(request.place(), "a call without a name", "the call is left out"),
        }
    }
    let output = data.tokens("outputTokens", out);
    reply.set_usage(output.map(|_| Usage { output, ..Usage::default() }));
    reply
}

/// The result of a call.
fn result(data: &Node<'_>, out: &mut Reading<'_>) -> Message {
    let mut result = Message::new(Role::Tool);
    result.tool_call_id = data.word("toolCallId", out).map(Into::into);
    result.is_error = data.flag("success", out).map(|success| !success);
    result.content = match (data.get("result"), data.get("error")) {
        (Some(found), _) => found.content("content", out),
        (None, Some(error)) => Some(error.content("message", out).unwrap_or_else(|| Text::plain(error.written()))),
        (None, None) => None,
    };
    result
}

/// Beginnings of kinds that are the host's own.
const FAMILIES: &[&str] = word_list!(
    "hook. permission. subagent. skill. user_input. external_tool. command. elicitation. exit_plan_mode. sampling.",
);

/// The host's own kinds among those of the session, the replies and the tools.
const HOST: &[&str] = word_list!(
    "session.idle session.info session.warning session.import_legacy session.model_change session.mode_changed",
    "session.plan_changed session.workspace_file_changed session.handoff session.snapshot_rewind",
    "session.context_changed session.usage_info session.compaction_start session.task_complete session.title_changed",
    "session.skills_loaded session.tools_updated session.mcp_servers_loaded session.mcp_server_status_changed",
    "session.extensions_loaded session.custom_agents_updated session.background_tasks_changed session.schedule_created",
    "session.schedule_cancelled session.remote_steerable_changed session.canvas.opened session.error_handled",
    "assistant.turn_start assistant.turn_end assistant.intent assistant.reasoning assistant.reasoning_delta",
    "assistant.message_start assistant.message_delta assistant.streaming_delta assistant.usage assistant.call_failure",
    "tool.user_requested tool.execution_start tool.execution_partial_result tool.execution_progress",
    "system.notification pending_messages.modified",
);

/// The session's tokens for all models. `inputTokens` includes cache reads.
fn totals(shutdown: &Node<'_>, out: &mut Reading<'_>) -> Option<Totals> {
    let metrics = shutdown.counts("modelMetrics", out)?;
    let mut usage = Usage::default();
    for (_, model) in metrics.each() {
        let Some(used) = model.counts("usage", out) else { continue };
        let of_model = Usage {
            input: used.tokens("inputTokens", out),
            output: used.tokens("outputTokens", out),
            cache_read: used.tokens("cacheReadTokens", out),
            cache_write: used.tokens("cacheWriteTokens", out),
            reasoning: used.tokens("reasoningTokens", out),
        };
        usage = usage::sum(usage, of_model);
    }
    // Zeros mean that the session ended before anything was counted.
    if tokens::is_spent(&usage) { Some(Totals { usage, cost: None }) } else { None }
}
