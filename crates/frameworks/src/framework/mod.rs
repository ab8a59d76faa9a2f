//! What every framework is declared with: its parameters, and the settings it is built from.

mod params;
mod settings;

/// From this many seconds on, milliseconds are suspected: more than a day.
pub(crate) const LONG_SECONDS: f64 = 100_000.0;

pub use params::{Case, Holds, Parameter, Trap};
pub(crate) use params::{params, traps};
pub(crate) use settings::wrong_kind;
pub use settings::{COMBINED, Settings, SettingsError};
