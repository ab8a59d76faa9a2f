//! Termination conditions. Each keeps state and is called with the new messages.

use serde_json::{Map, Value};

use super::super::frame::{SettingsError, seconds_between, wrong_kind};
use super::message::TeamMessage;
use crate::decision::{Evidence, Need};
use crate::python::Dict;
use crate::transcript::Instant;

/// The message of a condition that fires.
#[derive(Clone, Debug)]
pub struct TerminationMessage {
    pub(super) source: String,
    pub(super) content: String,
    /// The observed value and the limit, if the condition has a limit.
    pub(super) evidence: Evidence,
}

impl TerminationMessage {
    fn new(source: &str, content: String) -> Self {
        Self { source: source.to_owned(), content, evidence: Evidence::NONE }
    }

    fn evidence(self, observed: f64, limit: f64) -> Self {
        Self { evidence: Evidence::new(observed, limit), ..self }
    }
}

/// The result of a call that stops or raises.
#[derive(Clone, Debug)]
pub enum TerminationResult {
    Fired(TerminationMessage),
    Raised { class: &'static str, words: &'static str },
}

/// A single condition or a combination of several.
#[derive(Clone, Debug)]
pub enum TerminationCondition {
    Single(Single),
    Or(Vec<TerminationCondition>),
    /// Also holds the messages of the parts that have fired, in that order.
    And(Vec<TerminationCondition>, Vec<TerminationMessage>),
}

#[derive(Clone, Debug)]
pub struct Single {
    kind: ConditionKind,
    fired: bool,
}

#[derive(Clone, Debug)]
enum ConditionKind {
    MaxMessage { max: i64, events_too: bool, count: i64 },
    TextMention { text: String, sources: Option<Vec<String>> },
    TokenUsage { total: Option<i64>, prompt: Option<i64>, completion: Option<i64>, used: (i64, i64) },
    Timeout { seconds: f64, written: String, since: Option<Instant>, now: Option<Instant> },
    Source { sources: Vec<String> },
    TextMessage { source: Option<String> },
    FunctionCall { name: String },
    Handoff { target: String },
    StopMessage,
    External { set: bool },
    Functional { function: String },
}

impl TerminationCondition {
    /// Reads a configured condition.
    pub fn read(value: &Value) -> Result<Self, SettingsError> {
        let table = value.as_object().ok_or_else(|| wrong_kind("condition", "a table", value))?;
        let parts = |value: &Value| -> Result<Vec<Self>, SettingsError> {
            let list = value.as_array().ok_or_else(|| wrong_kind("condition", "a list of conditions", value))?;
            list.iter().map(Self::read).collect()
        };
        if let Some(list) = table.get("or") {
            return Ok(Self::Or(parts(list)?));
        }
        if let Some(list) = table.get("and") {
            return Ok(Self::And(parts(list)?, Vec::new()));
        }
        Ok(Self::Single(Single { kind: ConditionKind::read(table)?, fired: false }))
    }

    /// What its parts need from a recording.
    pub(super) fn needs(&self) -> Vec<Need> {
        match self {
            Self::Or(parts) | Self::And(parts, _) => parts.iter().flat_map(Self::needs).collect(),
            Self::Single(single) => match single.kind {
                ConditionKind::TokenUsage { .. } => vec![Need::Usage],
                ConditionKind::Timeout { .. } => vec![Need::Times],
                ConditionKind::External { .. } => vec![Need::Unrecorded("an outside request")],
                ConditionKind::Functional { .. } => vec![Need::Unrecorded("a function of the user")],
                _ => Vec::new(),
            },
        }
    }

    /// Whether it has fired, or its limit was reached from the start.
    pub(super) fn is_terminated(&self) -> bool {
        match self {
            Self::Or(parts) => parts.iter().any(Self::is_terminated),
            Self::And(parts, _) => parts.iter().all(Self::is_terminated),
            Self::Single(single) => single.is_terminated(),
        }
    }

    /// Calls it with new messages (a delta).
    pub fn call(&mut self, delta: &[TeamMessage]) -> Option<TerminationResult> {
        if self.is_terminated() {
            let (class, words) = match self {
                Self::Or(_) => ("RuntimeError", "Termination condition has already been reached"),
                Self::And(..) => ("TerminatedException", "Termination condition has already been reached."),
                Self::Single(_) => ("TerminatedException", "Termination condition has already been reached"),
            };
            return Some(TerminationResult::Raised { class, words });
        }
        self.asked(delta).map(TerminationResult::Fired)
    }

    /// Evaluates it; for `and`, only the parts that have not fired yet.
    fn asked(&mut self, delta: &[TeamMessage]) -> Option<TerminationMessage> {
        match self {
            Self::Single(single) => single.asked(delta),
            Self::Or(parts) => {
                let said: Vec<TerminationMessage> = parts.iter_mut().filter_map(|part| part.asked(delta)).collect();
                if said.is_empty() { None } else { Some(join(&said)) }
            }
            Self::And(parts, said) => {
                let mut all = true;
                for part in parts.iter_mut().filter(|part| !part.is_terminated()) {
                    match part.asked(delta) {
                        Some(words) => said.push(words),
                        None => all = false,
                    }
                }
                if all { Some(join(said)) } else { None }
            }
        }
    }

