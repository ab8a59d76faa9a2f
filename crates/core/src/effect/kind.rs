//! The effects, weakest first.

use crate::transcript::named;

named! {
    /// The effect of a tool call.
    ///
    /// Variants are ordered by strength: a compound command has the strongest effect of its parts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    #[non_exhaustive]
    pub enum Effect {
        /// Looks at something and changes nothing.
        Read = "read",
        /// Updates the agent's own task list, thinks, or asks.
        Plan = "plan",
        /// The call does not show its effect.
        Unknown = "unknown",
        /// Runs tests, builds, linters, or a program.
        Check = "check",
        /// Starts a sub-agent, whose own calls have their own effects.
        Delegate = "delegate",
        /// Changes files or state that someone will keep.
        Edit = "edit",
        /// Delivers the work to others: a commit, a pull request, a submission, a deployment, a booking.
        Handover = "handover",
    }
}

impl Effect {
    /// True for an edit or a handover.
    pub fn is_work(self) -> bool {
        matches!(self, Self::Edit | Self::Handover)
    }
}
