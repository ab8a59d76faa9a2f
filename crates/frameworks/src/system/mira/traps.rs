//! What looks wrong in mira's configuration before any run.

use serde_json::{Value, json};

use super::policy::AutomationPolicy;
use crate::framework::{Settings, SettingsError};
use crate::system::traps::{few_tokens, in_either};

/// Parts of a policy that MIRA silently drops when it reads the file.
pub(super) fn traps(settings: &Settings) -> Vec<SettingsError> {
    let config = settings.config.as_ref().and_then(|config| config.json().ok()).unwrap_or_default();
    let parsed = |alone: Value| AutomationPolicy::parse(&alone, true).ok().flatten();
    let config = config.get("automation_policy").unwrap_or(&config);
    let mut traps = Vec::new();
    let mut told = |key: &str, what: String, help: &str| traps.push(in_either(settings, key, (what, help.to_owned())));
    let value = |key: &str| settings.get(key).or_else(|| config.get(key));
    for (index, goal) in value("goals").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let policy = parsed(json!({"goals": [goal], "strictHeuristics": true}));
        if matches!(policy, Some(policy) if policy.goals.is_empty()) {
            let what = format!("goal {} is dropped without a word", index + 1);
            told("goals", what, "write `metric`, `operator` (> >= < <= ==) and a numeric `value`");
        }
    }
    for (key, read) in [
        ("maxExperiments", (|policy| policy.max_experiments.is_some()) as fn(&AutomationPolicy) -> bool),
        ("maxTokens", |policy| policy.max_tokens.is_some()),
    ] {
        let Some(limit) = value(key).filter(|limit| !limit.is_null()) else { continue };
        let policy = parsed(json!({key: limit, "strictHeuristics": true}));
        if !matches!(policy, Some(policy) if read(&policy)) {
            told(key, format!("`{key}` of {limit} is dropped without a word: there is no limit"), "write 1 or more");
        } else if key == "maxTokens"
            && let Some(tokens) = limit.as_i64()
            && let Some((what, help)) = few_tokens(tokens)
        {
            told(key, what, &help);
        }
    }
    if let Some(logic) = value("logic").filter(|logic| !is_logic(logic)) {
        told("logic", format!("`logic` is {logic} and acts as AND"), "write \"AND\" or \"OR\"");
    }
    traps
}

fn is_logic(value: &Value) -> bool {
    matches!(value.as_str().unwrap_or_default().trim().to_uppercase().as_str(), "AND" | "OR")
}
