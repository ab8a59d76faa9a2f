//! Which texts a text signal reads.

use crate::transcript::named;

named! {
    /// Which texts a text signal reads.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum TextOf {
        /// The agent's replies.
        #[default]
        Reply = "reply",
        /// The results of the agent's tool calls.
        Results = "results",
    }
}
