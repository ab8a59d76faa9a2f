//! What a system is built from: its native configuration and the options of the stack file.

use serde_json::{Map, Value};

use super::Round;
use crate::diagnostic::{Diagnostic, Location, nearest};

/// A native configuration file, read by whoever may touch files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigText {
    /// The path, as the user gave it.
    pub path: String,
    /// What the file holds.
    pub text: String,
}

impl ConfigText {
    /// The text as JSON.
    pub fn json(&self) -> Result<Value, ConfigError> {
        serde_json::from_str(&self.text).map_err(|error| {
            let at = Location { path: self.path.clone(), line: error.line(), column: error.column() };
            ConfigError::new(at, format!("not JSON: {}", message_of(&error)), "this system's configuration is JSON")
        })
    }

    /// The text as TOML, in JSON's terms (times become text).
    pub fn toml(&self) -> Result<Value, ConfigError> {
        toml::from_str(&self.text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            let at = Location::in_text(&self.path, &self.text, offset);
            ConfigError::new(at, format!("not TOML: {}", error.message()), "compare the example in the manual")
        })
    }

    /// An error about the whole file.
    pub fn error(&self, what: impl Into<String>, help: impl Into<String>) -> ConfigError {
        ConfigError::new(Location::file(&self.path), what, help)
    }

    /// An error at the first occurrence of `word` in the file, or about the whole file.
    pub fn error_at(&self, word: &str, what: impl Into<String>, help: impl Into<String>) -> ConfigError {
        let at = self
            .text
            .find(word)
            .map_or_else(|| Location::file(&self.path), |offset| Location::in_text(&self.path, &self.text, offset));
        ConfigError::new(at, what, help)
    }
}

/// The parser's words without the place, which the location already says.
fn message_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

/// What a stack file says of a system.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The stack's name, as in tables.
    pub name: String,
    /// The profile; `None` takes the system's first.
    pub profile: Option<String>,
    /// The native configuration; `None` takes the system's defaults.
    pub config: Option<ConfigText>,
    /// Options of the stack file beside it.
    pub set: Map<String, Value>,
}

impl Settings {
    /// Settings with a name and nothing else.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The profile asked for, as one of `profiles`; the first when none is.
    pub fn profile_of(&self, profiles: &'static [&'static str]) -> Result<&'static str, ConfigError> {
        let Some(asked) = &self.profile else {
            return Ok(profiles.first().copied().unwrap_or(""));
        };
        profiles.iter().copied().find(|profile| profile == asked).ok_or_else(|| {
            let help = did_you_mean(asked, profiles);
            ConfigError::new(Location::default(), format!("unknown profile `{asked}`"), help)
        })
    }

    /// Refuses options that are not among `known`.
    pub fn refuse_unknown(&self, known: &'static [&'static str]) -> Result<(), ConfigError> {
        match self.set.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let help = did_you_mean(key, known);
                Err(ConfigError::new(Location::default(), format!("unknown option `{key}`"), help))
            }
        }
    }

    /// The option `round`, or the default.
    pub fn round(&self) -> Result<Round, ConfigError> {
        self.set.get("round").map_or(Ok(Round::default()), |value| {
            Round::from_json(value).ok_or_else(|| {
                self.bad_option("round", value, "`round` is \"prompt\", \"step\" or a number of steps from 1")
            })
        })
    }

    /// An option that must be one of a few words, or the first of them when it is absent.
    pub fn word(&self, key: &str, words: &'static [&'static str]) -> Result<&'static str, ConfigError> {
        let Some(value) = self.set.get(key) else {
            return Ok(words.first().copied().unwrap_or(""));
        };
        let asked = value.as_str().unwrap_or_default();
        words.iter().copied().find(|word| *word == asked).ok_or_else(|| {
            let help = did_you_mean(asked, words);
            self.bad_option(key, value, help)
        })
    }

    /// The error for an option's value.
    pub fn bad_option(&self, key: &str, value: &Value, help: impl Into<String>) -> ConfigError {
        ConfigError::new(Location::default(), format!("bad value `{value}` of option `{key}`"), help)
    }
}

/// Advice naming the nearest of `known`, or all of them.
fn did_you_mean(asked: &str, known: &'static [&'static str]) -> String {
    nearest(asked, known.iter().copied()).map_or_else(
        || format!("known: {}", known.join(", ")),
        |near| format!("did you mean `{near}`? known: {}", known.join(", ")),
    )
}

/// A configuration that was refused: what, where, how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub Diagnostic);

impl ConfigError {
    /// A new error.
    pub fn new(at: Location, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self(Diagnostic::new(at, what, help))
    }
}
