//! Why a run ended and, separately, whether it did its task.

use serde::{Deserialize, Serialize};

use super::{Point, named};

named! {
    /// Whether the run did its task. Three-valued: an unlabelled run is not a failed one.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Outcome {
        /// The recorded result was graded a success.
        Success = "success" => Some(true),
        /// The recorded result was graded a failure.
        Failure = "failure" => Some(false),
        /// The run was not graded.
        #[default]
        Unknown = "unknown" => None,
    }

    /// `Some(true)` for success, `Some(false)` for failure, `None` for unknown.
    pub fn grade() -> Option<bool>;
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
}

named! {
    /// Why the recording ends. This is never an outcome: a submitted answer can be wrong.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum EndCause {
        /// The agent, or the user, considered the task finished.
        SelfFinish = "self_finish",
        /// A limit on steps, messages, tokens or cost in the harness that made the recording.
        Cap = "cap",
        /// A time limit.
        Timeout = "timeout",
        /// A crash of the agent, the environment or the provider.
        Error = "error",
        /// A person stopped it.
        Killed = "killed",
        /// The recording does not say.
        #[default]
        Unknown = "unknown",
    }
}

impl EndCause {
    /// True when the recording was cut off although the agent would have gone on.
    pub fn is_censoring(self) -> bool {
        matches!(self, Self::Cap | Self::Timeout | Self::Killed)
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Secured {
    /// Known from checkpoints, a label or a metric goal.
    At(Point),
    /// The run never reached a success.
    Never,
    /// The run succeeded, but it is not known since when. Any earlier stop counts as a false early stop and is reported
    /// separately as unverified.
    Unverified,
    /// The outcome is unknown.
    #[default]
    Unknown,
}
