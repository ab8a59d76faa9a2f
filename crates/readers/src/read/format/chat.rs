//! Chat messages in any wrapping: an array of messages, objects with `messages` (or another name), or one message per
//! line. Messages in the blocks, parts or items of other APIs are read in those dialects.

use std::sync::LazyLock;

use super::{Format, RecordLayout, codex, first_is, reason_if};
use crate::open::probe::{Probe, Shape, Sketch};
use crate::read::by_name::ByName;
use crate::read::{dialect, openai};
use crate::record::node::{Node, sound};
use crate::record::outcomes::{NAMED_FIELD, native_grade};
use crate::record::reading::{Reading, Record};
use crate::record::{tokens, usage};
use crate::text::word_list;
use crate::transcript::{
    Draft, EndCause, Event, Grade, Header, Message, Outcome, OutcomeSource, Role, Totals, Usd, messages,
};
use crate::value::json::plausible;
use crate::value::marks::SearchTexts;

/// OpenAI chat messages.
pub(super) static FORMAT: Format = Format {
    id: "chat",
    summary: "OpenAI chat messages: an array, objects with `messages`, or one message a line",
    recognise,
    joins_lines: |first| first.has(&["role"]) || first.has(&["from"]),
    layout,
    takes_any_messages: true,
    ..Format::reading(read)
};

/// Fields that may hold the outcome, best first.
const OUTCOME_KEYS: &[&str] = word_list!(
    "reward score resolved success is_correct passed label correct solved is_success succeeded final_reward outcome",
);

/// Names for the list of messages, best first.
const MESSAGES: &[&str] = word_list!(
    "messages conversation conversations trajectory traj history chat_history message_history chat transcript dialogue",
    "turns prompt",
);

/// Members with what a message says or asks for. Messages without any are somebody's own.
const SAYING: &[&str] =
    word_list!("content value parts tool_calls function_call reasoning_content reasoning refusal output result");

/// Members that say which run a message on a line of its own belongs to, best first.
const RUN_OF_LINE: &[&str] = word_list!(
    "run_id session_id conversation_id trajectory_id episode_id thread_id session conversation sessionId",
    "conversationId",
);

/// Objects that may contain the outcome instead.
const AROUND: &[&str] = &["result", "outcome", "evaluation", "eval", "metadata", "meta", "info", "verdict"];

/// Types of items that are a call, a result or a thought.
const ACTS: [&str; 5] = ["function_call", "function_call_output", "reasoning", "custom_tool_call", "local_shell_call"];

static MARKS_OF_ACTS: LazyLock<SearchTexts> = LazyLock::new(|| SearchTexts::from_texts(&ACTS));

/// The marks that Codex, or what exports its sessions, leaves in a chat.
static MARKS_OF_CODEX: LazyLock<SearchTexts> = LazyLock::new(|| {
    SearchTexts::from_texts(&["\"_metadata\"", "<environment_context>", "<permissions instructions>", codex::ABORTED])
});

/// Text found only in messages of other APIs, which use blocks, parts and items.
static OTHER_DIALECTS: LazyLock<SearchTexts> = LazyLock::new(|| {
    SearchTexts::from_texts(&[
        "\"tool_use\"",
        "\"tool_result\"",
        "\"tool-call\"",
        "\"tool-result\"",
        "\"parts\"",
        "\"function_call_output\"",
        "\"function_call\"",
        "\"reasoning\"",
        "\"toolUse\"",
        "\"toolResult\"",
        "\"reasoningContent\"",
        "\"message\"",
    ])
});

fn recognise(probe: &Probe) -> Option<String> {
    let first = probe.first()?;
    for value in &probe.values {
        if let Some(name) = messages_in(value) {
            return Some(format!("`{name}` with roles"));
        }
    }
    if are_messages(first) {
        return Some("an array of messages with roles".to_owned());
    }
    if let Some(inner) = first.elements().first()
        && let Some(name) = messages_in(inner)
    {
        return Some(format!("an array of objects: `{name}` with roles"));
    }
    let lines = probe.shape == Shape::Lines && probe.values.iter().all(is_message) && probe.any(says);
    reason_if(lines, "lines that are messages with roles")
}

