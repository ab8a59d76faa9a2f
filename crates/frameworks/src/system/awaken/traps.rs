//! What looks wrong in awaken's configuration before any run.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::counters::HISTORY;
use super::{AgentStops, StopConditionSpec, param};
use crate::framework::{ConfigText, Settings, SettingsError};
use crate::system::traps::{few_tokens, long};

const LEAVE_OUT: &str = "leave the condition out if that is meant";

/// Traps in the order of the configuration. A configuration that awaken rejects has none here; its errors are reported
/// when it is built.
pub(super) fn traps(settings: &Settings) -> Vec<SettingsError> {
    let Some(config) = &settings.config else { return Vec::new() };
    let Ok(stops) = AgentStops::read(&config.text) else { return Vec::new() };
    let set = settings.get(param::MAX_ROUNDS.name).and_then(Value::as_u64);
    let guard = if let Some(Ok(set)) = set.map(usize::try_from) { set } else { stops.max_rounds };
    let spans = condition_spans(config);
    let mut traps = Vec::new();
    for (condition, span) in stops.conditions.iter().zip(spans) {
        let (field, found) = awaken_trap(condition, guard);
        traps.extend(found.map(|(what, help)| {
            let place = config.key(field, span.clone()).unwrap_or(span);
            config.error_in(place, what, help)
        }));
    }
    traps
}

/// The byte ranges of the conditions in the text.
fn condition_spans(config: &ConfigText) -> Vec<std::ops::Range<usize>> {
    #[derive(Deserialize)]
    struct AgentSettings<'a> {
        #[serde(borrow, default)]
        stop_conditions: Vec<&'a RawValue>,
    }
    let text = config.text.as_str();
    let list: Result<Vec<&RawValue>, _> = if text.trim_start().starts_with('[') {
        serde_json::from_str(text)
    } else {
        serde_json::from_str::<AgentSettings<'_>>(text).map(|agent| agent.stop_conditions)
    };
    let span = |raw: &RawValue| {
        let start = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        start..start + raw.get().len()
    };
    list.unwrap_or_default().into_iter().map(span).collect()
}

/// The field that a condition's trap is about, with what is wrong and how to fix it. `guard` is the agent's own limit
/// on rounds, 0 if it is off.
fn awaken_trap(condition: &StopConditionSpec, guard: usize) -> (&'static str, Option<(String, String)>) {
    let off = |field: &str| (format!("`{field}` of 0 switches the condition off"), LEAVE_OUT.to_owned());
    let beyond_guard = |field: &str, limit: usize| {
        if guard == 0 || limit <= guard {
            return None;
        }
        let what = format!("`{field}` of {limit} is never reached: the agent's own guard stops at {guard}");
        Some((what, format!("move the guard: `set = {{ max_rounds = {limit} }}`")))
    };
    match condition {
        StopConditionSpec::MaxRounds { rounds: 0 } => ("rounds", Some(off("rounds"))),
        StopConditionSpec::MaxRounds { rounds } => ("rounds", beyond_guard("rounds", *rounds)),
        StopConditionSpec::Timeout { seconds: 0 } => ("seconds", Some(off("seconds"))),
        StopConditionSpec::Timeout { seconds } => ("seconds", long(*seconds as f64)),
        StopConditionSpec::TokenBudget { max_total: 0 } => ("max_total", Some(off("max_total"))),
        StopConditionSpec::TokenBudget { max_total } => {
            ("max_total", few_tokens(i64::try_from(*max_total).unwrap_or(i64::MAX)))
        }
        StopConditionSpec::ConsecutiveErrors { max } if max.trailing_zeros() >= 32 => {
            let wrapped = "awaken keeps the lowest 32 bits of `max`: it is 0, which switches the condition off";
            let trap = if *max == 0 { off("max") } else { (wrapped.to_owned(), LEAVE_OUT.to_owned()) };
            ("max", Some(trap))
        }
        StopConditionSpec::ConsecutiveErrors { .. } => ("max", None),
        StopConditionSpec::StopOnTool { tool_name } => ("tool_name", empty("tool_name", tool_name)),
        StopConditionSpec::ContentMatch { pattern } => ("pattern", empty("pattern", pattern).or_else(|| bad(pattern))),
        StopConditionSpec::LoopDetection { window: 0 | 1 } => {
            let what = "`window` below 2 switches the condition off";
            ("window", Some((what.to_owned(), LEAVE_OUT.to_owned())))
        }
        StopConditionSpec::LoopDetection { window } if *window > HISTORY => {
            let what = format!("`window` of {window} is never filled: awaken keeps {HISTORY} replies");
            ("window", Some((what, format!("write at most {HISTORY}"))))
        }
        StopConditionSpec::LoopDetection { window } => ("window", beyond_guard("window", *window)),
    }
}

fn empty(field: &str, text: &str) -> Option<(String, String)> {
    if !text.is_empty() {
        return None;
    }
    Some((format!("an empty `{field}` switches the condition off"), LEAVE_OUT.to_owned()))
}

fn bad(pattern: &str) -> Option<(String, String)> {
    let error = regex::Regex::new(pattern).err()?.to_string();
    let why = error.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned();
    let what = format!("`{pattern}` is not a regular expression: {why}");
    Some((what, "awaken takes it, and then stops every run at its first reply".to_owned()))
}
