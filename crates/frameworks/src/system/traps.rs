//! What looks wrong in a system's configuration before any run is seen: units, limits that switch a rule off or can
//! never be met, and parts that the original drops without a word.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::awaken::{AgentStops, StopConditionSpec};
use super::mira::policy::Policy;
use super::{About, ConfigText, Settings};
use crate::diagnostic::{Diagnostic, Location};

/// A trap, and what of the stack file it is about.
pub type ConfigTrap = (Diagnostic, About);

/// Replies awaken keeps for its loop detection.
const AWAKEN_HISTORY: usize = 64;
/// From this many seconds on, milliseconds are suspected: more than a day.
const LONG_SECONDS: u64 = 100_000;
/// Below this many tokens, thousands are suspected: one call usually costs more.
const FEW_TOKENS: i64 = 1000;

/// The traps these settings of system `id` step into, in the order of the configuration. A configuration that the
/// system refuses has none: its errors are told when it is built.
pub fn traps(id: &str, settings: &Settings) -> Vec<ConfigTrap> {
    match id {
        "awaken" => awaken(settings),
        "agentao" => agentao(settings),
        "agentica" => agentica(settings),
        "adaptive" => adaptive(settings),
        "mira" => mira(settings),
        _ => Vec::new(),
    }
}

fn awaken(settings: &Settings) -> Vec<ConfigTrap> {
    let Some(config) = &settings.config else { return Vec::new() };
    let Ok(stops) = AgentStops::read(&config.text) else { return Vec::new() };
    let set = settings.set.get("max_rounds").and_then(Value::as_u64).and_then(|rounds| usize::try_from(rounds).ok());
    let guard = set.unwrap_or(stops.max_rounds);
    let spans = condition_spans(config);
    let mut traps = Vec::new();
    for (condition, span) in stops.conditions.iter().zip(spans) {
        let (field, found) = awaken_trap(condition, guard);
        traps.extend(found.map(|(what, help)| {
            let place = config.key(field, span.clone()).unwrap_or(span);
            (Diagnostic::in_text(&config.path, &config.text, place, what, help), About::Config)
        }));
    }
    traps
}

/// Where the conditions stand in the text.
fn condition_spans(config: &ConfigText) -> Vec<std::ops::Range<usize>> {
    #[derive(Deserialize)]
    struct Agent<'a> {
        #[serde(borrow, default)]
        stop_conditions: Vec<&'a RawValue>,
    }
    let text = config.text.as_str();
    let list: Result<Vec<&RawValue>, _> = if text.trim_start().starts_with('[') {
        serde_json::from_str(text)
    } else {
        serde_json::from_str::<Agent<'_>>(text).map(|agent| agent.stop_conditions)
    };
    let span = |raw: &RawValue| {
        let start = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        start..start + raw.get().len()
    };
    list.unwrap_or_default().into_iter().map(span).collect()
}

/// The field a condition's trap is about, and what and how to fix it. `guard`: the agent's own limit on rounds, 0 when
/// it is off.
fn awaken_trap(condition: &StopConditionSpec, guard: usize) -> (&'static str, Option<(String, String)>) {
    let off = |field: &str| (format!("`{field}` of 0 switches the condition off"), LEAVE_OUT.to_owned());
    let beyond_guard = |field: &str, limit: usize| {
        let what = format!("`{field}` of {limit} is never reached: the agent's own guard stops at {guard}");
        (guard > 0 && limit > guard).then(|| (what, format!("move the guard: `set = {{ max_rounds = {limit} }}`")))
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
        StopConditionSpec::LoopDetection { window } if *window > AWAKEN_HISTORY => {
            let what = format!("`window` of {window} is never filled: awaken keeps {AWAKEN_HISTORY} replies");
            ("window", Some((what, format!("write at most {AWAKEN_HISTORY}"))))
        }
        StopConditionSpec::LoopDetection { window } => ("window", beyond_guard("window", *window)),
    }
}

const LEAVE_OUT: &str = "leave the condition out if that is meant";

fn empty(field: &str, text: &str) -> Option<(String, String)> {
    text.is_empty().then(|| (format!("an empty `{field}` switches the condition off"), LEAVE_OUT.to_owned()))
}

fn bad(pattern: &str) -> Option<(String, String)> {
    let error = regex::Regex::new(pattern).err()?.to_string();
    let why = error.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned();
    let what = format!("`{pattern}` is not a regular expression: {why}");
    Some((what, "awaken takes it, and then stops every run at its first reply".to_owned()))
}

