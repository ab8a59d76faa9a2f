//! agentao's golden tables of stuck checks and bailout strategies.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

mod names;
mod replay_log;
mod scripted;

use super::CaseError;
use super::system::{AnswerInput, GoldenTable};
use crate::bailout::{
    self, AfterCap, AtCap, Bailout, HistoryEntry, Reply, Speaker, Window, all_errors, no_text_progress, one_tool,
};
use crate::python::{self, Dict};

/// The tables.
pub(super) const TABLES: &[GoldenTable<AnswerInput>] = &[
    ("chat_loop", |case| case.has(&["max_iterations", "model"]), scripted::chat),
    (
        "bailout_strategies",
        |case| case.has(&["strategy", "hits"]),
        |input| strategies(input).map_err(CaseError::BadCase),
    ),
    ("stuck_predicates", |case| case.has(&["messages"]), |input| predicates(input).map_err(CaseError::BadCase)),
    ("replay_expected", |case| case.has(&["file"]), |input| replay_log::summary(input).map_err(CaseError::BadCase)),
];

/// The three stuck checks on one history.
fn predicates(input: &Value) -> Result<Value, String> {
    let messages = input["messages"].as_array().ok_or("no `messages`")?;
    let params = &input["params"];
    let window = |default| Window(params["window"].as_i64().unwrap_or(default));
    let threshold = params["threshold"].as_f64().unwrap_or(0.8);
    let history: Vec<Read<'_>> = messages.iter().map(read).collect();
    let mut tool = holds(&history, window(10), |entries| one_tool(entries, Window(0), threshold));
    // Names are put into a set, so Python raises on lists and dictionaries.
    if tool.is_boolean() && slice(messages, window(10)).iter().any(has_unhashable_name) {
        tool = json!({ "raises": "TypeError" });
    }
    let errors = holds(&history, window(10), |entries| all_errors(entries, Window(0)));
    // The third check returns at the first text it finds, so it may never reach an invalid entry.
    let (raises_at, text_at) = bounds(&history, window(30));
    let no_text = match (raises_at, text_at) {
        (Some(raises), Some(text)) if text < raises => json!(false),
        (Some(_), _) => raises(),
        (None, _) => holds(&history, window(30), |entries| no_text_progress(entries, Window(0))),
    };
    Ok(json!({ "is_stuck_on_one_tool": tool, "is_all_errors": errors, "no_text_progress": no_text }))
}

/// A message that was read, or `None` for one that is not a dictionary, on which Python raises.
type Read<'a> = Option<HistoryEntry<'a>>;

fn raises() -> Value {
    json!({ "raises": "AttributeError" })
}

fn has_unhashable_name(message: &Value) -> bool {
    let is_tool = message["role"].as_str() == Some("tool");
    is_tool && (message["name"].is_array() || python::dict(&message["name"]).is_some())
}

/// The entries of a window, by Python's slicing rules.
fn slice<T>(history: &[T], window: Window) -> &[T] {
    let wanted = usize::try_from(window.0.unsigned_abs()).unwrap_or(usize::MAX);
    let from = if window.0 > 0 { history.len().saturating_sub(wanted) } else { wanted.min(history.len()) };
    history.get(from..).unwrap_or_default()
}

fn holds(history: &[Read<'_>], window: Window, check: impl Fn(&Vec<HistoryEntry<'_>>) -> bool) -> Value {
    let entries: Option<Vec<HistoryEntry<'_>>> = slice(history, window).iter().cloned().collect();
    if let Some(entries) = entries { json!(check(&entries)) } else { raises() }
}

/// The positions in the window of the first unreadable entry and of the first assistant text.
fn bounds(history: &[Read<'_>], window: Window) -> (Option<usize>, Option<usize>) {
    let window = slice(history, window);
    let is_text =
        |entry: &Read<'_>| matches!(entry, Some(HistoryEntry { speaker: Speaker::Assistant, has_content: true, .. }));
    (window.iter().position(Option::is_none), window.iter().position(is_text))
}

fn read(message: &Value) -> Read<'_> {
    let fields = message.as_object()?;
    let speaker = match fields.text("role") {
        Some("assistant") => Speaker::Assistant,
        Some("tool") => Speaker::Tool,
        _ => Speaker::Other,
    };
    let content = fields.get("content");
    Some(HistoryEntry {
        speaker,
        name: fields.get("name").filter(|name| !name.is_null()).map(|name| match name {
            Value::String(name) => Cow::Borrowed(name.as_str()),
            other => Cow::Owned(format!("\u{0}{}", python::value_key(other))),
        }),
        has_content: fields.is_true("content"),
        mentions_error: content.is_some_and(mentions_error),
    })
}

/// Whether the printed form of a content contains `Error`. Printing adds no letters, so it does exactly if a string or
/// a key inside does.
fn mentions_error(content: &Value) -> bool {
    match content {
        Value::String(text) => text.contains("Error"),
        Value::Array(items) => items.iter().any(mentions_error),
        Value::Object(entries) => entries.iter().any(|(key, value)| key.contains("Error") || mentions_error(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A sequence of cap hits answered by one strategy.
fn strategies(input: &Value) -> Result<Value, String> {
    let hits = input["hits"].as_array().ok_or("no `hits`")?;
    let mut handler = handler(input, hits)?;
    let mut actions = Vec::new();
    for (index, hit) in hits.iter().enumerate() {
        let messages = hit["messages"].as_array().ok_or("a hit has no `messages`")?;
        let history: Vec<HistoryEntry<'_>> =
            messages.iter().map(read).collect::<Option<_>>().ok_or("a message is no dictionary")?;
        let reply = handler.on_cap(&AtCap {
            history: &history,
            hit: u32::try_from(index + 1).unwrap_or(u32::MAX),
            cap: hit["count"].as_i64().unwrap_or_default(),
            session: hit["session"].as_str().unwrap_or_default(),
            tokens: hit["tokens_used"].as_u64().unwrap_or_default(),
        });
        actions.push(action(input, &reply));
    }
    Ok(json!({ "actions": actions }))
}

fn handler(input: &Value, hits: &[Value]) -> Result<Box<dyn Bailout>, String> {
    let strategy = input["strategy"].as_str().ok_or("no `strategy`")?;
    let mut params = input["config"].as_object().cloned().unwrap_or_else(Map::new);
    if strategy == "ask_user" {
        let answers: Vec<&Value> = hits.iter().filter_map(|hit| hit.get("choice")).collect();
        params.insert("answers".to_owned(), json!(answers));
    }
    let name = if strategy == "smart_bailout" { "smart" } else { strategy };
    bailout::build(name, &params).map(|recipe| recipe()).map_err(|error| error.to_string())
}

fn action(input: &Value, reply: &Reply) -> Value {
    let has_message = matches!(reply.verdict, AfterCap::NewInstruction(_));
    let mut action = json!({ "action": reply.verdict.name(), "has_message": has_message });
    let names_why = input["strategy"].as_str() == Some("smart_bailout");
    if let (true, Some(why), Some(fields)) = (names_why, reply.why, action.as_object_mut()) {
        fields.insert("why".to_owned(), json!(why));
    }
    action
}
