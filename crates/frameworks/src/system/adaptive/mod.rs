//! The adaptive iterations of a scientific workflow: call, experiment, observation, and two checks
//! (documented) or a reviewer (published) that may end it early.

pub mod config;
mod host;
pub mod iterations;
mod replay;
pub mod review;
#[cfg(test)]
mod tests;

pub(in crate::system) use config::max_iterations;

use super::SystemInfo;

/// The system as it is registered.
pub const ADAPTIVE: SystemInfo = SystemInfo {
    id: "adaptive",
    profiles: replay::PROFILES,
    manual: include_str!("manual.md"),
    host: host::HOST,
    build: replay::build,
};
