//! A compared stack as configuration to copy: as a stack file, and as settings of each framework that can express all
//! of it. This module only stores and shows the text; the caller generates it from the stack file.

use serde::{Deserialize, Serialize};

/// One stack in the configuration language of one framework.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// The stack.
    pub stack: String,
    /// The framework; `whenstop` for a stack file.
    pub host: String,
    /// A sentence that describes it.
    pub says: String,
    /// The text to copy.
    pub text: String,
}
