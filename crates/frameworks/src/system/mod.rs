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

use std::str::FromStr;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::diagnostic::{did_you_mean, nearest};
use crate::framework::{ConfigText, Framework, FrameworkCode, FrameworkKind, Parameter, Settings, SettingsError};
use crate::judge::Judge;
use crate::preset::file::File;

pub use round::{RoundClock, RoundUnit};

/// Every system, in manual order. Their files are read when one is first asked for.
pub static ALL: LazyLock<[Framework; 5]> = LazyLock::new(|| {
    [
        system("mira", include_str!("mira/framework.toml"), include_str!("mira/manual.md"), mira::CODE),
        system("adaptive", include_str!("adaptive/framework.toml"), include_str!("adaptive/manual.md"), adaptive::CODE),
        system("awaken", include_str!("awaken/framework.toml"), include_str!("awaken/manual.md"), awaken::CODE),
        system("agentao", include_str!("agentao/framework.toml"), include_str!("agentao/manual.md"), agentao::CODE),
        system("agentica", include_str!("agentica/framework.toml"), include_str!("agentica/manual.md"), agentica::CODE),
    ]
});

/// The system in this folder.
fn system(folder: &str, file: &str, manual: &'static str, code: FrameworkCode) -> Framework {
    let path = format!("crates/frameworks/src/system/{folder}/framework.toml");
    let file =
        File::read(&path, file).and_then(|file| file.framework(&path, FrameworkKind::System, manual, Some(code)));
    file.expect("a test reads the file of every system")
}

/// The profile that the settings name, else the system's `first`.
fn profile_of<P: FromStr>(settings: &Settings, first: P) -> P {
    settings.profile.as_deref().and_then(|name| name.parse().ok()).unwrap_or(first)
}

/// The values of a native configuration, which has these `keys`; each is called a `kind`.
fn native_values(
    config: &ConfigText,
    kind: &str,
    keys: &[&'static str],
    help: &str,
) -> Result<Map<String, Value>, SettingsError> {
    let values = config.table()?;
    match values.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => {
            let help = did_you_mean(nearest(key, keys.iter().copied()), help);
            Err(config.error_at(key, format!("unknown {kind} `{key}`"), help))
        }
        None => Ok(values),
    }
}

/// The value of a parameter that chooses the judge.
fn judge_of(settings: &Settings, parameter: &Parameter) -> Result<Judge, SettingsError> {
    let value = settings.in_force(parameter);
    Judge::from_json(&value).ok_or_else(|| SettingsError::value(parameter, &value, Judge::HELP))
}