fn long(seconds: f64) -> Option<(String, String)> {
    let days = seconds / 86_400.0;
    (seconds >= LONG_SECONDS as f64).then(|| {
        let help = format!("the limit counts seconds: were {} meant?", seconds / 1000.0);
        (format!("{seconds} seconds are {days:.1} days"), help)
    })
}

fn few_tokens(tokens: i64) -> Option<(String, String)> {
    (tokens < FEW_TOKENS).then(|| {
        let what = format!("{tokens} tokens are fewer than one call usually costs");
        (what, "the limit counts single tokens: were thousands meant?".to_owned())
    })
}

/// The values of a configuration in JSON or TOML; empty where it cannot be read.
fn values(settings: &Settings) -> Map<String, Value> {
    let Some(config) = &settings.config else { return Map::new() };
    let read = if config.text.trim_start().starts_with('{') { config.json() } else { config.toml() };
    read.ok().and_then(|value| value.as_object().cloned()).unwrap_or_default()
}

/// A trap about a key of the native configuration.
fn in_config(settings: &Settings, key: &str, (what, help): (String, String)) -> ConfigTrap {
    let error = match &settings.config {
        Some(config) => config.error_at(key, what, help).0,
        None => Diagnostic::new(Location::default(), what, help),
    };
    (error, About::Config)
}

fn agentao(settings: &Settings) -> Vec<ConfigTrap> {
    let values = values(settings);
    let mut traps = Vec::new();
    if let Some(max) = values.get("max_iterations").and_then(Value::as_i64).filter(|max| *max < 1) {
        let what = format!("`max_iterations` of {max} is not off: the strategy is asked at once");
        traps.push(in_config(settings, "max_iterations", (what, "write 1 or more".to_owned())));
    }
    let has_history = match settings.set.get("second_argument").and_then(Value::as_str) {
        Some(word) => word == "history",
        None => settings.profile.as_deref() == Some("documented"),
    };
    if !has_history && values.get("strategy").and_then(Value::as_str) == Some("smart") {
        let what = "as released, `smart` sees the last calls only: its checks never fire";
        let help = "to try it as documented, `set = { second_argument = \"history\" }`";
        traps.push(in_config(settings, "strategy", (what.to_owned(), help.to_owned())));
    }
    traps
}

fn agentica(settings: &Settings) -> Vec<ConfigTrap> {
    let values = values(settings);
    // 1.5 refuses what the others take, and reads -1 as off.
    let takes_any = settings.profile.as_deref() != Some("published-1.5");
    let mut traps = Vec::new();
    for key in ["turn_budget", "token_budget", "wall_clock_budget_sec", "default_turn_budget"] {
        let Some(limit) = values.get(key).and_then(Value::as_f64) else { continue };
        if takes_any && limit <= 0.0 {
            let what = format!("`{key}` of {limit} is not off: the goal ends with its first turn");
            traps.push(in_config(settings, key, (what, format!("leave `{key}` out for no limit"))));
        } else if key == "wall_clock_budget_sec" {
            traps.extend(long(limit).map(|trap| in_config(settings, key, trap)));
        } else if key == "token_budget" {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "only small limits are of interest, and a cast saturates"
            )]
            let tokens = limit as i64;
            traps.extend(few_tokens(tokens).filter(|_| tokens > 0).map(|trap| in_config(settings, key, trap)));
        }
    }
    traps
}

fn adaptive(settings: &Settings) -> Vec<ConfigTrap> {
    let option = settings.set.get("max_iterations");
    let Ok(max) = super::adaptive::max_iterations(settings) else { return Vec::new() };
    if max >= 2 {
        return Vec::new();
    }
    let what = format!("`max_iterations` of {max} allows a single model call");
    let help = "write 2 or more; there is no value that switches it off";
    match option {
        Some(_) => vec![(Diagnostic::new(Location::default(), what, help), About::Value("max_iterations".into()))],
        None => vec![in_config(settings, "max_iterations", (what, help.to_owned()))],
    }
}

