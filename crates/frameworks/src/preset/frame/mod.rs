//! What every preset shares: its settings, the machine it runs, and the counters machines are made of.
//!
//! It knows no framework.

pub mod caps;
pub mod counters;
pub mod identity;
mod machine;
pub mod native;
mod places;
pub mod rounds;

pub(in crate::preset) use crate::framework::wrong_kind;
pub use crate::framework::{COMBINED, Settings, SettingsError};
pub use identity::arguments;
pub use machine::{
    Act, Action, Acts, AfterStop, Facts, Machine, PresetStrategy, PresetWatch, Recipe, RuleReading, next_request,
    reading, starts_run,
};
pub use places::Places;