    /// Resets counts and latched results.
    pub fn reset(&mut self) {
        match self {
            Self::Or(parts) => parts.iter_mut().for_each(Self::reset),
            Self::And(parts, said) => {
                parts.iter_mut().for_each(Self::reset);
                said.clear();
            }
            Self::Single(single) => single.reset(),
        }
    }

    fn each(&mut self, change: &mut impl FnMut(&mut ConditionKind)) {
        match self {
            Self::Or(parts) | Self::And(parts, _) => parts.iter_mut().for_each(|part| part.each(change)),
            Self::Single(single) => change(&mut single.kind),
        }
    }

    /// Sets the time at which the conditions are created.
    pub fn start(&mut self, at: Option<Instant>) {
        self.each(&mut |kind| {
            if let ConditionKind::Timeout { since, now, .. } = kind {
                (*since, *now) = (at, at);
            }
        });
    }

    /// Sets the current time.
    pub fn tick(&mut self, at: Option<Instant>) {
        self.each(&mut |kind| {
            if let ConditionKind::Timeout { now, .. } = kind {
                *now = at;
            }
        });
    }

    /// Requests an end from outside.
    pub fn set_external(&mut self) {
        self.each(&mut |kind| {
            if let ConditionKind::External { set } = kind {
                *set = true;
            }
        });
    }
}

/// Joins several stops into one: names and messages are joined, the figures are the first one's.
fn join(said: &[TerminationMessage]) -> TerminationMessage {
    let joined = |part: fn(&TerminationMessage) -> &str| said.iter().map(part).collect::<Vec<_>>().join(", ");
    let limited = said.iter().find(|words| words.evidence != Evidence::NONE);
    TerminationMessage {
        source: joined(|words| &words.source),
        content: joined(|words| &words.content),
        evidence: limited.map(|words| words.evidence).unwrap_or_default(),
    }
}

impl Single {
    fn is_terminated(&self) -> bool {
        match &self.kind {
            ConditionKind::MaxMessage { max, count, .. } => count >= max,
            ConditionKind::TokenUsage { .. } => self.kind.tokens_over().is_some(),
            _ => self.fired,
        }
    }

    fn asked(&mut self, delta: &[TeamMessage]) -> Option<TerminationMessage> {
        let words = self.kind.asked(delta);
        self.fired |= words.is_some();
        words
    }

    fn reset(&mut self) {
        self.fired = false;
        match &mut self.kind {
            ConditionKind::MaxMessage { count, .. } => *count = 0,
            ConditionKind::TokenUsage { used, .. } => *used = (0, 0),
            ConditionKind::Timeout { since, now, .. } => *since = *now,
            ConditionKind::External { set } => *set = false,
            _ => {}
        }
    }
}

impl ConditionKind {
    fn read(table: &Map<String, Value>) -> Result<Self, SettingsError> {
        let given = |name: &str| table.get(name).filter(|value| !value.is_null());
        let int = |name: &str| {
            given(name).map(|v| v.as_i64().ok_or_else(|| wrong_kind(name, "a whole number", v))).transpose()
        };
        let text = |name: &str| {
            let value = table.get(name).unwrap_or(&Value::Null);
            value.as_str().map(str::to_owned).ok_or_else(|| wrong_kind(name, "a text", value))
        };
        let texts = |name: &str| -> Option<Vec<String>> {
            let list = given(name)?.as_array()?;
            Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        };
        Ok(match table.text("type").unwrap_or_default() {
            "MaxMessageTermination" => {
                let max = int("max_messages")?;
                let max = max.ok_or_else(|| wrong_kind("max_messages", "a whole number", &Value::Null))?;
                Self::MaxMessage { max, events_too: table.flag("include_agent_event") == Some(true), count: 0 }
            }
            "TextMentionTermination" => Self::TextMention { text: text("text")?, sources: texts("sources") },
            "TokenUsageTermination" => {
                let (total, prompt) = (int("max_total_token")?, int("max_prompt_token")?);
                let completion = int("max_completion_token")?;
                if total.or(prompt).or(completion).is_none() {
                    let words = "At least one of max_total_token, max_prompt_token, or max_completion_token must be \
                                 provided";
                    return Err(SettingsError::refused("ValueError", words));
                }
                Self::TokenUsage { total, prompt, completion, used: (0, 0) }
            }
            "TimeoutTermination" => {
                let value = table.get("timeout_seconds").unwrap_or(&Value::Null);
                let seconds = value.as_f64().ok_or_else(|| wrong_kind("timeout_seconds", "a number", value))?;
                Self::Timeout { seconds, written: value.to_string(), since: None, now: None }
            }
            "SourceMatchTermination" => Self::Source { sources: texts("sources").unwrap_or_default() },
            "TextMessageTermination" => Self::TextMessage { source: table.text("source").map(str::to_owned) },
            "FunctionCallTermination" => Self::FunctionCall { name: text("function_name")? },
            "HandoffTermination" => Self::Handoff { target: text("target")? },
            "StopMessageTermination" => Self::StopMessage,
            "ExternalTermination" => Self::External { set: false },
            "FunctionalTermination" => Self::Functional { function: text("func")? },
            other => return Err(wrong_kind("condition.type", "a known condition", &Value::from(other))),
        })
    }