fn layout(probe: &Probe) -> RecordLayout {
    let has = |value: &Sketch| MESSAGES.iter().any(|key| value.has_array(key));
    match (probe.shape, probe.first()) {
        (Shape::Document, Some(first)) if first_is(first, has) => RecordLayout::Elements { at: None, envelope: &[] },
        (Shape::Lines, Some(first)) if has(first) || first.is_array() => RecordLayout::Lines,
        _ => RecordLayout::Whole,
    }
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let whole = match Node::parsed(record.text, record) {
        Ok(whole) => whole,
        Err(_) if looks_like_lines(record) => {
            let mut messages = Vec::new();
            for line in record.lines() {
                messages.extend(Node::value(line, record, out));
            }
            return push_runs(record, messages, out);
        }
        Err(diagnostic) => return out.error(diagnostic),
    };
    if whole.is_list() {
        let Some(messages) = whole.elements() else { return out.wrong(&whole, "messages", "an array") };
        return push_run(record, &Node::from_written("{}"), &messages, out);
    }
    if !whole.has(MESSAGES) {
        let what = "neither messages nor an object with `messages`";
        return out.error_at(record.text, what, "it is left out");
    }
    let mut messages = whole.list(MESSAGES, out);
    // Training pairs have the reply in a separate field.
    messages.extend(whole.some_list(["completion", "chosen"]));
    push_run(record, &whole, &messages, out);
}

fn is_message(value: &Sketch) -> bool {
    let role = value.text_of("role").or_else(|| value.text_of("from")).unwrap_or_default();
    openai::role(&role).is_some()
}

/// Whether a message has anything that it says or asks for.
fn says(value: &Sketch) -> bool {
    value.has_any(SAYING) || value.has_object("message")
}

fn are_messages(list: &Sketch) -> bool {
    first_is(list, is_message) && list.elements().iter().any(says)
}

/// The name of the list of messages in an object.
fn messages_in(value: &Sketch) -> Option<&'static str> {
    MESSAGES.iter().copied().find(|name| matches!(value.get(name), Some(list) if are_messages(list)))
}

/// Messages on lines of their own: one run, or several if the lines say which one each belongs to.
fn push_runs(record: &Record<'_>, messages: Vec<Node<'_>>, out: &mut Reading<'_>) {
    let by = RUN_OF_LINE.iter().copied().find(|name| messages.iter().all(|message| message.some_word(*name).is_some()));
    let mut runs: ByName<Vec<Node<'_>>> = ByName::default();
    for message in messages {
        let id = match by {
            Some(name) => message.some_word(name).unwrap_or_default(),
            None => String::new(),
        };
        runs.named(id).push(message);
    }
    let is_one = runs.all.len() < 2;
    for (id, messages) in runs.all {
        let fields = serde_json::json!({ "run_id": id }).to_string();
        let fields = if is_one { "{}" } else { &fields };
        push_run(record, &Node::from_written(fields), &messages, out);
    }
}

/// Whether the first line is a complete value.
fn looks_like_lines(record: &Record<'_>) -> bool {
    record.lines().take(2).any(|line| Node::parsed(line, record).is_ok())
}

