//! Pi coding agent sessions: a tree of entries, one a line (FORMATS 17). The run is the path to the last
//! entry; what stands on another branch was paid for and is no step.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use super::{Format, Layout};
use crate::reader::node::Node;
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::rows::{self, Object};
use crate::reader::{json, openai};
use crate::transcript::{Draft, EndCause, Event, Json, Lane, Message, Note, Origin, Role, Text, ToolCall, Usage};

/// Pi coding agent sessions.
pub(super) struct Pi;

impl Format for Pi {
    fn id(&self) -> &'static str {
        "pi"
    }

    fn summary(&self) -> &'static str {
        "Pi coding agent sessions: entries with `parentId`, one a line"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let kind = |value: &Sketch, wanted: &str| value.text_of("type").as_deref() == Some(wanted);
        let is_session = |value: &Sketch| kind(value, "session") && value.has(&["id", "cwd"]);
        let is_entry = |value: &Sketch| {
            let role = value.get("message").and_then(|message| message.text_of("role"));
            kind(value, "message")
                && role.is_some()
                && (value.has(&["parentId"]) || role.as_deref() == Some("toolResult"))
        };
        if probe.values.iter().any(is_session) {
            return Some("a `session` line with its folder".to_owned());
        }
        probe.values.iter().any(is_entry).then(|| "`message` entries with a `parentId`".to_owned())
    }

    fn joins_lines(&self, _first: &Sketch) -> bool {
        true
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn prompted_by(&self) -> crate::transcript::PromptedBy {
        crate::transcript::PromptedBy::Person
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let mut draft = Draft::default();
        draft.header.run_id.clone_from(&record.file.stem);
        draft.header.agent = Some("pi".to_owned());
        let mut entries = Vec::new();
        for value in rows::values(record, out) {
            let Some(entry) = Object::of(value) else {
                out.wrong(value, "entry", "an object");
                continue;
            };
            if entry.word(&["type"]).as_deref() == Some("session") {
                draft.header.run_id = entry.word(&["id"]).unwrap_or(draft.header.run_id);
                draft.header.started_at = out.instant(entry.get(&["timestamp"]), "timestamp");
                continue;
            }
            entries.push((entry, value));
        }
        let path = path_to_last(&entries);
        let mut aside = 0;
        for (entry, raw) in &entries {
            let on_path = entry.word(&["id"]).is_none_or(|id| path.is_empty() || path.contains(&id));
            aside += usize::from(!on_path && push_entry(entry, raw, on_path, &mut draft, out));
            if on_path {
                push_entry(entry, raw, on_path, &mut draft, out);
            }
        }
        if aside > 0 {
            draft.warnings.push(format!("{aside} replies stand on branches that were left: paid for, but no steps"));
        }
        out.run(draft);
    }
}

