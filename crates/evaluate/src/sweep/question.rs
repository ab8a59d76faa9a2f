//! What is asked of a grid of rules.

use serde::{Deserialize, Serialize};

/// What is asked of a grid of rules: everything that the answer depends on besides the recordings and the split of their
/// tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridQuestion {
    /// The path of the grid file, for messages.
    pub path: String,
    /// Its text.
    pub text: String,
    /// The share of successes that may be killed, averaged over tasks.
    pub max_killed: f64,
    /// How sure the bound on that share is.
    pub confidence: f64,
    /// The most stacks that are tried.
    pub most: u64,
    /// How many stacks are kept for each objective.
    pub best: usize,
    /// Whether a line is written for every stack.
    pub all_stacks: bool,
    /// Whether the rows of the stacks that are kept are written.
    pub rows: bool,
}
