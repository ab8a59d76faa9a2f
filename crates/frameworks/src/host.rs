//! What a framework's own configuration can express of a stack, as data next to the framework's rules: the table
//! `[host]` of its file.
//!
//! A [`ClauseSlot`] is one parameter and the clause it can hold: the signal, the moment the framework checks it, the
//! comparison, and what happens on a hit. This module knows nothing of stacks; [`crate::export`] brings the two
//! together.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::keyword::word;
use crate::transcript::{Moment, named};

/// Pairs of a name and a value, in order.
pub type Pairs = Vec<(String, String)>;

/// A framework as an export target for stacks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExportTarget {
    /// Where the snippet belongs: a file name, or a place in a program.
    pub file: String,
    /// The language of the snippet.
    #[serde(deserialize_with = "word")]
    pub syntax: Syntax,
    /// The snippet. `<<name>>` is replaced by the value of a parameter, and a line that names an unset one is omitted;
    /// `<<?name>>` only names it; `<<*name*, >>` is replaced by the items of a list, joined by the text after the second
    /// star. Empty means that the settings themselves are written as a nested table.
    pub template: String,
    /// Parameters whose path in the host's file differs from their name in the manual, as pairs (name, path).
    pub paths: Pairs,
    /// The clauses it can hold.
    #[serde(rename = "slot", deserialize_with = "slots")]
    pub slots: Vec<ClauseSlot>,
    /// Parameters that switch off the framework's own rules, with their values as JSON. Only an export that asks for it
    /// sets them, and a slot's own value takes precedence.
    pub quiet: Pairs,
    /// What still acts or is not seen, as sentences: rows are the same only on runs where this does not matter.
    pub also: Vec<String>,
    /// Why clauses on signals with this name prefix cannot be held; the empty prefix matches all others.
    pub cannot: Pairs,
    /// The profile of our rules that corresponds to this host.
    pub profile: Option<String>,
    /// What the reader of the snippet should know.
    pub note: String,
    /// When it tells its agent of a limit on steps, and where in its source that was seen; `None` if nobody looked.
    pub tells: Option<(String, String)>,
    /// Whether its settings are read from a native file (JSON) instead of a stack file's `set`.
    pub reads_file: bool,
    /// Additional parameters a stack file needs to replay it, with values as JSON; not part of the snippet.
    pub options: Pairs,
}

/// One parameter and the clause it can hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClauseSlot {
    /// The signal it limits, by its name in stack files.
    pub signal: String,
    /// The moment at which the framework checks it.
    #[serde(deserialize_with = "word")]
    pub at: Moment,
    /// The name of the parameter in the settings, or of the list that holds its item.
    pub parameter: String,
    /// The item to put into the parameter's list: as JSON, then as written in the snippet, with `$` for the value.
    pub item: Option<(String, String)>,
    /// When the count resets.
    #[serde(default, deserialize_with = "word")]
    pub counts: CountReset,
    /// How the reading is compared with the parameter.
    #[serde(default, deserialize_with = "word")]
    pub fires: Fires,
    /// The parameter is the clause's limit plus this.
    #[serde(default)]
    pub plus: i64,
    /// Its least value; by default 1, and of an amount 0.
    pub least: Option<f64>,
    /// Its greatest value; by default there is none.
    pub most: Option<f64>,
    /// Whether it need not be a whole number.
    #[serde(default)]
    pub amount: bool,
    /// What happens when it fires.
    #[serde(default, deserialize_with = "word")]
    pub action: Does,
    /// The error with which it fails; empty if it does not.
    #[serde(default)]
    pub error: String,
    /// How it differs from the clause, as a sentence; such a slot is never exact.
    pub differs: Option<String>,
    /// Other settings without which it would not hold the clause.
    #[serde(default)]
    pub with: Pairs,
}

/// Reads slots: one with the action `fail` has an error, and no other has one.
fn slots<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ClauseSlot>, D::Error> {
    let slots = Vec::<ClauseSlot>::deserialize(deserializer)?;
    match slots.iter().find(|slot| (slot.action == Does::Fail) == slot.error.is_empty()) {
        Some(slot) => {
            let name = &slot.parameter;
            let words = format!("`error` and `action = \"fail\"` go together, and `{name}` has only one of them");
            Err(D::Error::custom(words))
        }
        None => Ok(slots),
    }
}

named! {
    /// When a framework's count resets.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum CountReset {
        /// Never: it counts over the whole session.
        Session = "session",
        /// At each prompt.
        #[default]
        Prompt = "prompt",
    }
}

named! {
    /// How a reading is compared with a parameter.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Fires {
        /// `reading >= parameter`
        #[default]
        AtLeast = "at_least",
        /// `reading > parameter`
        MoreThan = "more_than",
        /// The parameter is a tool's name, and the reading is 1 if that tool was called.
        Named = "named",
    }
}

named! {
    /// What happens to the run when a slot fires.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Does {
        /// Ends it normally.
        #[default]
        Stop = "stop",
        /// Ends it with an error.
        Fail = "fail",
        /// Asks the model for one last answer.
        LastAnswer = "force_final",
        /// Refuses the call; the run goes on.
        Refuse = "deny",
    }
}

named! {
    /// The language of a snippet.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Syntax {
        /// Python.
        #[default]
        Python = "python",
        /// JavaScript or TypeScript.
        JavaScript = "javascript",
        /// JSON, which has no comments.
        Json = "json",
        /// TOML.
        Toml = "toml",
        /// YAML.
        Yaml = "yaml",
        /// A command line.
        Shell = "shell",
    }
}

impl ExportTarget {
    /// When it tells its agent of a limit on steps, as a sentence with its source.
    pub fn tells_of_limit(&self) -> String {
        match &self.tells {
            Some((when, source)) => format!("tells its agent of a limit on steps: {when} ({source})"),
            None => "tells its agent of a limit on steps: not known here".to_owned(),
        }
    }

    /// Why a clause on `signal` cannot be held, in the framework's terms; `None` if no reason is recorded.
    pub fn why_not(&self, signal: &str) -> Option<&str> {
        let named = self.cannot.iter().find(|(name, _)| !name.is_empty() && signal.starts_with(name));
        named.or_else(|| self.cannot.iter().find(|(name, _)| name.is_empty())).map(|(_, why)| why.as_str())
    }
}

impl ClauseSlot {
    /// The least and greatest value of its parameter.
    pub fn range(&self) -> (f64, f64) {
        let least = if self.amount { 0.0 } else { 1.0 };
        (self.least.unwrap_or(least), self.most.unwrap_or(f64::INFINITY))
    }
}
