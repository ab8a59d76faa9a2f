//! Why settings are refused, and what of a stack file that is about.

use serde_json::Value;

use super::Parameter;
use crate::diagnostic::{Diagnostic, Location, nearest};

/// Settings that are refused: what is wrong, where it is known, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct SettingsError {
    /// What is said. Its place is in the native configuration, or nowhere; its help may be left to whoever knows the
    /// framework.
    pub error: Diagnostic,
    /// What of the stack file it is about.
    pub about: About,
}

/// What of a stack file an error is about, so that whoever has the file can say where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// The native configuration; the error says where in it.
    Config,
    /// The profile.
    Profile,
    /// The name of a parameter.
    Name(Box<str>),
    /// The value of a parameter, or what stands in it under this name.
    Value(Box<str>),
    /// The settings as a whole, which the framework itself refuses: its error type and its words.
    Refused(Box<[String; 2]>),
}

impl SettingsError {
    /// An error about the native configuration.
    pub fn new(at: Location, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { error: Diagnostic::new(at, what, help), about: About::Config }
    }

    fn about(about: About, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { error: Diagnostic::new(Location::default(), what, help), about }
    }

    /// No such parameter.
    pub fn unknown(name: &str, known: &[Parameter]) -> Self {
        let near = nearest(name, known.iter().map(|parameter| parameter.name));
        let help = near.map(|near| format!("did you mean `{near}`?")).unwrap_or_default();
        Self::about(About::Name(name.into()), format!("unknown parameter `{name}`"), help)
    }

    /// No such profile.
    pub(super) fn profile(asked: &str, known: &[&str]) -> Self {
        let help = if known.is_empty() { "it has no profiles: leave it out".to_owned() } else { one_of(asked, known) };
        Self::about(About::Profile, format!("unknown profile `{asked}`"), help)
    }

    /// A value of the wrong kind.
    pub fn kind(parameter: &str, expected: &str, got: &Value) -> Self {
        let what = format!("parameter `{parameter}` must be {expected}, not `{got}`");
        Self::about(About::Value(parameter.into()), what, "")
    }

    /// A value that is refused here; `help` says what is taken.
    pub fn value(parameter: &Parameter, got: &Value, help: impl Into<String>) -> Self {
        let what = format!("parameter `{}` cannot be `{got}`", parameter.name);
        Self::about(About::Value(parameter.name.into()), what, help)
    }

    /// The framework's own refusal: its error type, and its words.
    pub fn refused(code: impl Into<String>, detail: impl Into<String>) -> Self {
        let (code, detail) = (code.into(), detail.into());
        let what = format!("the framework refuses this configuration: {code}: {detail}");
        Self::about(About::Refused(Box::new([code, detail])), what, "")
    }
}

/// Advice naming the nearest of `known`, and all of them.
pub(super) fn one_of(asked: &str, known: &[&str]) -> String {
    let all = format!("known: {}", known.join(", "));
    nearest(asked, known.iter().copied()).map_or(all.clone(), |near| format!("did you mean `{near}`? {all}"))
}
