//! The settings a framework is built from, under its own parameter names.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::error::{one_of, wrong_kind};
use super::{Case, ConfigText, Parameter, SettingsError};

/// The settings of one strategy of a framework.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The strategy's name, as shown in tables.
    pub name: String,
    /// The profile (documented, shipped …); `None` means the first one the framework lists.
    pub profile: Option<String>,
    /// The native configuration; `None` means the framework's defaults.
    pub config: Option<ConfigText>,
    /// Parameters by name; nested ones are dotted or given as tables.
    pub set: Map<String, Value>,
}

impl Settings {
    /// Settings with a name and nothing else.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// True if the profile `name` was asked for.
    pub fn is_profile(&self, name: &str) -> bool {
        self.profile.as_deref() == Some(name)
    }

    /// The given value of a parameter; nested ones are found by dotted name or inside tables.
    pub fn get(&self, name: &str) -> Option<&Value> {
        setting(&self.set, name)
    }

    /// True if any of these parameters is given.
    pub fn gives(&self, parameters: &[&Parameter]) -> bool {
        parameters.iter().any(|parameter| self.get(parameter.name).is_some())
    }

    /// The default of a parameter under these settings, as declared.
    fn written(&self, parameter: &Parameter) -> &'static str {
        let holds = |case: &Case| match case {
            Case::In(profile) => self.is_profile(profile),
            Case::When(other, value) => *self.value(other) == Parameter::value_of(value),
        };
        let case = parameter.cases.iter().find(|(case, _)| holds(case));
        if let Some((_, default)) = case { default } else { parameter.default }
    }

    /// The default of a parameter under these settings.
    pub fn default_of(&self, parameter: &Parameter) -> Value {
        Parameter::value_of(self.written(parameter))
    }

    /// The value in force: the given one (even null), or the default.
    pub fn value(&self, parameter: &Parameter) -> Cow<'_, Value> {
        if let Some(value) = self.get(parameter.name) {
            Cow::Borrowed(value)
        } else {
            Cow::Owned(self.default_of(parameter))
        }
    }

    /// The value in force, with null treated as absent: the given one, or the default.
    pub fn in_force(&self, parameter: &Parameter) -> Cow<'_, Value> {
        match self.get(parameter.name) {
            None | Some(Value::Null) => Cow::Owned(self.default_of(parameter)),
            Some(value) => Cow::Borrowed(value),
        }
    }

    /// The number in force, or NaN if it is not a number, so that every comparison is false.
    pub fn amount(&self, parameter: &Parameter) -> f64 {
        self.in_force(parameter).as_f64().unwrap_or(f64::NAN)
    }

    /// The whole number in force; the default if absent or null.
    pub fn int(&self, parameter: &Parameter) -> Result<i64, SettingsError> {
        let value = self.in_force(parameter);
        whole(&value).ok_or_else(|| wrong_kind(parameter.name, "a whole number", &value))
    }

    /// The number in force; the default if absent or null.
    pub fn number(&self, parameter: &Parameter) -> Result<f64, SettingsError> {
        let value = self.in_force(parameter);
        value.as_f64().ok_or_else(|| wrong_kind(parameter.name, "a number", &value))
    }

    /// The whole number in force, or `None` for no limit (`null`; in TOML `"none"` or `false`); the default if absent.
    pub fn opt_int(&self, parameter: &Parameter) -> Result<Option<i64>, SettingsError> {
        if is_none(&self.value(parameter)) { Ok(None) } else { self.int(parameter).map(Some) }
    }

    /// The whole number in force; the default also if the value is given as none.
    pub fn int_or_default(&self, parameter: &Parameter) -> Result<i64, SettingsError> {
        if let Some(number) = self.opt_int(parameter)? {
            return Ok(number);
        }
        whole(&self.default_of(parameter)).ok_or_else(|| wrong_kind(parameter.name, "a whole number", &Value::Null))
    }

    /// The number in force, or `None` for no limit (`null`; in TOML `"none"` or `false`); the default if absent.
    pub fn opt_number(&self, parameter: &Parameter) -> Result<Option<f64>, SettingsError> {
        if is_none(&self.value(parameter)) { Ok(None) } else { self.number(parameter).map(Some) }
    }

    /// The switch in force; the default if absent or null.
    pub fn flag(&self, parameter: &Parameter) -> Result<bool, SettingsError> {
        let value = self.in_force(parameter);
        value.as_bool().ok_or_else(|| wrong_kind(parameter.name, "true or false", &value))
    }

    /// The text in force; the default if absent or null. `None` if the default is not a text.
    pub fn text(&self, parameter: &Parameter) -> Result<Option<&str>, SettingsError> {
        match self.get(parameter.name) {
            None | Some(Value::Null) => {
                Ok(self.written(parameter).strip_prefix('"').and_then(|text| text.strip_suffix('"')))
            }
            Some(value) => value.as_str().map(Some).ok_or_else(|| wrong_kind(parameter.name, "a text", value)),
        }
    }

    /// The given one of `words`; the default if absent or null.
    pub fn word(&self, parameter: &Parameter, words: &[&'static str]) -> Result<&'static str, SettingsError> {
        let value = self.in_force(parameter);
        let asked = value.as_str().unwrap_or_default();
        let found = words.iter().copied().find(|word| *word == asked);
        found.ok_or_else(|| SettingsError::value(parameter, &value, one_of(asked, words)))
    }

    /// A list of texts; the default if absent or null. A single text is a list of one.
    pub fn texts(&self, parameter: &Parameter) -> Result<Vec<String>, SettingsError> {
        match &*self.in_force(parameter) {
            Value::Null => Ok(Vec::new()),
            Value::String(one) => Ok(vec![one.clone()]),
            value => {
                let wrong = || wrong_kind(parameter.name, "a list of texts", value);
                let items = value.as_array().ok_or_else(wrong)?;
                items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
            }
        }
    }

    /// Checks that every given name is one of the parameters.
    pub fn check_names(&self, parameters: &[Parameter]) -> Result<(), SettingsError> {
        let mut paths = Vec::new();
        collect_paths(&self.set, "", parameters, &mut paths);
        for path in paths {
            if !parameters.iter().any(|parameter| parameter.name == path) {
                return Err(SettingsError::unknown(&path, parameters));
            }
        }
        Ok(())
    }
}

/// A whole number from 1 that fits 32 bits.
pub(crate) fn positive(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok().filter(|number| *number > 0)
}

/// A whole number, including one written with a fraction of 0.
fn whole(value: &Value) -> Option<i64> {
    let double = value.as_f64().filter(|double| double.fract() == 0.0 && double.abs() < 1e15);
    #[expect(clippy::cast_possible_truncation, reason = "whole and below 1e15, checked above")]
    value.as_i64().or(double.map(|double| double as i64))
}

/// "None", as written in JSON or in TOML (which has no null).
fn is_none(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false)) || value == "none"
}

