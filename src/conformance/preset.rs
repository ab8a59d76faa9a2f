//! Golden tables of the frameworks' own decisions, replayed through the presets.
//!
//! A case is a line: settings, events, and what the framework's own code did. The same machine that
//! replays recordings replays the case; each key the case expects is held against what it did.

use serde_json::{Map, Value};

use super::{Nested, Oracle};
use crate::preset::frame::{Act, Facts};
use crate::preset::{self, Preset, SettingsError};
use crate::system::CaseError;
use crate::transcript::{Draft, Event, Header, JudgeReply, Message, Moment, Role, Run, Text, ToolCall, Usage, Usd};

/// The oracle of the preset named like the folder.
pub(super) fn oracle(folder: &str) -> Option<Box<dyn Oracle>> {
    preset::find(folder).map(|preset| Box::new(PresetOracle(preset)) as Box<dyn Oracle>)
}

struct PresetOracle(&'static Preset);

impl Oracle for PresetOracle {
    fn answer(&self, table: &str, row: &Value) -> Result<Value, CaseError> {
        let rule = row.get("rule").and_then(Value::as_str).unwrap_or(table);
        if !self.0.tables.contains(&rule) {
            return Err(CaseError::UnknownTable);
        }
        let input = row.get("input").and_then(Value::as_object);
        let input = input.ok_or_else(|| CaseError::BadCase("the line has no `input`".to_owned()))?;
        replay(self.0, rule, input)
    }

    fn nested(&self) -> Nested {
        Nested::Subset
    }
}

/// What a preset did in a case, in the words of the tables.
fn replay(preset: &Preset, rule: &str, input: &Map<String, Value>) -> Result<Value, CaseError> {
    let settings = (preset.case)(rule, input).map_err(CaseError::NotApplicable)?;
    let mut got = Map::new();
    match preset.strategy(preset.id, &settings) {
        Ok(strategy) => {
            let events = input.get("events").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let draft = Draft {
                header: Header { run_id: "case".to_owned(), ..Header::default() },
                events: events.iter().filter_map(event).collect(),
                ..Draft::default()
            };
            let (acts, facts) = strategy.recipe().replay(&Run::new(draft));
            report(&acts, strategy.recipe().halted_at(&acts), facts, &mut got);
        }
        Err(SettingsError::Refused { code, detail }) => {
            let refusal = serde_json::json!({ "at": null, "kind": "error", "code": code, "detail": detail });
            got.insert("actions".to_owned(), Value::Array(vec![refusal]));
            got.insert("halted_at".to_owned(), Value::Null);
            for nothing_runs in ["model_calls", "tools_executed", "nodes_run"] {
                got.insert(nothing_runs.to_owned(), Value::from(0));
            }
        }
        Err(error) => return Err(CaseError::BadCase(error.to_string())),
    }
    Ok(Value::Object(got))
}

fn report(acts: &[Act], halted_at: Option<usize>, facts: Facts, got: &mut Map<String, Value>) {
    got.insert("actions".to_owned(), Value::Array(acts.iter().map(action).collect()));
    got.insert("halted_at".to_owned(), halted_at.map_or(Value::Null, Value::from));
    for (name, value) in facts {
        got.insert(name.to_owned(), value);
    }
}

fn action(act: &Act) -> Value {
    let decision = &act.decision;
    let kind = match decision.action.name() {
        "stop" => "halt",
        "fail" => "error",
        other => other,
    };
    let mut map = Map::new();
    map.insert("at".to_owned(), decision.event.map_or(Value::Null, Value::from));
    map.insert("kind".to_owned(), Value::from(kind));
    let texts = [
        ("code", decision.code.as_deref()),
        ("detail", decision.detail.as_deref()),
        ("tool_call_id", decision.call_id.as_deref()),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            map.insert(name.to_owned(), Value::from(text));
        }
    }
    let before_request = matches!(decision.point.moment, Moment::BeforeRequest | Moment::EndOfRound);
    map.insert("before_request".to_owned(), Value::from(before_request));
    map.insert("before_tools".to_owned(), Value::from(decision.point.moment == Moment::AfterResponse));
    for (name, value) in &act.fields {
        map.insert((*name).to_owned(), value.clone());
    }
    Value::Object(map)
}

/// One line of the own trace format as an event.
fn event(line: &Value) -> Option<Event> {
    let line = line.as_object()?;
    match line.get("type").and_then(Value::as_str) {
        Some("message") => message(line).map(|message| Event::Message(Box::new(message))),
        Some("judge") => Some(Event::Judge(JudgeReply {
            reply: text(line, "reply").map(Text::from),
            error: text(line, "error").map(Into::into),
            usage: line.get("usage").and_then(usage),
        })),
        _ => None,
    }
}

/// The fields of a message line that have a place of their own.
const KNOWN: [&str; 14] = [
    "type",
    "role",
    "content",
    "reasoning",
    "tool_calls",
    "tool_call_id",
    "name",
    "is_error",
    "usage",
    "cost_usd",
    "ts",
    "model",
    "finish_reason",
    "extra",
];

fn message(line: &Map<String, Value>) -> Option<Message> {
    let role = match text(line, "role")? {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => return None,
    };
    let mut message = Message::new(role);
    message.content = text(line, "content").map(Text::from);
    message.reasoning = text(line, "reasoning").map(Text::from);
    message.tool_calls =
        line.get("tool_calls").and_then(Value::as_array).into_iter().flatten().filter_map(call).collect();
    message.tool_call_id = text(line, "tool_call_id").map(Into::into);
    message.name = text(line, "name").map(Into::into);
    message.is_error = line.get("is_error").and_then(Value::as_bool);
    message.usage = line.get("usage").and_then(usage);
    message.cost = line.get("cost_usd").and_then(Value::as_f64).map(Usd);
    message.ts = text(line, "ts")
        .and_then(|ts| ts.parse::<jiff::Timestamp>().ok())
        .map(|ts| crate::transcript::Instant(ts.as_millisecond()));
    message.model = text(line, "model").map(Into::into);
    message.finish_reason = text(line, "finish_reason").map(Into::into);
    let extra: Map<String, Value> =
        line.iter().filter(|(key, _)| !KNOWN.contains(&key.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect();
    if !extra.is_empty() {
        message.extra = serde_json::value::to_raw_value(&extra).ok();
    }
    Some(message)
}

fn text<'v>(line: &'v Map<String, Value>, key: &str) -> Option<&'v str> {
    line.get(key).and_then(Value::as_str)
}

/// A call; arguments given as JSON are kept as JSON text, key order and all.
fn call(value: &Value) -> Option<ToolCall> {
    let line = value.as_object()?;
    let arguments = match line.get("arguments") {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(json) => json.to_string(),
    };
    Some(ToolCall::new(text(line, "id"), text(line, "name")?, arguments))
}

fn usage(value: &Value) -> Option<Usage> {
    let line = value.as_object()?;
    let tokens = |key| line.get(key).and_then(Value::as_u64);
    Some(Usage {
        input: tokens("input"),
        cache_read: tokens("cache_read"),
        cache_write: tokens("cache_write"),
        output: tokens("output"),
        reasoning: tokens("reasoning"),
    })
}
