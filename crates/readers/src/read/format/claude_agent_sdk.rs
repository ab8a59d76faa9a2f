//! Claude Agent SDK streams (`--output-format stream-json`), plain or in a recorder's envelope
//! `{type, message, timestamp}`.

use serde_json::Value;

use super::{Format, object_of, reason_if};
use crate::diagnostic::count;
use crate::open::probe::{Probe, Sketch};
use crate::read::claude::ClaudeConversation;
use crate::read::{subagents, texts};
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Draft, EndCause, Grade, Header, PromptedBy, Role, Totals};
use crate::value::json;

/// Claude Agent SDK streams.
pub(super) static FORMAT: Format = Format {
    id: "claude-agent-sdk",
    summary: "Claude Agent SDK streams (stream-json)",
    recognise,
    joins_lines: |_| true,
    prompted_by: PromptedBy::Program,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_line = |value: &Sketch| {
        let kind = value.text_of("type").unwrap_or_default();
        let inner = value.get("message").filter(|message| message.is_object()).unwrap_or(value);
        match &*kind {
            "system" => inner.is("subtype", "init"),
            "result" => inner.has(&["subtype", "num_turns"]),
            // A log that lacks its first and last lines.
            "assistant" | "user" => {
                let of_session = value.get("session_id").or(value.get("parent_tool_use_id")).is_some();
                of_session && inner.text_of("role").as_deref() == Some(&*kind)
            }
            _ => false,
        }
    };
    let reason = "lines of type `system` `init`, `result` with `num_turns`, or messages with `session_id`";
    reason_if(probe.any(is_line), reason)
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut conversation = ClaudeConversation::default();
    let mut about = SessionMetadata::default();
    // The lines, or an array of them as in the SDK's own tests.
    let lines = json::elements(record.text).unwrap_or_else(|| record.lines().collect());
    for line in lines {
        if let Some(line) = Node::line(line, out) {
            add(&mut conversation, &mut about, &line, out);
        }
    }
    conversation.add_requests();
    let agent = "claude-agent-sdk";
    let session = about.session.map(|id| Value::String(id).to_string());
    let header = Header {
        run_id: record.file.stem.clone(),
        model: conversation.model,
        agent: Some(texts::agent_name(agent, about.version)),
        meta: object_of([("session_id", session), ("total_cost_usd", about.cost.map(|cost| cost.to_string()))]),
        ..Header::default()
    };
    let grade = Grade { end: about.end, ..Grade::default() };
    let draft = Draft { header, events: conversation.events, grade, warnings: Vec::new() };
    let has_messages = draft.events.iter().any(|event| event.message().is_some());
    match about.result.filter(|_| !has_messages) {
        Some(result) => summarise(draft, &result, out),
        None => out.run_of_replies(draft, conversation.prints),
    }
}

/// Hands over what a `result` says of a session whose messages are not in the file.
fn summarise(draft: Draft, result: &Node<'_>, out: &mut Reading<'_>) {
    let usage = result.usage("usage", out).unwrap_or_default();
    let totals = Totals { usage, cost: result.dollars("total_cost_usd", out) };
    let turns = result.count("num_turns", out);
    let turns = match turns {
        Some(turns) => count(turns, "turn"),
        None => "turns unknown".to_owned(),
    };
    let mut said = vec![turns];
    said.extend(totals.usage.total().map(|tokens| format!("{tokens} tokens")));
    said.extend(totals.cost.map(|cost| format!("${}", cost.0)));
    out.warn_at(
        out.record.text,
        format!("the result of a session without its messages ({}): no run", said.join(", ")),
        "name the session's own file too, or record with `--output-format stream-json --verbose`",
    );
    let header = Header { totals: Some(totals), ..draft.header };
    out.summaries.push(Draft { header, ..draft });
}

/// What lines other than messages say.
#[derive(Default)]
struct SessionMetadata<'a> {
    version: Option<String>,
    end: EndCause,
    session: Option<String>,
    cost: Option<f64>,
    /// The last `result`.
    result: Option<Node<'a>>,
}

fn add<'a>(
    conversation: &mut ClaudeConversation,
    about: &mut SessionMetadata<'a>,
    line: &Node<'a>,
    out: &mut Reading<'_>,
) {
    let kind = line.string("type", out).unwrap_or_default();
    let ts = line.instant("timestamp", out);
    let message = line.get("message");
    // In an envelope, the fields of `system` and `result` lines are inside `message`.
    let facts = message.as_ref().unwrap_or(line);
    let parent = "parent_tool_use_id";
    let whose = if line.has(parent) { line } else { facts }.word(parent, out);
    let whose = subagents::lane(whose);
    match (&*kind, &message) {
        ("assistant", Some(message)) => conversation.reply(message, None, ts, whose, out),
        ("user", Some(message)) => conversation.user(message, Role::User, ts, &whose, out),
        ("system", _) => {
            if about.version.is_none() {
                about.version = facts.word("claude_code_version", out);
            }
            let session = facts.word("session_id", out);
            if about.session.is_none() && about.cost.is_none() {
                about.session = session;
            }
        }
        ("result", _) => {
            // A resumed session has several results; the last one tells how it ended.
            about.end = end_cause(&facts.string("subtype", out).unwrap_or_default());
            about.result = Some(facts.clone());
            about.cost = facts.number("total_cost_usd", out).or(about.cost);
        }
        ("stream_event", _) => {}
        (kind, _) => out.unknown(kind, line),
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
