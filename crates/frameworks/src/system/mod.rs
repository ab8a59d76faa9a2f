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

use std::sync::LazyLock;

use crate::framework::{Framework, FrameworkKind, Parameter, Settings, SettingsError};
use crate::judge::Judge;
use crate::preset::file::File;

pub use round::{RoundClock, RoundUnit};

/// Every system, in manual order. Their files are read when one is first asked for.
pub static ALL: LazyLock<[Framework; 5]> = LazyLock::new(|| {
    [mira::framework(), adaptive::framework(), awaken::framework(), agentao::framework(), agentica::framework()]
});

/// A system as the `framework.toml` in its folder describes it, still without its code.
fn described(folder: &str, file: &str, manual: &'static str) -> Framework {
    let file = File::read(&format!("crates/frameworks/src/system/{folder}/framework.toml"), file)
        .expect("a test reads the file of every system");
    Framework { kind: FrameworkKind::System, ..file.framework(manual) }
}

/// The value of a parameter that chooses the judge.
fn judge_of(settings: &Settings, parameter: &Parameter) -> Result<Judge, SettingsError> {
    let value = settings.in_force(parameter);
    Judge::from_json(&value).ok_or_else(|| SettingsError::value(parameter, &value, Judge::HELP))
}
