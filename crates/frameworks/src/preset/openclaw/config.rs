//! OpenClaw's settings: the validation of its configuration, and the values in force.

use serde_json::{Map, Value};

use super::param;
use crate::framework::Parameter;
use crate::preset::frame::{Settings, SettingsError};

/// Which limits are constants, by release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Release {
    /// 2026.8 and later: all limits are constants.
    Constants,
    /// Up to 2026.7: none are; all can be configured.
    #[default]
    Numbers,
}

/// The whole numbers, all above 0, that releases up to 2026.7 accept.
const NUMBERS: [&str; 5] =
    ["historySize", "warningThreshold", "criticalThreshold", "unknownToolThreshold", "globalCircuitBreakerThreshold"];
const DETECTORS: [&str; 3] = ["genericRepeat", "knownPollNoProgress", "pingPong"];

/// `tools.loopDetection`, with the values in force, among them always `warning <= critical <= breaker`.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "five switches of the framework")]
pub(super) struct LoopDetection {
    pub(super) release: Release,
    pub(super) enabled: bool,
    pub(super) history: usize,
    pub(super) warning: usize,
    pub(super) critical: usize,
    pub(super) breaker: usize,
    pub(super) unknown: usize,
    pub(super) generic: bool,
    pub(super) polls: bool,
    pub(super) ping_pong: bool,
    /// Whether calls are watched after a compaction: yes, unless `enabled` is false.
    pub(super) guarded: bool,
    pub(super) window: usize,
}

impl LoopDetection {
    pub(super) fn new(settings: &Settings, config: &Value, release: Release) -> Result<Self, SettingsError> {
        let mut issues = Vec::new();
        check(config, release, &mut issues);
        if !issues.is_empty() {
            issues.sort();
            return Err(SettingsError::refused("invalid_config", issues.join("; ")));
        }
        let everywhere = config.pointer("/tools/loopDetection").and_then(Value::as_object);
        let own = own_block(config, release).and_then(Value::as_object);
        let block = match (everywhere, own) {
            (Some(all), Some(own)) => overlaid(all, own),
            (one, other) => one.or(other).cloned().unwrap_or_default(),
        };
        Ok(Self::in_force(&block, release, settings))
    }

