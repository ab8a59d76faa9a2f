//! The words and entries of `framework.toml` that describe caps.

use serde::Deserialize;

use super::counts::CountedQuantity;
use crate::framework::Parameter;
use crate::keyword::word;
use crate::preset::frame::{Action, SettingsError};
use crate::transcript::named;

named! {
    /// When a cap is checked.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum When {
        /// Before each request, including the one that would follow the end of the recording.
        BeforeRequest = "before_request",
        /// Before the request is sent, with its input tokens already counted.
        CountedAhead = "counted_ahead",
        /// Once the reply and its cost are known.
        AfterReply = "after_reply",
        /// After that, before its tools run, if it asks for any.
        BeforeTools = "before_tools",
        /// At each call of the reply, in order.
        EachCall = "each_call",
        /// When the framework's run ends on its own.
        EndOfRun = "end_of_run",
    }
}

named! {
    /// How a reading is compared with a limit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum CapComparator {
        /// `reading >= limit`.
        AtLeast = "at_least",
        /// `reading > limit`.
        MoreThan = "more_than",
    }
}

impl CapComparator {
    pub(super) fn holds(self, reading: f64, limit: f64) -> bool {
        match self {
            Self::AtLeast => reading >= limit,
            Self::MoreThan => reading > limit,
        }
    }
}

/// The caps of a framework, as they are written, and its parameters.
#[derive(Debug)]
pub struct Caps {
    pub(in crate::preset) parameters: &'static [Parameter],
    pub(in crate::preset) run: RunEntry,
    pub(in crate::preset) cap: Vec<CapEntry>,
    pub(in crate::preset) tool_stop: Vec<ToolStopEntry>,
}

/// What starts and ends a run of the framework.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::preset) struct RunEntry {
    /// Each user message starts a run.
    pub(super) by_user: bool,
    /// The parameter that keeps counters across runs.
    pub(super) shared_by: Option<String>,
    /// The parameter that lists tools whose calls are not counted.
    pub(super) uncounted_tools: Option<String>,
    #[serde(default)]
    pub(super) end: Vec<EndEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum EndEntry {
    /// `text` ends the run at a reply without calls; `said` only if that reply has text.
    Reply { reply: String },
    /// A call of this tool, if the switch `when` is on, unless it or another call of the reply failed: then the model is
    /// asked again. A call of a nonexistent tool does not count as a failure.
    Tool { tool: String, when: String },
    /// A command that begins with this text, or a result that does.
    Command { command: String },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::preset) struct CapEntry {
    pub(super) rule: String,
    #[serde(deserialize_with = "word")]
    pub(super) counts: CountedQuantity,
    #[serde(deserialize_with = "word")]
    pub(super) when: When,
    #[serde(deserialize_with = "word")]
    pub(super) fires: CapComparator,
    /// The parameter that holds the limit; without one, the limit is 0.
    pub(super) limit: Option<String>,
    /// Whether limits of 0 and below switch it off, too; an absent one (`null`) always does.
    #[serde(default)]
    pub(super) zero_is_off: bool,
    /// The cap is on only if one of these parameters is set.
    #[serde(default)]
    pub(super) if_any_set: Vec<String>,
    #[serde(deserialize_with = "word")]
    pub(super) action: Action,
    pub(super) code: String,
    pub(super) detail: Option<String>,
    pub(super) instead: Option<InsteadEntry>,
}

/// The action taken instead if a parameter is set; it ends the run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InsteadEntry {
    pub(super) if_set: String,
    #[serde(deserialize_with = "word")]
    pub(super) action: Action,
    pub(super) code: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::preset) struct ToolStopEntry {
    pub(super) rule: String,
    /// The parameter that lists the tools.
    pub(super) tools: Option<String>,
    /// Any tool ends the run if this switch is on.
    pub(super) any_if: Option<SwitchEntry>,
    pub(super) code: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SwitchEntry {
    pub(super) parameter: String,
    pub(super) equals: Option<String>,
}

impl Caps {
    /// The parameter with that name.
    pub(super) fn parameter(&self, name: &str) -> Result<&'static Parameter, SettingsError> {
        let found = self.parameters.iter().find(|parameter| parameter.name == name);
        found.ok_or_else(|| SettingsError::unknown(name, self.parameters))
    }
}

impl RunEntry {
    /// The parameters that it names.
    pub(in crate::preset) fn parameters(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        names.extend(self.shared_by.as_deref());
        names.extend(self.uncounted_tools.as_deref());
        for end in &self.end {
            if let EndEntry::Tool { when, .. } = end {
                names.push(when);
            }
        }
        names
    }
}

impl CapEntry {
    /// The parameters that it names.
    pub(in crate::preset) fn parameters(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.if_any_set.iter().map(String::as_str).collect();
        names.extend(self.limit.as_deref());
        names.extend(self.instead.as_ref().map(|instead| instead.if_set.as_str()));
        names
    }
}

impl ToolStopEntry {
    /// The parameters that it names.
    pub(in crate::preset) fn parameters(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        names.extend(self.tools.as_deref());
        names.extend(self.any_if.as_ref().map(|switch| switch.parameter.as_str()));
        names
    }
}
