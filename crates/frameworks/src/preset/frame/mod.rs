//! The building blocks of presets: counters, identities, the agent loop, and the generic machine for caps files. It
//! contains nothing specific to one framework.

pub mod caps;
pub mod counters;
pub mod identity;
pub mod native;
mod places;
pub mod rounds;

pub use crate::framework::machine::{
    Action, ActionSink, Machine, MachineAction, Recipe, RuleReading, cost_in_dollars, reading, rules_on,
    seconds_between, starts_run,
};
pub(in crate::preset) use crate::framework::wrong_kind;
pub use crate::framework::{Settings, SettingsError};
pub use identity::arguments;
pub use places::CallIdIndex;
