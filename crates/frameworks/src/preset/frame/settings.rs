//! A preset's settings under the framework's own parameter names.

use serde_json::{Map, Value};

use crate::diagnostic::nearest;

/// One parameter of a preset, named as the framework names it (dotted when nested).
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name, for example `execution.loopDetection.softThreshold`.
    pub name: &'static str,
    /// The shipped default, as it is written in a configuration; `null` where there is none.
    pub default: &'static str,
    /// The value that switches the rule off; empty when there is none.
    pub off: &'static str,
    /// What it limits, in one line.
    pub doc: &'static str,
}

/// Settings of a preset for one strategy.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Which variant (documented, shipped …); `None` is the first one the preset lists.
    pub variant: Option<String>,
    /// Parameters by name; nested ones either dotted or as tables.
    pub set: Map<String, Value>,
    /// Only this one of the preset's rules; `None` is all of them as the framework has them on.
    pub only: Option<String>,
    /// Devices of a recorded test driver (scripted answers, chunk sizes). Not settable in a stack file.
    pub driver: Map<String, Value>,
}

/// Why a preset cannot be built with these settings.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// No such parameter.
    #[error("unknown parameter `{name}`")]
    Unknown {
        /// The name given.
        name: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// No such variant.
    #[error("unknown profile `{name}`")]
    Variant {
        /// The name given.
        name: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// A value of the wrong kind.
    #[error("parameter `{name}` must be {expected}, not `{got}`")]
    Kind {
        /// The parameter.
        name: String,
        /// What it takes.
        expected: &'static str,
        /// What it was given.
        got: String,
    },
    /// The framework itself refuses this configuration.
    #[error("the framework refuses this configuration: {code}: {detail}")]
    Refused {
        /// The framework's error type.
        code: String,
        /// The framework's words.
        detail: String,
    },
}

impl SettingsError {
    /// The name that may have been meant.
    pub fn near(&self) -> Option<&str> {
        match self {
            Self::Unknown { near, .. } | Self::Variant { near, .. } => near.as_deref(),
            Self::Kind { .. } | Self::Refused { .. } => None,
        }
    }

    /// The framework's own refusal.
    pub fn refused(code: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Refused { code: code.into(), detail: detail.into() }
    }
}

/// The rule a golden case names that drives all the rules of a framework at once.
pub const COMBINED: &str = "combined";

impl Settings {
    /// Settings of one golden case: its configuration, one rule (or all of them, for [`COMBINED`]),
    /// everything else a driver's device.
    pub fn of_case(rule: &str, input: &Map<String, Value>) -> Self {
        let config = input.get("config").and_then(Value::as_object).cloned().unwrap_or_default();
        let driver =
            input.iter().filter(|(key, _)| *key != "config" && *key != "events").map(|(k, v)| (k.clone(), v.clone()));
        let only = Some(rule.to_owned()).filter(|rule| rule != COMBINED);
        Self { set: config, only, driver: driver.collect(), ..Self::default() }
    }

    /// Settings of one golden case whose configuration is a file of the framework's own, not parameters: all rules are driven
    /// at once, and the file is the driver's device `config`.
    pub fn of_config_case(rule: &str, input: &Map<String, Value>) -> Self {
        let mut settings = Self { only: None, ..Self::of_case(rule, input) };
        let config = std::mem::take(&mut settings.set);
        settings.driver.insert("config".to_owned(), Value::Object(config));
        settings
    }

    /// Moves `names` from the settings to the driver's devices.
    #[must_use]
    pub fn devices(mut self, names: &[&str]) -> Self {
        for name in names {
            if let Some(value) = self.set.shift_remove(*name) {
                self.driver.insert((*name).to_owned(), value);
            }
        }
        self
    }

    /// Gives the setting `from` the parameter's name `to`.
    #[must_use]
    pub fn renamed(mut self, from: &str, to: &str) -> Self {
        if let Some(value) = self.set.shift_remove(from) {
            self.set.insert(to.to_owned(), value);
        }
        self
    }

    /// True when rule `name` is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == name)
    }

    /// True when variant `name` was asked for.
    pub fn is_variant(&self, name: &str) -> bool {
        self.variant.as_deref() == Some(name)
    }

    /// The value of a parameter; nested ones are found under their dotted name or inside tables.
    pub fn get(&self, name: &str) -> Option<&Value> {
        find(&self.set, name)
    }

    /// Is any of these parameters given?
    pub fn gives(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.get(name).is_some())
    }

    /// A driver's device.
    pub fn device(&self, name: &str) -> Option<&Value> {
        self.driver.get(name)
    }

    /// A whole number; `default` when absent or null.
    pub fn int(&self, name: &str, default: i64) -> Result<i64, SettingsError> {
        match self.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => whole(value).ok_or_else(|| wrong_kind(name, "a whole number", value)),
        }
    }

    /// A number; `default` when absent or null.
    pub fn number(&self, name: &str, default: f64) -> Result<f64, SettingsError> {
        match self.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => value.as_f64().ok_or_else(|| wrong_kind(name, "a number", value)),
        }
    }

    /// A whole number that may be none (`null`; in TOML `"none"` or `false`); `default` when absent.
    pub fn opt_int(&self, name: &str, default: Option<i64>) -> Result<Option<i64>, SettingsError> {
        match self.get(name) {
            None => Ok(default),
            Some(value) if is_none(value) => Ok(None),
            Some(_) => self.int(name, 0).map(Some),
        }
    }

    /// A number that may be none (`null`; in TOML `"none"` or `false`); `default` when absent.
    pub fn opt_number(&self, name: &str, default: Option<f64>) -> Result<Option<f64>, SettingsError> {
        match self.get(name) {
            None => Ok(default),
            Some(value) if is_none(value) => Ok(None),
            Some(_) => self.number(name, 0.0).map(Some),
        }
    }

    /// A switch; `default` when absent or null.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool, SettingsError> {
        match self.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => value.as_bool().ok_or_else(|| wrong_kind(name, "true or false", value)),
        }
    }

    /// A text; `None` when absent or null.
    pub fn text(&self, name: &str) -> Result<Option<&str>, SettingsError> {
        match self.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_str().map(Some).ok_or_else(|| wrong_kind(name, "a text", value)),
        }
    }

    /// A list of texts; `None` when absent or null, one text is a list of one.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>, SettingsError> {
        match self.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(one)) => Ok(Some(vec![one.clone()])),
            Some(value) => {
                let list = value.as_array().and_then(|items| {
                    items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
                });
                list.map(Some).ok_or_else(|| wrong_kind(name, "a list of texts", value))
            }
        }
    }

    /// Holds every given name against the preset's parameters.
    pub fn check_names(&self, parameters: &[Parameter]) -> Result<(), SettingsError> {
        let mut paths = Vec::new();
        collect_paths(&self.set, "", parameters, &mut paths);
        for path in paths {
            if !parameters.iter().any(|parameter| parameter.name == path) {
                let near = nearest(&path, parameters.iter().map(|parameter| parameter.name)).map(str::to_owned);
                return Err(SettingsError::Unknown { name: path, near });
            }
        }
        Ok(())
    }
}

