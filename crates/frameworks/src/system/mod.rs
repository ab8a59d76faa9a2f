//! The five seed systems, one folder each: native configuration, order of checks, profiles.
//!
//! A system is a framework that orders its own checks. It is built from its native configuration file, read unchanged,
//! and is a strategy like any stack.

pub mod adaptive;
pub mod agentao;
pub mod agentica;
pub mod awaken;
pub mod benchmark;
pub mod mira;
mod round;
#[cfg(test)]
mod testing;
mod traps;

use crate::framework::{Framework, Parameter, Settings, SettingsError};
use crate::judge::Judge;

pub use round::{RoundClock, RoundUnit};

/// Every system, in manual order.
pub static ALL: [Framework; 5] = [mira::MIRA, adaptive::ADAPTIVE, awaken::AWAKEN, agentao::AGENTAO, agentica::AGENTICA];

/// The value of a parameter that chooses the judge.
fn judge_of(settings: &Settings, parameter: &Parameter) -> Result<Judge, SettingsError> {
    let value = settings.in_force(parameter);
    Judge::from_json(&value).ok_or_else(|| SettingsError::value(parameter, &value, Judge::HELP))
}
