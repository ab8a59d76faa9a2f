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

use serde_json::Value;

use crate::decision::Strategy;

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
    /// Builds the strategy from its native configuration.
    pub build: fn(&Settings) -> Result<Box<dyn Strategy>, ConfigError>,
    /// Its golden tables.
    pub tables: &'static [&'static str],
    /// Which of them a case belongs to by its shape, where its file has a name of its own.
    pub table_of: fn(&GoldenCase<'_>) -> Option<&'static str>,
    /// What the original code answers for one golden case of one of the tables.
    pub answer: fn(&GoldenCase<'_>) -> Result<Value, CaseError>,
}

/// A case of a golden table.
#[derive(Clone, Copy, Debug)]
pub struct GoldenCase<'c> {
    /// The table: one of the system's own.
    pub table: &'c str,
    /// The case's `input`. Where it names a recording (`input.file`), the text stands in `input.recording`.
    pub input: &'c Value,
    /// The release that answered (`original_version`), where the case says.
    pub version: Option<&'c str>,
    /// The fields that are asked for.
    pub asked: &'c [String],
}

impl GoldenCase<'_> {
    /// Does the input have all these fields?
    fn has(&self, fields: &[&str]) -> bool {
        fields.iter().all(|field| self.input.get(field).is_some())
    }

    /// Is this field asked for?
    fn asks(&self, field: &str) -> bool {
        self.asked.iter().any(|asked| asked == field)
    }
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

/// Why a golden case could not be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaseError {
    /// No such table.
    #[error("unknown table")]
    UnknownTable,
    /// The input is not what the table's description says.
    #[error("bad case: {0}")]
    BadCase(String),
    /// The case rests on something that is not the framework's own doing; the reason.
    #[error("not applicable: {0}")]
    NotApplicable(String),
}