/// What MIRA's reader of policies drops without a word.
fn mira(settings: &Settings) -> Vec<ConfigTrap> {
    let config = settings.config.as_ref().and_then(|config| config.json().ok()).unwrap_or_default();
    let config = config.get("automation_policy").unwrap_or(&config);
    let mut traps = Vec::new();
    let mut told = |key: &str, what: String, help: &str| {
        if settings.set.contains_key(key) {
            traps.push((Diagnostic::new(Location::default(), what, help), About::Value(key.into())));
        } else {
            traps.push(in_config(settings, key, (what, help.to_owned())));
        }
    };
    let value = |key: &str| settings.set.get(key).or_else(|| config.get(key));
    for (index, goal) in value("goals").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let alone = serde_json::json!({"goals": [goal], "strictHeuristics": true});
        if Policy::parse(&alone, true).ok().flatten().is_some_and(|policy| policy.goals.is_empty()) {
            let what = format!("goal {} is dropped without a word", index + 1);
            told("goals", what, "write `metric`, `operator` (> >= < <= ==) and a numeric `value`");
        }
    }
    for (key, read) in [
        ("maxExperiments", (|policy| policy.max_experiments.is_some()) as fn(&Policy) -> bool),
        ("maxTokens", |policy| policy.max_tokens.is_some()),
    ] {
        let Some(limit) = value(key).filter(|limit| !limit.is_null()) else { continue };
        let alone = serde_json::json!({key: limit, "strictHeuristics": true});
        if !Policy::parse(&alone, true).ok().flatten().is_some_and(|policy| read(&policy)) {
            told(key, format!("`{key}` of {limit} is dropped without a word: there is no limit"), "write 1 or more");
        } else if let Some((what, help)) = limit.as_i64().filter(|_| key == "maxTokens").and_then(few_tokens) {
            told(key, what, &help);
        }
    }
    if let Some(logic) = value("logic").filter(|logic| !is_logic(logic)) {
        told("logic", format!("`logic` is {logic} and acts as AND"), "write \"AND\" or \"OR\"");
    }
    traps
}

fn is_logic(value: &Value) -> bool {
    value.as_str().is_some_and(|word| matches!(word.trim().to_uppercase().as_str(), "AND" | "OR"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(id: &str, config: &str) -> Vec<String> {
        let config = Some(ConfigText { path: "c".to_owned(), text: config.to_owned() });
        let settings = Settings { config, ..Settings::named(id) };
        traps(id, &settings).into_iter().map(|(trap, _)| format!("{}:{}", trap.at.line, trap.what)).collect()
    }

    #[test]
    fn units_off_values_and_limits_out_of_reach_are_found_where_they_stand() {
        let awaken = "[\n{\"type\":\"timeout\",\"seconds\":300000},\n{\"type\":\"loop_detection\",\"window\":65},\n\
            {\"type\":\"content_match\",\"pattern\":\"[\"},\n{\"rounds\":0,\"type\":\"max_rounds\"},\n\
            {\"type\":\"max_rounds\",\"rounds\":50},\n{\"type\":\"token_budget\",\"max_total\":200}]";
        assert_eq!(
            told("awaken", awaken),
            [
                "2:300000 seconds are 3.5 days",
                "3:`window` of 65 is never filled: awaken keeps 64 replies",
                "4:`[` is not a regular expression: unclosed character class",
                "5:`rounds` of 0 switches the condition off",
                "6:`rounds` of 50 is never reached: the agent's own guard stops at 16",
                "7:200 tokens are fewer than one call usually costs",
            ]
        );
        let agent = "{\"max_rounds\": 0, \"stop_conditions\": [{\"type\":\"timeout\",\"seconds\":0}]}";
        assert_eq!(told("awaken", agent), ["1:`seconds` of 0 switches the condition off"]);
        assert_eq!(told("agentao", "max_iterations = 0\nstrategy = \"smart\"\n").len(), 2);
        assert_eq!(told("agentica", "token_budget = 50\nwall_clock_budget_sec = 600000\nturn_budget = 0").len(), 3);
        let mira = "{\"goals\":[{\"metric\":\"m\",\"operator\":\"=>\",\"value\":1}],\"maxTokens\":0,\"logic\":\"XOR\"}";
        assert_eq!(told("mira", mira).len(), 3);
        for (id, config) in [
            ("awaken", "[{\"type\":\"timeout\",\"seconds\":300}]"),
            ("agentao", "max_iterations = 100"),
            ("agentica", "turn_budget = 5\ntoken_budget = 50000"),
            ("mira", "{\"goals\":[{\"metric\":\"m\",\"operator\":\">\",\"value\":1}],\"logic\":\"or\"}"),
        ] {
            assert_eq!(told(id, config), Vec::<String>::new(), "{id}");
        }
    }
}