/// The error for a value of the wrong kind.
pub(crate) fn wrong_kind(name: &str, expected: &'static str, got: &Value) -> SettingsError {
    SettingsError::Kind { name: name.to_owned(), expected, got: got.to_string() }
}

/// A whole number, also when it is written with a fraction of 0.
fn whole(value: &Value) -> Option<i64> {
    let double = value.as_f64().filter(|double| double.fract() == 0.0 && double.abs() < 1e15);
    #[expect(clippy::cast_possible_truncation, reason = "whole and below 1e15, checked above")]
    value.as_i64().or(double.map(|double| double as i64))
}

/// "None" as JSON and as TOML, which has no null, can say it.
fn is_none(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false)) || value.as_str().is_some_and(|text| text == "none")
}

fn find<'v>(table: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    if let Some(value) = table.get(name) {
        return Some(value);
    }
    name.match_indices('.').find_map(|(dot, _)| find(table.get(&name[..dot])?.as_object()?, &name[dot + 1..]))
}

/// Dotted paths of the given settings, down to the first name that is a parameter.
fn collect_paths(table: &Map<String, Value>, prefix: &str, parameters: &[Parameter], paths: &mut Vec<String>) {
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        let below = format!("{path}.");
        match value {
            Value::Object(inner) if parameters.iter().any(|parameter| parameter.name.starts_with(&below)) => {
                collect_paths(inner, &path, parameters, paths);
            }
            // A whole group left out by name.
            Value::Null if parameters.iter().any(|parameter| parameter.name.starts_with(&below)) => {}
            _ => paths.push(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &[Parameter] = &[
        Parameter { name: "execution.maxConsecutiveMistakes", default: "6", off: "0", doc: "" },
        Parameter { name: "stopWhen", default: "null", off: "", doc: "" },
    ];

    fn settings(json: &str) -> Settings {
        Settings { set: serde_json::from_str(json).unwrap(), ..Settings::default() }
    }

    #[test]
    fn names_are_found_dotted_and_nested_and_misses_are_named() {
        for json in [r#"{"execution":{"maxConsecutiveMistakes":3}}"#, r#"{"execution.maxConsecutiveMistakes":3}"#] {
            let settings = settings(json);
            assert_eq!(settings.check_names(PARAMETERS), Ok(()));
            assert_eq!(settings.int("execution.maxConsecutiveMistakes", 6), Ok(3));
        }
        assert_eq!(settings(r#"{"stopWhen":{"isStepCount":2}}"#).check_names(PARAMETERS), Ok(()));
        let miss = settings(r#"{"execution":{"maxConsecutiveMistake":3}}"#).check_names(PARAMETERS);
        let miss = miss.unwrap_err();
        assert_eq!(miss.to_string(), "unknown parameter `execution.maxConsecutiveMistake`");
        assert_eq!(miss.near(), Some("execution.maxConsecutiveMistakes"));
    }
}
