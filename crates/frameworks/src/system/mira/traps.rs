//! What looks wrong in mira's configuration before any run.

use serde_json::Value;

use super::policy::AutomationPolicy;
use crate::framework::{Settings, SettingsError};
use crate::system::traps::{few_tokens, in_either};

/// Parts of a policy that MIRA silently drops when it reads the file.
pub(super) fn traps(settings: &Settings) -> Vec<SettingsError> {
    let config = settings.config.as_ref().and_then(|config| config.json().ok()).unwrap_or_default();
    let config = config.get("automation_policy").unwrap_or(&config);
    let mut traps = Vec::new();
    let mut told = |key: &str, what: String, help: &str| traps.push(in_either(settings, key, (what, help.to_owned())));
    let value = |key: &str| settings.get(key).or_else(|| config.get(key));
    for (index, goal) in value("goals").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let alone = serde_json::json!({"goals": [goal], "strictHeuristics": true});
        if AutomationPolicy::parse(&alone, true).ok().flatten().is_some_and(|policy| policy.goals.is_empty()) {
            let what = format!("goal {} is dropped without a word", index + 1);
            told("goals", what, "write `metric`, `operator` (> >= < <= ==) and a numeric `value`");
        }
    }
    for (key, read) in [
        ("maxExperiments", (|policy| policy.max_experiments.is_some()) as fn(&AutomationPolicy) -> bool),
        ("maxTokens", |policy| policy.max_tokens.is_some()),
    ] {
        let Some(limit) = value(key).filter(|limit| !limit.is_null()) else { continue };
        let alone = serde_json::json!({key: limit, "strictHeuristics": true});
        if !AutomationPolicy::parse(&alone, true).ok().flatten().is_some_and(|policy| read(&policy)) {
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