    /// The token limit that is reached: observed value and limit.
    fn tokens_over(&self) -> Option<(f64, f64)> {
        let Self::TokenUsage { total, prompt, completion, used } = self else { return None };
        let readings = [(used.0.saturating_add(used.1), total), (used.0, prompt), (used.1, completion)];
        let is_over = |(seen, limit): &(i64, &Option<i64>)| matches!(limit, Some(limit) if seen >= limit);
        let (seen, limit) = readings.into_iter().find(is_over)?;
        Some((seen as f64, (*limit)? as f64))
    }

    fn asked(&mut self, delta: &[TeamMessage]) -> Option<TerminationMessage> {
        match self {
            Self::MaxMessage { max, events_too, count } => {
                let more = delta.iter().filter(|message| *events_too || message.is_chat()).count();
                *count = count.saturating_add(i64::try_from(more).unwrap_or(i64::MAX));
                if *count < *max {
                    return None;
                }
                let words = format!("Maximum number of messages {max} reached, current message count: {count}");
                Some(TerminationMessage::new("MaxMessageTermination", words).evidence(*count as f64, *max as f64))
            }
            Self::TokenUsage { used, .. } => {
                for (prompt, completion) in delta.iter().filter_map(|message| message.usage) {
                    used.0 = used.0.saturating_add(i64::try_from(prompt).unwrap_or(i64::MAX));
                    used.1 = used.1.saturating_add(i64::try_from(completion).unwrap_or(i64::MAX));
                }
                let (prompt, completion) = *used;
                let words = format!(
                    "Token usage limit reached, total token count: {}, prompt token count: {prompt}, completion token \
                     count: {completion}.",
                    prompt.saturating_add(completion)
                );
                let (seen, limit) = self.tokens_over()?;
                Some(TerminationMessage::new("TokenUsageTermination", words).evidence(seen, limit))
            }
            Self::Timeout { seconds, written, since, now } => {
                let elapsed = seconds_between(*since, *now).unwrap_or(0.0);
                if elapsed < *seconds {
                    return None;
                }
                let words = format!("Timeout of {written} seconds reached");
                Some(TerminationMessage::new("TimeoutTermination", words).evidence(elapsed, *seconds))
            }
            Self::External { set: false } => None,
            Self::External { set: true } => {
                Some(TerminationMessage::new("ExternalTermination", "External termination requested".to_owned()))
            }
            Self::Functional { function } => {
                let met = match function.as_str() {
                    "delta_len_at_least_2" => delta.len() >= 2,
                    "last_is_stop_message" => matches!(delta.last(), Some(last) if last.is("StopMessage")),
                    _ => false,
                };
                if !met {
                    return None;
                }
                let words = "Functional termination condition met".to_owned();
                Some(TerminationMessage::new("FunctionalTermination", words))
            }
            _ => delta.iter().find_map(|message| self.fires_on(message)),
        }
    }

    /// Evaluates the conditions that test one message at a time.
    fn fires_on(&self, message: &TeamMessage) -> Option<TerminationMessage> {
        let source = &message.source;
        let among = |list: &Vec<String>| list.contains(source);
        let (name, content) = match self {
            Self::TextMention { text, sources }
                if sources.as_ref().is_none_or(among) && message.text.contains(text.as_str()) =>
            {
                ("TextMentionTermination", format!("Text '{text}' mentioned"))
            }
            Self::Source { sources } if among(sources) => ("SourceMatchTermination", format!("'{source}' answered")),
            Self::TextMessage { source: wanted }
                if message.is("TextMessage") && wanted.as_ref().is_none_or(|wanted| wanted == source) =>
            {
                ("TextMessageTermination", format!("Text message received from '{source}'"))
            }
            Self::FunctionCall { name } if message.executed.contains(name) => {
                ("FunctionCallTermination", format!("Function '{name}' was executed."))
            }
            Self::Handoff { target } if message.is("HandoffMessage") && message.target.as_ref() == Some(target) => {
                ("HandoffTermination", format!("Handoff to {target} from {source} detected."))
            }
            Self::StopMessage if message.is("StopMessage") => {
                ("StopMessageTermination", "Stop message received".to_owned())
            }
            _ => return None,
        };
        Some(TerminationMessage::new(name, content))
    }
}