/// The ids from the last entry up to the root.
fn path_to_last(entries: &[(Object<'_>, &RawValue)]) -> BTreeSet<String> {
    let ids = |(entry, _): &(Object<'_>, &RawValue)| Some((entry.word(&["id"])?, entry.word(&["parentId"])));
    let parents: BTreeMap<String, Option<String>> = entries.iter().filter_map(ids).collect();
    let mut path = BTreeSet::new();
    let mut at = entries.iter().rev().find_map(ids).map(|(id, _)| id);
    while let Some(id) = at {
        at = parents.get(&id).cloned().flatten();
        if !path.insert(id) {
            break;
        }
    }
    path
}

/// Appends one entry; true when it was a reply.
fn push_entry(entry: &Object<'_>, raw: &RawValue, on_path: bool, draft: &mut Draft, out: &mut Reading<'_>) -> bool {
    match entry.word(&["type"]).as_deref() {
        Some("message") => {
            let Some(fields) = entry.get(&["message"]).and_then(Object::of) else {
                out.error_at(raw.get(), "a message entry without a `message`", "the entry is left out");
                return false;
            };
            let ts = out.instant(entry.get(&["timestamp"]).or_else(|| fields.get(&["timestamp"])), "timestamp");
            let Some(mut message) = message(&fields, raw, out) else { return false };
            message.ts = ts;
            let is_reply = message.role == Role::Assistant;
            if !on_path {
                if !is_reply {
                    return false;
                }
                message.lane = Lane::Side("left branch".into());
            } else if is_reply {
                draft.grade.end = match message.finish_reason.as_deref() {
                    Some("aborted") => EndCause::Killed,
                    Some("error") => EndCause::Error,
                    _ => EndCause::Unknown,
                };
                let model = &mut draft.header.model;
                *model = model.take().or_else(|| message.model.as_deref().map(str::to_owned));
            }
            let is_aborted = is_reply && on_path && message.finish_reason.as_deref() == Some("aborted");
            let says_nothing = message.tool_calls.is_empty()
                && [&message.content, &message.reasoning].iter().all(|text| text.as_ref().is_none_or(Text::is_empty));
            if is_aborted && says_nothing {
                // Of a call that was broken off before anything came, the mark is left, and what it cost.
                message.lane = Lane::Side("unseen aborted".into());
            }
            draft.events.push(Event::Message(message));
            if is_aborted {
                draft.events.push(Event::interruption());
            }
            return is_reply;
        }
        Some("custom_message") if on_path => {
            let mut message = Message::new(Role::User);
            message.origin = Origin::Host;
            message.content = out.content(entry.get(&["content"]), "content");
            draft.events.push(Event::Message(message));
        }
        Some(kind @ ("compaction" | "branch_summary")) if on_path => {
            draft.events.push(Event::Note(Note { kind: format!("pi.{kind}").into(), body: raw.to_owned() }));
        }
        Some(
            "custom_message"
            | "compaction"
            | "branch_summary"
            | "model_change"
            | "thinking_level_change"
            | "custom"
            | "label"
            | "session_info",
        ) => {}
        Some(other) => out.unknown(other),
        None => out.error_at(raw.get(), "an entry without a `type`", "the entry is left out"),
    }
    false
}

/// A message in this agent's spelling, as other recorders copy it.
pub(super) fn message_of(node: &Node<'_>, out: &mut Reading<'_>) -> Option<Message> {
    let raw: &RawValue = serde_json::from_str(node.written()).ok()?;
    message(&Object::of(raw)?, raw, out)
}

fn message(fields: &Object<'_>, raw: &RawValue, out: &mut Reading<'_>) -> Option<Message> {
    let named = fields.word(&["role"]);
    let role = match named.as_deref() {
        Some("user" | "custom" | "bashExecution" | "branchSummary" | "compactionSummary") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("toolResult") => Role::Tool,
        Some("system") => Role::System,
        _ => {
            let what = format!("`{}` is no role", named.unwrap_or_default());
            out.error_at(raw.get(), what, "roles are user, assistant and toolResult; the entry is left out");
            return None;
        }
    };
    let mut message = Message::new(role);
    if role == Role::User && named.as_deref() != Some("user") {
        message.origin = Origin::Host;
    }
    let blocks = fields.get(&["content"]).and_then(rows::elements);
    match blocks.filter(|_| role == Role::Assistant) {
        Some(blocks) => push_blocks(&blocks, &mut message, out),
        None => message.content = out.content(fields.get(&["content", "output", "summary"]), "content"),
    }
    match role {
        Role::Tool => {
            message.tool_call_id = fields.word(&["toolCallId"]).map(Into::into);
            message.name = fields.word(&["toolName"]).map(Into::into);
            message.is_error = out.flag(fields.get(&["isError"]), "isError");
            message.extra = fields.get(&["details"]).and_then(details);
        }
        Role::Assistant => {
            message.model = fields.word(&["model"]).map(Into::into);
            message.finish_reason = fields.word(&["stopReason"]).map(Into::into);
            let counted = Object::part(fields.get(&["usage"]), "usage", out);
            message.usage = usage(&counted, out);
            message.cost = out.dollars(counted.within(&["cost"]).get(&["total"]), "cost.total");
        }
        Role::User | Role::System => {}
    }
    Some(message)
}

/// What a tool returned beside its text, as the own format keeps it: some rules compare it.
fn details(raw: &RawValue) -> Option<Json> {
    let told = raw.get().trim_start().starts_with('{');
    told.then(|| RawValue::from_string(format!("{{\"native\":{{\"details\":{}}}}}", raw.get())).ok())?
}

fn push_blocks(blocks: &[&RawValue], message: &mut Message, out: &mut Reading<'_>) {
    let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
    for raw in blocks {
        let Some(block) = Object::of(raw) else {
            out.wrong(raw, "content block", "an object");
            continue;
        };
        match block.word(&["type"]).as_deref() {
            Some("thinking") => thoughts.extend(block.word(&["thinking", "text"])),
            Some("toolCall") => match block.word(&["name"]) {
                Some(name) => {
                    let arguments = openai::arguments(block.get(&["arguments", "input"]));
                    message.tool_calls.push(ToolCall::new(block.word(&["id"]).as_deref(), &name, arguments));
                }
                None => out.error_at(raw.get(), "a tool call without a name", "the call is left out"),
            },
            _ => texts.extend(json::content(raw).map(|text| text.as_str().into_owned())),
        }
    }
    let joined = |texts: Vec<String>| (!texts.is_empty()).then(|| Text::plain(texts.join("\n")));
    (message.content, message.reasoning) = (joined(texts), joined(thoughts));
}

/// Tokens of one call: cached ones stand beside the input, unless the total leaves no room for them.
fn usage(counted: &Object<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let mut count = |name: &str| out.count(counted.get(&[name]), &format!("usage.{name}"));
    let (input, output, total) = (count("input"), count("output"), count("totalTokens"));
    let (read, write) = (count("cacheRead"), count("cacheWrite"));
    let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
    let plain = input.unwrap_or(0).saturating_add(output.unwrap_or(0));
    let inside = cached > 0 && total == Some(plain);
    let usage = Usage {
        input: input.map(|input| if inside { input } else { input.saturating_add(cached) }),
        cache_read: read,
        cache_write: write,
        output,
        reasoning: None,
    };
    // Zeros are a call that failed before it was counted.
    (usage.total().is_some_and(|total| total.0 > 0)).then_some(usage)
}
