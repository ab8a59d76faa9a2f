//! The effects that a tool call can have, and the table of them that a stack file may add.
//!
//! Plain data: the crate `whenstop-effects` derives the effect of a recorded call.

mod table;

pub use table::EffectTable;

/// The effect of a tool call.
///
/// Variants are ordered by strength: a compound command has the strongest effect of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effect {
    /// Looks at something and changes nothing.
    Read,
    /// Updates the agent's own task list, thinks, or asks.
    Plan,
    /// The call does not show its effect.
    Unknown,
    /// Runs tests, builds, linters, or a program.
    Check,
    /// Starts a sub-agent, whose own calls have their own effects.
    Delegate,
    /// Changes files or state that someone will keep.
    Edit,
    /// Delivers the work to others: a commit, a pull request, a submission, a deployment, a booking.
    Handover,
}

impl Effect {
    /// All effects, weakest first.
    pub const ALL: [Self; 7] =
        [Self::Read, Self::Plan, Self::Unknown, Self::Check, Self::Delegate, Self::Edit, Self::Handover];

    /// The name used in tables and stack files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Plan => "plan",
            Self::Unknown => "unknown",
            Self::Check => "check",
            Self::Delegate => "delegate",
            Self::Edit => "edit",
            Self::Handover => "handover",
        }
    }

    /// True for an edit or a handover.
    pub fn is_work(self) -> bool {
        matches!(self, Self::Edit | Self::Handover)
    }
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Effect {
    type Err = ();
    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|effect| effect.name() == name).ok_or(())
    }
}
