//! The five seed systems, one folder each: native configuration, order of checks, profiles.
//!
//! A system is a state machine with an order of checks of its own. It is built from its framework's
//! configuration, read verbatim, and becomes a [`Strategy`] like any stack. It knows no file and no
//! recorded format: texts come in as [`ConfigText`], recordings as [`crate::transcript::Run`]s.

pub mod adaptive;
pub mod agentao;
pub mod agentica;
pub mod awaken;
pub mod benchmark;
pub mod mira;
mod round;
mod settings;
#[cfg(test)]
mod testing;
mod traps;

use std::sync::Arc;

use crate::decision::Strategy;
use crate::host::Host;

pub use round::{Round, RoundClock};
pub use settings::{About, ConfigError, ConfigText, Settings};
pub use traps::{ConfigTrap, traps};

/// A seed system.
#[derive(Clone, Copy)]
pub struct SystemInfo {
    /// Its name in stack files: `use = "mira"`.
    pub id: &'static str,
    /// Its profiles; the first one is meant when a stack file names none.
    pub profiles: &'static [&'static str],
    /// The manual, in Markdown: order of checks, constants, differences, failure modes.
    pub manual: &'static str,
    /// What its configuration can hold of a stack.
    pub host: Host,
    /// Builds the strategy from its native configuration.
    pub build: fn(&Settings) -> Result<Arc<dyn Strategy>, ConfigError>,
}

impl std::fmt::Debug for SystemInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SystemInfo({})", self.id)
    }
}

/// Every system, in manual order.
pub static SYSTEMS: &[SystemInfo] =
    &[mira::MIRA, adaptive::ADAPTIVE, awaken::AWAKEN, agentao::AGENTAO, agentica::AGENTICA];

/// The system of that name.
pub fn find(id: &str) -> Option<&'static SystemInfo> {
    SYSTEMS.iter().find(|system| system.id == id)
}
