//! What is fuzzed; see the README beside this.

pub mod seeds;
pub mod targets;
