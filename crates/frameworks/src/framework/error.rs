//! Why settings are rejected, and which part of a stack file is at fault.

use serde_json::Value;

use super::Parameter;
use crate::diagnostic::{Diagnostic, Location, did_you_mean, nearest};

/// Rejected settings: what is wrong, where (if known), and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct SettingsError {
    /// The message. Its location is in the native configuration, or empty; its help may be empty, in which case the
    /// caller fills it in.
    pub error: Diagnostic,
    /// The part of the stack file it is about.
    pub about: ErrorSubject,
}

/// The part of a stack file that an error is about, so that a caller who has the file can locate it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorSubject {
    /// The native configuration; the error gives the place in it.
    Config,
    /// The profile.
    Profile,
    /// The name of a parameter.
    Name(Box<str>),
    /// The value of a parameter, or the entry of this name inside a table.
    Value(Box<str>),
    /// The settings as a whole, rejected by the framework's own validation: its error type and message.
    Refused(Box<[String; 2]>),
}

impl SettingsError {
    /// An error about the native configuration.
    pub fn new(at: Location, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { error: Diagnostic::new(at, what, help), about: ErrorSubject::Config }
    }

    fn about(about: ErrorSubject, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { error: Diagnostic::new(Location::default(), what, help), about }
    }

    /// An unknown parameter name, with the nearest known one as a suggestion.
    pub fn unknown(name: &str, known: &[Parameter]) -> Self {
        let help = did_you_mean(nearest(name, known.iter().map(|parameter| parameter.name)), "");
        Self::about(ErrorSubject::Name(name.into()), format!("unknown parameter `{name}`"), help)
    }

    /// An unknown profile.
    pub(super) fn profile(asked: &str, known: &[&str]) -> Self {
        let help = if known.is_empty() { "it has no profiles: leave it out".to_owned() } else { one_of(asked, known) };
        Self::about(ErrorSubject::Profile, format!("unknown profile `{asked}`"), help)
    }

    /// A value of the right kind that is not accepted; `help` says which values are.
    pub fn value(parameter: &Parameter, got: &Value, help: impl Into<String>) -> Self {
        let what = format!("parameter `{}` cannot be `{got}`", parameter.name);
        Self::about(ErrorSubject::Value(parameter.name.into()), what, help)
    }

    /// A rejection by the framework's own validation: its error type and message.
    pub fn refused(code: impl Into<String>, detail: impl Into<String>) -> Self {
        let (code, detail) = (code.into(), detail.into());
        let what = format!("the framework refuses this configuration: {code}: {detail}");
        Self::about(ErrorSubject::Refused(Box::new([code, detail])), what, "")
    }
}

/// The error for a value of the wrong kind.
pub(crate) fn wrong_kind(parameter: &str, expected: &str, got: &Value) -> SettingsError {
    let what = format!("parameter `{parameter}` must be {expected}, not `{got}`");
    SettingsError::about(ErrorSubject::Value(parameter.into()), what, "")
}

/// Help text that names the nearest of `known`, then lists them all.
pub(super) fn one_of(asked: &str, known: &[&str]) -> String {
    let all = format!("known: {}", known.join(", "));
    if let Some(near) = nearest(asked, known.iter().copied()) { format!("did you mean `{near}`? {all}") } else { all }
}
