//! A compared stack as a configuration to be copied: as a stack file, and as the settings of each framework that can hold all
//! of it. What it says is worked out by whoever has the stack file; here it is kept and shown.

use serde::{Deserialize, Serialize};

/// One stack in the words of one framework.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// The stack.
    pub stack: String,
    /// The framework; `whenstop` for a stack file.
    pub host: String,
    /// What it is, in a sentence.
    pub says: String,
    /// What is to be copied.
    pub text: String,
}
