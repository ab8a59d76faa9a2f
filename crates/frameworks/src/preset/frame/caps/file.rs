//! Reads a caps file: a framework described as data.

use serde::Deserialize;

use super::counts::Count;
use super::host::HostEntry;
use crate::framework::{Build, Framework, Holds, Parameter, Trap};
use crate::preset::frame::{Action, Recipe, Settings, SettingsError};

/// When a cap is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum When {
    /// Before each request, including the one that would follow the end of the recording.
    BeforeRequest,
    /// Before the request is sent, with its input tokens already counted.
    CountedAhead,
    /// Once the reply and its cost are known.
    AfterReply,
    /// After that, before its tools run, if it asks for any.
    BeforeTools,
    /// At each call of the reply, in order.
    EachCall,
    /// When the framework's run ends on its own.
    EndOfRun,
}

/// How a reading is compared with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Comparator {
    /// `reading >= limit`.
    AtLeast,
    /// `reading > limit`.
    MoreThan,
}

impl Comparator {
    pub(super) fn holds(self, reading: f64, limit: f64) -> bool {
        match self {
            Self::AtLeast => reading >= limit,
            Self::MoreThan => reading > limit,
        }
    }
}

/// Which limits switch a cap off; an absent one (`null`) always does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Off {
    /// Only an absent one.
    #[default]
    Absent,
    /// Also 0 and negative limits.
    NotPositive,
}

/// A framework whose rules are caps.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapsFile {
    id: String,
    version: String,
    source: String,
    summary: String,
    manual: String,
    rules: Vec<String>,
    parameter: Vec<ParameterEntry>,
    /// The `parameter` entries, declared like every framework's parameters.
    #[serde(skip)]
    parameters: &'static [Parameter],
    pub(super) run: RunEntry,
    host: HostEntry,
    #[serde(default)]
    pub(super) cap: Vec<CapEntry>,
    #[serde(default)]
    pub(super) tool_stop: Vec<ToolStopEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterEntry {
    name: String,
    default: String,
    #[serde(default)]
    off: String,
    doc: String,
    #[serde(default)]
    trap: Vec<TrapEntry>,
}

/// A trap for numbers up to a maximum.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrapEntry {
    at_most: f64,
    words: String,
}

impl ParameterEntry {
    /// The declared parameter. Its strings are leaked, because they are needed for the life of the program.
    fn declared(self) -> Parameter {
        let name: &'static str = self.name.leak();
        let trap = |trap: TrapEntry| Trap { about: name, holds: Holds::AtMost(trap.at_most), words: trap.words.leak() };
        Parameter {
            name,
            default: self.default.leak(),
            cases: &[],
            off: self.off.leak(),
            doc: self.doc.leak(),
            traps: self.trap.into_iter().map(trap).collect::<Vec<_>>().leak(),
        }
    }
}

/// What starts and ends a run of the framework.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunEntry {
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
    /// A call of this tool, if the switch `when` is on.
    Tool { tool: String, when: String },
    /// A command.
    Command { command: String },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CapEntry {
    pub(super) rule: String,
    pub(super) counts: Count,
    pub(super) when: When,
    pub(super) fires: Comparator,
    /// The parameter that holds the limit; without one, the limit is 0.
    pub(super) limit: Option<String>,
    #[serde(default)]
    pub(super) off: Off,
    /// The cap is on only if one of these parameters is set.
    #[serde(default)]
    pub(super) if_any_set: Vec<String>,
    pub(super) action: ActionName,
    pub(super) code: String,
    pub(super) detail: Option<String>,
    pub(super) instead: Option<InsteadEntry>,
}

/// The action taken instead if a parameter is set; it ends the run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InsteadEntry {
    pub(super) if_set: String,
    pub(super) action: ActionName,
    pub(super) code: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolStopEntry {
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

/// An action, named as in tables.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ActionName {
    Warn,
    Deny,
    ForceFinal,
    Stop,
    Fail,
}

impl From<ActionName> for Action {
    fn from(name: ActionName) -> Self {
        match name {
            ActionName::Warn => Self::Warn,
            ActionName::Deny => Self::Deny,
            ActionName::ForceFinal => Self::ForceFinal,
            ActionName::Stop => Self::Stop,
            ActionName::Fail => Self::Fail,
        }
    }
}

impl CapsFile {
    /// Parses a file that is embedded in the program.
    #[expect(clippy::missing_panics_doc, reason = "embedded files are read by a test")]
    pub fn embedded(text: &str) -> Self {
        let mut file: Self = toml::from_str(text).expect("embedded caps files are valid, which a test checks");
        let declared = std::mem::take(&mut file.parameter).into_iter().map(ParameterEntry::declared);
        file.parameters = declared.collect::<Vec<_>>().leak();
        file
    }

    /// The parameter with that name.
    pub(super) fn parameter(&self, name: &str) -> Result<&'static Parameter, SettingsError> {
        let found = self.parameters.iter().find(|parameter| parameter.name == name);
        found.ok_or_else(|| SettingsError::unknown(name, self.parameters))
    }

    /// The framework. Its strings are leaked, because the embedded file is needed for the life of the program.
    pub(in crate::preset) fn framework(
        &'static self,
        build: fn(&Settings) -> Result<Recipe, SettingsError>,
    ) -> Framework {
        let rules: Vec<&'static str> = self.rules.iter().map(String::as_str).collect();
        Framework {
            id: &self.id,
            version: &self.version,
            source: &self.source,
            summary: &self.summary,
            manual: &self.manual,
            parameters: self.parameters,
            rules: rules.leak(),
            host: self.host.host(),
            build: Build::Machine(build),
            ..Framework::PRESET
        }
    }
}
