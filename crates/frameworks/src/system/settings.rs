//! What a system is built from: its native configuration and the options of the stack file.

use std::ops::Range;

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
        serde_json::from_str(&self.text)
            .map_err(|error| self.json_error(&error, "not JSON", "this system's configuration is JSON"))
    }

    /// What serde_json says of the text, at its place.
    pub fn json_error(&self, error: &serde_json::Error, what: &str, help: &str) -> ConfigError {
        let before: usize = self.text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let at = before + error.column().saturating_sub(1);
        let message = message_of(error);
        // Of an unknown name serde tells the end of what it stands in.
        let named = ["unknown field `", "unknown variant `"].iter().find_map(|start| message.strip_prefix(start));
        let name = named.and_then(|rest| rest.split('`').next());
        let span = name.and_then(|name| self.key(name, 0..self.text.len())).unwrap_or(at..at);
        self.error_in(span, format!("{what}: {message}"), help)
    }

    /// The text as TOML, in JSON's terms (times become text).
    pub fn toml(&self) -> Result<Value, ConfigError> {
        toml::from_str(&self.text).map_err(|error| {
            let what = format!("not TOML: {}", error.message().lines().next().unwrap_or_default());
            self.error_in(error.span().unwrap_or(0..0), what, "compare the example in the manual")
        })
    }

    /// An error about the whole file.
    pub fn error(&self, what: impl Into<String>, help: impl Into<String>) -> ConfigError {
        ConfigError::new(Location::file(&self.path), what, help)
    }

    /// An error at the first key called `word` in the file, or about the whole file.
    pub fn error_at(&self, word: &str, what: impl Into<String>, help: impl Into<String>) -> ConfigError {
        match self.key(word, 0..self.text.len()) {
            Some(span) => self.error_in(span, what, help),
            None => self.error(what, help),
        }
    }

    /// An error about bytes of the file.
    pub fn error_in(&self, span: Range<usize>, what: impl Into<String>, help: impl Into<String>) -> ConfigError {
        ConfigError(Diagnostic::in_text(&self.path, &self.text, span, what, help), About::Config)
    }

    /// Where the word stands in these bytes of the text: as a whole word if it does, so that `max` is not found in
    /// `maximum`, else as a part of one.
    pub fn key(&self, word: &str, within: Range<usize>) -> Option<Range<usize>> {
        let start = within.start;
        let part = self.text.get(within).filter(|_| !word.is_empty())?;
        let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let whole = |at: &usize| {
            !part[..*at].chars().next_back().is_some_and(is_letter)
                && !part[*at + word.len()..].chars().next().is_some_and(is_letter)
        };
        let at = part.match_indices(word).map(|(at, _)| at).find(whole).or_else(|| part.find(word))?;
        Some(start + at..start + at + word.len())
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
            ConfigError::about(About::Profile, format!("unknown profile `{asked}`"), help)
        })
    }

    /// Refuses options that are not among `known`.
    pub fn refuse_unknown(&self, known: &'static [&'static str]) -> Result<(), ConfigError> {
        match self.set.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let help = did_you_mean(key, known);
                Err(ConfigError::about(About::Option(key.as_str().into()), format!("unknown option `{key}`"), help))
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
        ConfigError::about(About::Value(key.into()), format!("bad value `{value}` of option `{key}`"), help)
    }
}

/// Advice naming the nearest of `known`, or all of them.
fn did_you_mean(asked: &str, known: &'static [&'static str]) -> String {
    nearest(asked, known.iter().copied()).map_or_else(
        || format!("known: {}", known.join(", ")),
        |near| format!("did you mean `{near}`? known: {}", known.join(", ")),
    )
}

/// What of a stack file an error is about, so that whoever has the file can say where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// The native configuration; the error says where in it.
    Config,
    /// The profile.
    Profile,
    /// The name of an option.
    Option(Box<str>),
    /// The value of an option.
    Value(Box<str>),
}

/// A configuration that was refused: what, where, how to fix it; and what of the stack file it is about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub Diagnostic, pub About);

impl ConfigError {
    /// An error about the native configuration.
    pub fn new(at: Location, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self(Diagnostic::new(at, what, help), About::Config)
    }

    /// An error about a part of the stack file.
    fn about(about: About, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self(Diagnostic::new(Location::default(), what, help), about)
    }
}
