//! MIRA's auto mode: after each agent run, is there to be another one?
//!
//! `policy` and `rules` are what is configured, `plan` and `guardrail` read the task plan, `stop` and
//! `decide` take one decision, `message` is the loop around them.

pub mod decide;
pub mod export;
pub mod guardrail;
mod host;
pub mod message;
pub mod plan;
pub mod policy;
mod replay;
pub mod rules;
pub mod stop;
#[cfg(test)]
mod tests;

use super::SystemInfo;

/// The system as it is registered.
pub const MIRA: SystemInfo = SystemInfo {
    id: "mira",
    profiles: rules::PROFILES,
    manual: include_str!("manual.md"),
    host: host::HOST,
    build: replay::build,
};
