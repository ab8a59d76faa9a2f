//! What a stop can do to a run.

use serde::{Deserialize, Serialize};

use crate::transcript::named;

named! {
    /// What a stop, or not stopping, did to a run. The verdicts are exclusive and exhaustive.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Verdict {
        /// Stopped before the success was secured: the success is lost.
        #[serde(rename = "killed_verified")]
        FalseEarlyStop = "killed_verified",
        /// Stopped a run that succeeded, but it is not known when the success was secured. Counts as lost and is reported
        /// separately.
        #[serde(rename = "killed_unverified")]
        UnverifiedFalseEarlyStop = "killed_unverified",
        /// Stopped after the success was secured: the rest was saved.
        GoodTrim = "good_trim",
        /// Stopped a run that failed.
        TrueStop = "true_stop",
        /// Stopped while the run held a success that it later lost.
        Rescued = "rescued",
        /// Did not stop a run that failed.
        #[serde(rename = "missed")]
        MissedStop = "missed",
        /// Did not stop a run that had a success and lost it.
        LostSuccess = "lost_success",
        /// Did not stop a run that succeeded.
        #[serde(rename = "let_be")]
        CleanPass = "let_be",
        /// The outcome is unknown: left out of every rate and sum that needs one.
        Unlabelled = "unlabelled",
    }
}

impl Verdict {
    /// True if the success remains after the stop, or was rescued by it.
    pub fn keeps_success(self) -> bool {
        matches!(self, Self::GoodTrim | Self::CleanPass | Self::Rescued)
    }

    /// True for a false early stop, verified or not.
    pub fn is_fes(self) -> bool {
        matches!(self, Self::FalseEarlyStop | Self::UnverifiedFalseEarlyStop)
    }
}
