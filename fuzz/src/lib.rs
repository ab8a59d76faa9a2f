//! What is fuzzed; see the README beside this.

pub mod targets;
