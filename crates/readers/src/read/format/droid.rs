//! Factory's Droid sessions: `session_start` and `message` lines with Anthropic's blocks. Tokens are in a settings file
//! beside the session, for all of it.

use super::{Format, beside, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::dialect;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::transcript::{Grade, Header, Origin, PromptedBy, Role, Usage};

/// Factory's Droid sessions.
pub(super) static FORMAT: Format = Format {
    id: "droid",
    summary: "Factory's Droid sessions: `session_start` and `message` lines",
    recognise,
    joins_lines: |_| true,
    prompted_by: PromptedBy::Person,
    ..Format::reading(read)
};

/// Types of lines that hold nothing about the run.
const IGNORED: &[&str] = &["todo_state", "session_end", "session_title"];

fn recognise(probe: &Probe) -> Option<String> {
    let is_start = |value: &Sketch| value.is("type", "session_start") && value.has(&["id"]);
    reason_if(probe.any(is_start), "a `session_start` line")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let stem = &record.file.stem;
    let mut header = Header { run_id: stem.clone(), agent: Some("droid".to_owned()), ..Header::default() };
    let mut turns = Turns::default();
    for line in Node::values(record, out) {
        let Some(line) = line.into_object("line", out) else { continue };
        match line.some_string("type").as_deref() {
            Some("session_start") => header.run_id = line.some_word("id").unwrap_or(header.run_id),
            Some("message") => push_message(&line, &mut turns, out),
            Some("compaction_state") => turns.note("droid.compaction", line.kept()),
            Some(kind) if IGNORED.contains(&kind) => {}
            Some(kind) => out.unknown(kind, &line),
            None => out.error_at(line.place(), "a line without a `type`", "it is left out"),
        }
    }
    let settings = beside(record, &format!("{stem}.settings.json"));
    if let Some(settings) = settings
        && let Ok(settings) = serde_json::from_str(&settings)
    {
        read_settings(&settings, &mut header);
    }
    out.run(turns.into_draft(header, Grade::default()));
}

fn push_message(line: &Node<'_>, turns: &mut Turns, out: &mut Reading<'_>) {
    let ts = line.instant("timestamp", out);
    let Some(inner) = line.object("message", out) else { return };
    let Some(role) = inner.role("role", dialect::named_role, out) else { return };
    for mut message in dialect::messages_of(&inner, role, out) {
        message.ts = ts;
        if message.role == Role::User && message.text().trim_start().starts_with("<system-reminder>") {
            message.origin = Origin::Host;
        }
        turns.push(message);
    }
}

/// Takes the model and the tokens of the whole session.
fn read_settings(settings: &serde_json::Value, header: &mut Header) {
    header.model = settings["model"].as_str().map(str::to_owned);
    let Some(counts) = settings.get("tokenUsage") else { return };
    let count = |name: &str| counts[name].as_u64();
    let usage = Usage {
        input: count("inputTokens"),
        cache_read: count("cacheReadTokens"),
        cache_write: count("cacheCreationTokens"),
        output: count("outputTokens"),
        reasoning: count("thinkingTokens"),
    };
    header.totals = tokens::totals(tokens::with_cached_beside(usage));
}