/// The value of this name in nested tables, whose names may also stand in one with dots between them.
pub(crate) fn setting<'v>(table: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    if let Some(value) = table.get(name) {
        return Some(value);
    }
    name.match_indices('.').find_map(|(dot, _)| setting(table.get(&name[..dot])?.as_object()?, &name[dot + 1..]))
}

/// Dotted paths of the given settings, descending until a name is a parameter.
fn collect_paths(table: &Map<String, Value>, prefix: &str, parameters: &[Parameter], paths: &mut Vec<String>) {
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        let below = format!("{path}.");
        match value {
            Value::Object(inner) if parameters.iter().any(|parameter| parameter.name.starts_with(&below)) => {
                collect_paths(inner, &path, parameters, paths);
            }
            // A whole group of parameters set to null counts as absent.
            Value::Null if parameters.iter().any(|parameter| parameter.name.starts_with(&below)) => {}
            _ => paths.push(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::params;

    params! {
        MISTAKES: "execution.maxConsecutiveMistakes" = 6, off 0, "";
        STOP_WHEN: "stopWhen" = null, "";
    }

    fn settings(json: &str) -> Settings {
        Settings { set: serde_json::from_str(json).unwrap(), ..Settings::default() }
    }

    #[test]
    fn names_are_found_dotted_and_nested_and_misses_are_named() {
        for json in [r#"{"execution":{"maxConsecutiveMistakes":3}}"#, r#"{"execution.maxConsecutiveMistakes":3}"#] {
            let settings = settings(json);
            assert_eq!(settings.check_names(param::ALL), Ok(()));
            assert_eq!(settings.int(&param::MISTAKES), Ok(3));
        }
        assert_eq!(settings(r#"{"stopWhen":{"isStepCount":2}}"#).check_names(param::ALL), Ok(()));
        let miss = settings(r#"{"execution":{"maxConsecutiveMistake":3}}"#).check_names(param::ALL);
        let miss = miss.unwrap_err();
        assert_eq!(miss.to_string(), "unknown parameter `execution.maxConsecutiveMistake`");
        assert_eq!(miss.error.help, "did you mean `execution.maxConsecutiveMistakes`?");
    }
}
