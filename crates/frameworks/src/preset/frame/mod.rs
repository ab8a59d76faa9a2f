//! What machines are made of: counters, identities, the loop of a run, and the machine of caps, as data.
//!
//! It knows no framework.

pub mod caps;
pub mod counters;
pub mod identity;
pub mod native;
mod places;
pub mod rounds;

pub use crate::framework::machine::{
    Act, Action, Acts, AfterStop, Facts, Machine, Recipe, RuleReading, next_request, reading, starts_run,
};
pub(in crate::preset) use crate::framework::wrong_kind;
pub use crate::framework::{COMBINED, Settings, SettingsError};
pub use identity::arguments;
pub use places::Places;
