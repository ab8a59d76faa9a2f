//! How a run ended, and apart from that whether it did its task.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Point;

/// Did the run do its task? Three-valued: an unlabelled run is not a failed one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The recorded result was graded a success.
    Success,
    /// The recorded result was graded a failure.
    Failure,
    /// Nobody graded it.
    #[default]
    Unknown,
}

impl Outcome {
    /// A grade that may be absent.
    pub fn from_grade(success: Option<bool>) -> Self {
        match success {
            Some(true) => Self::Success,
            Some(false) => Self::Failure,
            None => Self::Unknown,
        }
    }

    /// `Some(true)` for success, `Some(false)` for failure.
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

/// Why the recording ends. Never an outcome: a submitted answer can be wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EndCause {
    /// The agent, or the person it served, considered it finished.
    SelfFinish,
    /// A step, message, token or cost limit of the recording's own harness.
    Cap,
    /// A time limit.
    Timeout,
    /// A crash of the agent, the environment or the provider.
    Error,
    /// Somebody stopped it.
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

    /// True when the recording stopped although the agent would have gone on.
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
    /// No outcome.
    #[default]
    None,
    /// A field of the recording itself, by name.
    Native(&'static str),
    /// A sidecar: its path, as given.
    Sidecar(String),
    /// A mark of the recording that stands in for a grade, by name.
    Proxy(&'static str),
}

/// The first point at which stopping would have kept the success (`s` in STATISTICS 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Secured {
    /// Known: from checkpoints, a label, or a metric goal.
    At(Point),
    /// The run never held a success.
    Never,
    /// The run succeeded, but nothing tells since when: any earlier stop counts as a false early
    /// stop, counted apart as unverified.
    Unverified,
    /// The outcome itself is unknown.
    Unknown,
}