    fn in_force(block: &Map<String, Value>, release: Release, settings: &Settings) -> Self {
        // The block's value of a parameter, or its default.
        let value = |parameter: &Parameter| {
            let path = parameter.name.trim_start_matches("tools.loopDetection.");
            let found = match path.split_once('.') {
                Some((group, name)) => block.get(group).and_then(|group| group.get(name)),
                None => block.get(path),
            };
            found.cloned().unwrap_or_else(|| settings.default_of(parameter))
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and above 0: checked")]
        let number = |parameter: &Parameter| value(parameter).as_f64().unwrap_or_default() as usize;
        let detector = |parameter: &Parameter| value(parameter) == true;
        let enabled = value(&param::ENABLED).as_bool();
        let warning = number(&param::WARNING_THRESHOLD);
        let critical = number(&param::CRITICAL_THRESHOLD).max(warning.saturating_add(1));
        Self {
            release,
            enabled: enabled == Some(true),
            history: number(&param::HISTORY_SIZE),
            warning,
            critical,
            breaker: number(&param::GLOBAL_CIRCUIT_BREAKER_THRESHOLD).max(critical.saturating_add(1)),
            unknown: number(&param::UNKNOWN_TOOL_THRESHOLD),
            generic: detector(&param::GENERIC_REPEAT),
            polls: detector(&param::KNOWN_POLL_NO_PROGRESS),
            ping_pong: detector(&param::PING_PONG),
            guarded: enabled != Some(false),
            window: number(&param::WINDOW_SIZE),
        }
    }
}

/// The configuration that a stack file's settings describe.
pub(super) fn assembled(settings: &Settings) -> Value {
    let mut config = Value::Object(Map::new());
    for parameter in param::ALL.iter().filter(|parameter| parameter.name != param::RESULT_DETAILS.name) {
        let Some(value) = settings.get(parameter.name) else { continue };
        let mut place = &mut config;
        for key in parameter.name.split('.') {
            if !place.is_object() {
                *place = Value::Object(Map::new());
            }
            place = &mut place[key];
        }
        *place = value.clone();
    }
    config
}

/// The block of the agent `main`.
fn own_block(config: &Value, release: Release) -> Option<&Value> {
    match release {
        Release::Constants => config.pointer("/agents/entries/main/tools/loopDetection"),
        Release::Numbers => {
            let agents = config.pointer("/agents/list")?.as_array()?;
            agents.iter().find(|agent| agent["id"] == "main")?.pointer("/tools/loopDetection")
        }
    }
}

/// The agent's fields merged over the common ones, group by group.
fn overlaid(all: &Map<String, Value>, own: &Map<String, Value>) -> Map<String, Value> {
    let mut block = all.clone();
    for (name, value) in own {
        match (block.get_mut(name), value) {
            (Some(Value::Object(group)), Value::Object(fields)) => group.extend(fields.clone()),
            _ => {
                block.insert(name.clone(), value.clone());
            }
        }
    }
    block
}

/// Validates every loop-detection block, and adds the framework's messages to `issues`.
fn check(config: &Value, release: Release, issues: &mut Vec<String>) {
    let mut look = |block: Option<&Value>, path: String| {
        if let Some(block) = block {
            check_block(block, &path, release, issues);
        }
    };
    look(config.pointer("/tools/loopDetection"), "tools.loopDetection".to_owned());
    let agents = &config["agents"];
    if let Some(entries) = agents["entries"].as_object() {
        for (id, agent) in entries {
            look(agent.pointer("/tools/loopDetection"), format!("agents.entries.{id}.tools.loopDetection"));
        }
    }
    if let Some(list) = agents["list"].as_array() {
        for (nth, agent) in list.iter().enumerate() {
            look(agent.pointer("/tools/loopDetection"), format!("agents.list.{nth}.tools.loopDetection"));
        }
    }
}

fn check_block(block: &Value, path: &str, release: Release, issues: &mut Vec<String>) {
    let Some(fields) = object(block, path, issues) else { return };
    let before = issues.len();
    switch(fields, "enabled", path, issues);
    let mut known = vec!["enabled"];
    if release == Release::Numbers {
        known.extend(NUMBERS);
        known.extend(["detectors", "postCompactionGuard"]);
        for name in NUMBERS {
            whole_above_0(fields, name, path, issues);
        }
        let group = |name: &str, issues: &mut Vec<String>, names: &[&str], numbers: bool| {
            let path = format!("{path}.{name}");
            let Some(inner) = fields.get(name) else { return };
            let Some(inner) = object(inner, &path, issues) else { return };
            for name in names {
                if numbers { whole_above_0(inner, name, &path, issues) } else { switch(inner, name, &path, issues) }
            }
            unrecognised(inner, names, &path, issues);
        };
        group("detectors", issues, &DETECTORS, false);
        group("postCompactionGuard", issues, &["windowSize"], true);
    }
    unrecognised(fields, &known, path, issues);
    if issues.len() == before && release == Release::Numbers {
        let pairs = [("warningThreshold", "criticalThreshold"), ("criticalThreshold", "globalCircuitBreakerThreshold")];
        for (lower, higher) in pairs {
            let number = |name: &str| fields.get(name)?.as_f64();
            if let (Some(low), Some(high)) = (number(lower), number(higher))
                && low >= high
            {
                issues.push(format!("{path}.{higher}: tools.loopDetection.{lower} must be lower than {higher}."));
            }
        }
    }
}

fn object<'v>(value: &'v Value, path: &str, issues: &mut Vec<String>) -> Option<&'v Map<String, Value>> {
    if !value.is_object() {
        issues.push(format!("{path}: Invalid input: expected object, received {}", kind(value)));
    }
    value.as_object()
}

fn switch(fields: &Map<String, Value>, name: &str, path: &str, issues: &mut Vec<String>) {
    if let Some(value) = fields.get(name).filter(|value| !value.is_boolean()) {
        let received = kind(value);
        issues.push(format!(
            "{path}.{name}: Invalid input: expected boolean, received {received} (allowed: true, false)"
        ));
    }
}

fn whole_above_0(fields: &Map<String, Value>, name: &str, path: &str, issues: &mut Vec<String>) {
    let Some(value) = fields.get(name) else { return };
    let wrong = match value.as_f64() {
        None => format!("Invalid input: expected number, received {}", kind(value)),
        Some(number) if number.fract() != 0.0 => "Invalid input: expected int, received number".to_owned(),
        Some(number) if number <= 0.0 => "Too small: expected number to be >0 (must be greater than 0)".to_owned(),
        Some(_) => return,
    };
    issues.push(format!("{path}.{name}: {wrong}"));
}

fn unrecognised(fields: &Map<String, Value>, known: &[&str], path: &str, issues: &mut Vec<String>) {
    let strange: Vec<String> =
        fields.keys().filter(|key| !known.contains(&key.as_str())).map(|key| format!("\"{key}\"")).collect();
    match strange.len() {
        0 => {}
        1 => issues.push(format!("{path}: Unrecognized key: {}", strange[0])),
        _ => issues.push(format!("{path}: Unrecognized keys: {}", strange.join(", "))),
    }
}

/// A JSON type under the name used in the framework's validation messages.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
