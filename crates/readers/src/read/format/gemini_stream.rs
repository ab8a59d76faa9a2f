//! Gemini CLI's stream (`--output-format stream-json`): one event per line; each `init` begins a run. Tokens are known
//! only for the whole run.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::agent_session::AgentSession;
use crate::read::openai;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::outcomes::failed_by_status;
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::transcript::{EndCause, Instant, Message, PromptedBy, Role, Text, ToolCall, Totals, Usage};

/// Gemini CLI's stream.
pub(super) static FORMAT: Format = Format {
    id: "gemini-cli-stream",
    summary: "Gemini CLI's stream-json output: init, message, tool_use, tool_result, result",
    recognise,
    joins_lines: |_| true,
    prompted_by: PromptedBy::Program,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let kind = |value: &Sketch, wanted: &str| value.is("type", wanted);
    let is_use = |value: &Sketch| kind(value, "tool_use") && value.has(&["tool_name", "tool_id"]);
    let is_init = |value: &Sketch| kind(value, "init") && value.has(&["session_id", "model"]);
    if probe.any(is_use) {
        return Some("`tool_use` lines with `tool_name` and `tool_id`".to_owned());
    }
    reason_if(probe.any(is_init), "an `init` line with its session and model")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut sessions = vec![AgentSession::default()];
    let mut has_begun = false;
    for line in record.lines() {
        let Some(event) = Node::value(line, record, out) else { continue };
        if event.is("type", "init") {
            if has_begun {
                sessions.push(AgentSession::default());
            }
            has_begun = true;
        }
        if let Some(session) = sessions.last_mut() {
            add_event(session, &event, out);
        }
    }
    let stem = &record.file.stem;
    for (n, mut session) in sessions.into_iter().enumerate() {
        let name = if n == 0 { stem.clone() } else { format!("{stem}/{}", n + 1) };
        session.name_if_unnamed(&name);
        session.header.agent = Some("gemini-cli".to_owned());
        out.run(session.into_draft());
    }
}

fn add_event(session: &mut AgentSession, event: &Node<'_>, out: &mut Reading<'_>) {
    let ts = event.instant("timestamp", out);
    match event.string("type", out).as_deref() {
        Some("init") => {
            session.header.run_id = event.word("session_id", out).unwrap_or_default();
            session.header.model = event.word("model", out);
            session.header.started_at = ts;
        }
        Some("message") => match event.role("role", openai::role, out) {
            Some(Role::Assistant) => {
                let said = event.content("content", out).unwrap_or_default();
                say(&mut session.turns, &said, ts);
            }
            Some(role) => {
                let mut said = Message::new(role);
                (said.content, said.ts) = (event.content("content", out), ts);
                session.turns.push(said);
            }
            None => {}
        },
        Some("tool_use") => {
            let id = event.word("tool_id", out);
            match event.word("tool_name", out) {
                Some(name) => {
                    session.turns.begin_reply_after_result();
                    session.turns.call(ToolCall::new(id.as_deref(), &name, event.arguments("parameters")), ts);
                    if let Some(reply) = session.turns.current() {
                        reply.ts = ts.or(reply.ts);
                    }
                }
                None => out.error_at(event.place(), "a tool call without a name", "the call is left out"),
            }
        }
        Some("tool_result") => {
            let mut result = Message::new(Role::Tool);
            result.tool_call_id = event.word("tool_id", out).map(Into::into);
            let failed = event.under("error", out).text("message", out);
            result.content = event.content("output", out).or(failed);
            result.is_error = failed_by_status(event.string("status", out).as_deref());
            result.ts = ts;
            session.turns.push(result);
        }
        Some("error") => session.turns.note("gemini-cli.error", event.kept()),
        Some("result") => {
            session.end = if event.is("status", "success") { EndCause::SelfFinish } else { EndCause::Error };
            session.header.ended_at = ts;
            session.header.totals = totals(event, out);
        }
        Some(other) => out.unknown(other, event),
        None => out.error_at(event.place(), "a line without a `type`", "the line is left out"),
    }
}

/// Adds a streamed piece of a reply.
fn say(turns: &mut Turns, said: &Text, ts: Option<Instant>) {
    let goes_on = turns.last_message().is_some_and(|last| last.role == Role::Assistant);
    match turns.current().filter(|_| goes_on) {
        Some(reply) => {
            let before = reply.content.take().unwrap_or_default();
            reply.content = Some(Text::plain(format!("{}{}", before.as_str(), said.as_str())));
            reply.ts = ts.or(reply.ts);
        }
        None => {
            turns.say(Role::Assistant, said.clone(), ts);
        }
    }
}

/// The run's tokens: thoughts are included only in the total.
fn totals(event: &Node<'_>, out: &mut Reading<'_>) -> Option<Totals> {
    let stats = event.counts("stats", out)?;
    let (total, input) = (stats.tokens("total_tokens", out), stats.tokens("input_tokens", out));
    let output = stats.tokens("output_tokens", out);
    let rest = total.zip(input).map(|(total, input)| total.saturating_sub(input)).filter(|rest| Some(*rest) >= output);
    let usage = Usage {
        input,
        cache_read: stats.tokens("cached", out),
        output: rest.or(output),
        reasoning: rest.zip(output).map(|(rest, output)| rest - output),
        ..Usage::default()
    };
    tokens::totals(usage)
}
