//! What looks wrong in the systems' configurations before any run: units, limits that switch a rule off or can never be
//! reached, and parts that the original silently drops. Each system has its own checks; this module holds the shared
//! ones.

use serde_json::{Map, Value};

use crate::diagnostic::{Diagnostic, Location};
use crate::framework::{ErrorSubject, LONG_SECONDS, Settings, SettingsError};

/// Below this many tokens, thousands were probably meant: one call usually costs more.
const FEW_TOKENS: i64 = 1000;

/// A trap if the number of seconds looks like milliseconds.
pub(super) fn long(seconds: f64) -> Option<(String, String)> {
    let is_long = seconds >= LONG_SECONDS;
    if !is_long {
        return None;
    }
    let days = seconds / 86_400.0;
    let help = format!("the limit counts seconds: were {} meant?", seconds / 1000.0);
    Some((format!("{seconds} seconds are {days:.1} days"), help))
}

/// A trap if the number of tokens looks like thousands.
pub(super) fn few_tokens(tokens: i64) -> Option<(String, String)> {
    if tokens >= FEW_TOKENS {
        return None;
    }
    let what = format!("{tokens} tokens are fewer than one call usually costs");
    Some((what, "the limit counts single tokens: were thousands meant?".to_owned()))
}

/// The values of a configuration in JSON or TOML; empty if it cannot be read.
pub(super) fn values(settings: &Settings) -> Map<String, Value> {
    settings.config.as_ref().and_then(|config| config.table().ok()).unwrap_or_default()
}

/// A trap about a key of the native configuration.
pub(super) fn in_config(settings: &Settings, key: &str, (what, help): (String, String)) -> SettingsError {
    match &settings.config {
        Some(config) => config.error_at(key, what, help),
        None => SettingsError::new(Location::default(), what, help),
    }
}

/// A trap about a parameter that either the stack file or the native configuration may set.
pub(super) fn in_either(settings: &Settings, key: &str, trap: (String, String)) -> SettingsError {
    if settings.get(key).is_none() {
        return in_config(settings, key, trap);
    }
    let (what, help) = trap;
    let error = Diagnostic::new(Location::default(), what, help);
    SettingsError { error, about: ErrorSubject::Value(key.into()) }
}

#[cfg(test)]
mod tests {
    use super::super::ALL;
    use super::*;
    use crate::framework::ConfigText;

    fn told(id: &str, config: &str) -> Vec<String> {
        let config = Some(ConfigText { path: "c".to_owned(), text: config.to_owned() });
        let settings = Settings { config, ..Settings::named(id) };
        let system = ALL.iter().find(|system| system.id == id).unwrap();
        system.traps(&settings).into_iter().map(|trap| format!("{}:{}", trap.error.at.line, trap.error.what)).collect()
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
