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
mod settings;

pub use identity::arguments;
pub use machine::{
    Act, Action, Acts, AfterStop, Facts, Machine, PresetStrategy, PresetWatch, Recipe, RuleReading, next_request,
    reading, starts_run,
};
pub use places::Places;
pub(in crate::preset) use settings::wrong_kind;
pub use settings::{COMBINED, Parameter, Settings, SettingsError};
