//! Why a run ended and, separately, whether it did its task.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Point;

/// Whether the run did its task. Three-valued: an unlabelled run is not a failed one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The recorded result was graded a success.
    Success,
    /// The recorded result was graded a failure.
    Failure,
    /// The run was not graded.
    #[default]
    Unknown,
}

impl Outcome {
    /// Converts an optional grade; `None` becomes [`Self::Unknown`].
    pub fn from_grade(success: Option<bool>) -> Self {
        match success {
            Some(true) => Self::Success,
            Some(false) => Self::Failure,
            None => Self::Unknown,
        }
    }

    /// `Some(true)` for success, `Some(false)` for failure, `None` for unknown.
    pub fn grade(self) -> Option<bool> {
        match self {
            Self::Success => Some(true),
            Self::Failure => Some(false),
            Self::Unknown => None,
        }
    }

    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why the recording ends. This is never an outcome: a submitted answer can be wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EndCause {
    /// The agent, or the user, considered the task finished.
    SelfFinish,
    /// A limit on steps, messages, tokens or cost in the harness that made the recording.
    Cap,
    /// A time limit.
    Timeout,
    /// A crash of the agent, the environment or the provider.
    Error,
    /// A person stopped it.
    Killed,
    /// The recording does not say.
    #[default]
    Unknown,
}

impl EndCause {
    /// All causes in table order.
    pub const ALL: [Self; 6] = [Self::SelfFinish, Self::Cap, Self::Timeout, Self::Error, Self::Killed, Self::Unknown];

    /// The name used in traces, labels and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::SelfFinish => "self_finish",
            Self::Cap => "cap",
            Self::Timeout => "timeout",
            Self::Error => "error",
            Self::Killed => "killed",
            Self::Unknown => "unknown",
        }
    }

    /// True when the recording was cut off although the agent would have gone on.
    pub fn is_censoring(self) -> bool {
        matches!(self, Self::Cap | Self::Timeout | Self::Killed)
    }
}

impl fmt::Display for EndCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for EndCause {
    type Err = ();
    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|cause| cause.name() == name).ok_or(())
    }
}

/// Where a run's outcome came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutcomeSource {
    /// There is no outcome.
    #[default]
    None,
    /// A field of the recording itself, by name.
    Native(&'static str),
    /// A sidecar file: its path, as given.
    Sidecar(String),
    /// A marker in the recording that serves as a proxy for a grade, by name.
    Proxy(&'static str),
}

/// The first point at which stopping would have kept the success (`s` in the formulas).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Secured {
    /// Known from checkpoints, a label or a metric goal.
    At(Point),
    /// The run never reached a success.
    Never,
    /// The run succeeded, but it is not known since when. Any earlier stop counts as a false early stop and is reported
    /// separately as unverified.
    Unverified,
    /// The outcome is unknown.
    Unknown,
}