/// The roles that no format has, if most messages have one; the conversation cannot be read then.
fn strange_roles(messages: &[Node<'_>]) -> Option<(usize, Vec<String>)> {
    const SHOWN: usize = 5;
    let (mut n, mut shown) = (0, Vec::new());
    for message in messages {
        let Some(role) = message.some_string(["role", "from"]) else { continue };
        if dialect::named_role(&role).is_some() {
            continue;
        }
        n += 1;
        let role = role.into_owned();
        if !shown.contains(&role) && shown.len() < SHOWN {
            shown.push(role);
        }
    }
    if n * 2 > messages.len() { Some((n, shown)) } else { None }
}

fn push_run(record: &Record<'_>, fields: &Node<'_>, messages: &[Node<'_>], out: &mut Reading<'_>) {
    let found = out.findings.made();
    let mut events = Vec::new();
    let of_codex = is_of_codex(record.text);
    // Among the items of an API's responses, what nothing separates is one response.
    let may_act = MARKS_OF_ACTS.are_in(record.text.as_bytes());
    let are_items = may_act && messages.iter().any(|message| is_act(&message.anew()));
    for node in messages {
        let node = &node.anew();
        let (mut said, goes_on) = said(node, out);
        if let Some(reply) =
            said.iter_mut().find(|message| message.role == Role::Assistant && message.usage().is_none())
        {
            reply.set_usage(dialect::usage_under(&node.within("metadata"), "usage", out));
        }
        for mut message in said {
            if of_codex {
                if message.ts.is_none() {
                    message.ts = node.within("_metadata").some_instant("timestamp");
                }
                codex::attribute(&mut message);
            }
            // In these chats the text and the calls of one reply are messages of their own.
            let goes_on = goes_on || of_codex || are_items;
            let before = events.last_mut().filter(|_| goes_on && message.role == Role::Assistant);
            if let Some(Event::Message(reply)) = before
                && reply.role == Role::Assistant
            {
                reply.ts = message.ts.or(reply.ts);
                dialect::join(reply, message);
                continue;
            }
            events.push(Event::Message(message));
        }
    }
    // Only where something was left out, since it takes every message apart again.
    if out.findings.made() > found
        && let Some((n, roles)) = strange_roles(messages)
    {
        let roles: Vec<String> = roles.iter().map(|role| format!("`{role}`")).collect();
        let what = format!("{n} of {} messages have roles that no format has: {}", messages.len(), roles.join(", "));
        let help = "the conversation is left out: name the roles system, user, assistant and tool";
        return out.error_at(record.text, what, help);
    }
    let stem = &record.file.stem;
    let run_id = match (fields.some_word(["run_id", "id", "conversation_id", "session_id"]), record.key) {
        (Some(id), "") => id,
        (Some(id), _) => format!("{stem}/{id}"),
        (None, "") => stem.clone(),
        (None, key) => format!("{stem}/{key}"),
    };
    let header = Header {
        totals: totals(fields, &events, out),
        run_id,
        task_id: fields.some_word(["task_id", "instance_id", "task"]),
        trial: fields.some_word("trial"),
        suite: fields.some_word(["suite", "dataset", "domain"]),
        model: fields.some_word("model"),
        agent: fields.some_word("agent"),
        ..Header::default()
    };
    let mut grade = grade(fields, record.options.outcome_key.as_deref(), out);
    if events.last().is_some_and(Event::is_interruption) {
        grade.end = EndCause::Killed;
    }
    out.run(Draft { header, events, grade, warnings: Vec::new() });
}

/// Whether it is a call, a result or a thought that is an item of its own, beside messages.
fn is_act(node: &Node<'_>) -> bool {
    !node.mentions("role") && ACTS.iter().any(|kind| node.is("type", kind))
}

/// Whether the chat was exported from Codex, by the marks at its beginning, in the first message.
fn is_of_codex(text: &str) -> bool {
    MARKS_OF_CODEX.are_in(&text.as_bytes()[..text.len().min(64 << 10)])
}

/// The totals for the run from the object around the messages, if the messages do not have them.
fn totals(fields: &Node<'_>, events: &[Event], out: &mut Reading<'_>) -> Option<Totals> {
    let own = fields.get(["usage", "token_usage", "total_usage", "tokens"]).filter(Node::is_object);
    let own = own.filter(|_| !messages(events).any(Message::has_usage));
    let usage = usage::usage(own.as_ref(), out).filter(tokens::is_spent);
    let cost = fields.some_number(["cost", "total_cost", "cost_usd"]);
    let cost = cost.filter(|_| messages(events).all(|message| message.cost().is_none()));
    let cost = cost.and_then(plausible).filter(|cost| *cost > 0.0).map(Usd);
    if usage.is_none() && cost.is_none() {
        return None;
    }
    Some(Totals { usage: usage.unwrap_or_default(), cost })
}

/// The messages in a recorded message. There may be several: in other APIs, tool results are inside the user's
/// message. The flag is true for an item of a reply rather than a message of its own.
fn said(node: &Node<'_>, out: &mut Reading<'_>) -> (Vec<Message>, bool) {
    let written = node.written();
    let is_other = OTHER_DIALECTS.are_in(written.as_bytes()) && sound(written).is_ok();
    let of_another_api = if is_other { in_another_api(node, out) } else { None };
    let Some((mut said, is_item)) = of_another_api else {
        return (openai::message(node, out).into_iter().collect(), false);
    };
    if let Some(message) = said.last_mut().filter(|_| !is_item) {
        message.ts = node.instant(["timestamp", "created_at", "created", "ts"], out);
        message.set_cost(node.dollars("cost", out));
        message.set_model(node.string("model", out).map(Into::into));
        message.set_usage(node.usage("usage", out).or(message.usage()));
    }
    (said, is_item)
}

/// The messages in a message of another API: one in a wrapper, one whose content has blocks or parts other than text,
/// or an item without a role. The flag is true for such an item.
fn in_another_api(node: &Node<'_>, out: &mut Reading<'_>) -> Option<(Vec<Message>, bool)> {
    // The inner message, if the role is outside: `{"role": …, "message": {"content": …}}`.
    let inner = node.get("message").filter(|inner| inner.is_object() && !node.mentions("content"));
    if let Some(inner) = inner.filter(|_| node.mentions("role")) {
        let role = inner.some_string("role").or_else(|| node.some_string("role")).unwrap_or_default();
        let said = match dialect::named_role(&role) {
            Some(role) => dialect::messages_of(&inner, role, out),
            None => dialect::messages(&inner, Role::User, out),
        };
        return Some((said, false));
    }
    let acts = |block: &Node<'_>| {
        let kind = block.some_string("type").unwrap_or_default();
        let is_of_amazon = block.has(["toolUse", "toolResult", "reasoningContent"]);
        is_of_amazon || kind.starts_with("tool") || kind.contains("reasoning")
    };
    let is_item = !node.mentions("role");
    let is_other = node.has_list("parts")
        || node.some_list("content").iter().any(acts)
        || (is_item && !node.some_string("type").unwrap_or_default().is_empty());
    if is_other { Some((dialect::messages(node, Role::User, out), is_item)) } else { None }
}

/// The outcome, from the field that the user names or else the first common field found, in the object or in a nested
/// object for its evaluation.
fn grade(fields: &Node<'_>, wanted: Option<&str>, out: &mut Reading<'_>) -> Grade {
    if let Some(grade) = grade_among(fields, wanted, out) {
        return grade;
    }
    for name in AROUND {
        let Some(inner) = fields.get(*name) else { continue };
        if let Some(grade) = grade_among(&inner, wanted, out) {
            return Grade { source: OutcomeSource::Native(name), ..grade };
        }
    }
    Grade::default()
}

/// Names that may hold something else: a class that the text belongs to, or what became of a conversation.
const LOOSE: &[&str] = &["label", "outcome"];

fn grade_among(fields: &Node<'_>, wanted: Option<&str>, out: &mut Reading<'_>) -> Option<Grade> {
    let Some(wanted) = wanted else {
        return OUTCOME_KEYS.iter().find_map(|key| usual_grade(fields, key, out));
    };
    let source = OUTCOME_KEYS.iter().find(|key| **key == wanted).map(|key| OutcomeSource::Native(key));
    let (graded, score) = fields.outcome(wanted, out)?;
    let outcome = Outcome::from_grade(Some(graded));
    Some(Grade { outcome, score, source: source.unwrap_or(NAMED_FIELD), ..Grade::default() })
}

/// The outcome under one of the usual names.
fn usual_grade(fields: &Node<'_>, key: &'static str, out: &mut Reading<'_>) -> Option<Grade> {
    let found = fields.get(key)?;
    // An object of that name has the outcome inside.
    let is_loose = LOOSE.contains(&key) || found.is_object_with_members();
    let (graded, score) = if is_loose { found.as_outcome() } else { fields.outcome(key, out) }?;
    Some(native_grade(key, Some(graded), score))
}
