//! The text of a framework's native configuration file, with errors located in it.

use std::ops::Range;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{ErrorSubject, SettingsError};
use crate::diagnostic::{Diagnostic, Location};

/// A native configuration file, already read: this crate does no file access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigText {
    /// The path as the user gave it.
    pub path: String,
    /// The file's contents.
    pub text: String,
}

impl ConfigText {
    /// Parses the text as JSON.
    pub fn json(&self) -> Result<Value, SettingsError> {
        serde_json::from_str(&self.text)
            .map_err(|error| self.json_error(&error, "not JSON", "this system's configuration is JSON"))
    }

    /// A `serde_json` error as a settings error at its place in the text.
    pub fn json_error(&self, error: &serde_json::Error, what: &str, help: &str) -> SettingsError {
        let before: usize = self.text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let at = before + error.column().saturating_sub(1);
        let message = message_of(error);
        // For an unknown name, serde reports the end of the enclosing value; search for the name instead.
        let span = self.unknown_name(&message).unwrap_or(at..at);
        self.error_in(span, format!("{what}: {message}"), help)
    }

    fn unknown_name(&self, message: &str) -> Option<Range<usize>> {
        let rest = message.strip_prefix("unknown field `").or(message.strip_prefix("unknown variant `"))?;
        self.key(rest.split('`').next()?, 0..self.text.len())
    }

    /// Parses the text as TOML into a JSON value (times become strings).
    pub fn toml(&self) -> Result<Value, SettingsError> {
        toml::from_str(&self.text).map_err(|error| {
            let what = format!("not TOML: {}", error.message().lines().next().unwrap_or_default());
            self.error_in(error.span().unwrap_or(0..0), what, "compare the example in the manual")
        })
    }

    /// Parses the text as a table in JSON, which begins with a brace, or in TOML.
    pub fn table(&self) -> Result<Map<String, Value>, SettingsError> {
        let value = if self.text.trim_start().starts_with('{') { self.json()? } else { self.toml()? };
        match value {
            Value::Object(values) => Ok(values),
            _ => Err(self.error("the configuration is no table", "compare the example in the manual")),
        }
    }

    /// An error about the whole file.
    pub fn error(&self, what: impl Into<String>, help: impl Into<String>) -> SettingsError {
        SettingsError::new(Location::file(&self.path), what, help)
    }

    /// An error at the first occurrence of the key `word`, or about the whole file if it does not occur.
    pub fn error_at(&self, word: &str, what: impl Into<String>, help: impl Into<String>) -> SettingsError {
        match self.key(word, 0..self.text.len()) {
            Some(span) => self.error_in(span, what, help),
            None => self.error(what, help),
        }
    }

    /// An error about the bytes `span` of the file.
    pub fn error_in(&self, span: Range<usize>, what: impl Into<String>, help: impl Into<String>) -> SettingsError {
        SettingsError {
            error: Diagnostic::in_text(&self.path, &self.text, span, what, help),
            about: ErrorSubject::Config,
        }
    }

    /// Finds `word` in these bytes of the text: as a whole word if possible, so that `max` is not found in `maximum`,
    /// else as part of a longer one.
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

/// What is in a TOML file of this crate, which a test reads. By way of a JSON value, because TOML's own deserializer compiles
/// three copies of each type.
pub(crate) fn own_file<T: DeserializeOwned>(text: &str) -> T {
    let file: Value = toml::from_str(text).expect("a test reads the file");
    serde_json::from_value(file).expect("a test reads the file")
}

/// The parser's message without the position, which the location already gives.
fn message_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}
