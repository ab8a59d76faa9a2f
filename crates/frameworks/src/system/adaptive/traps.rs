//! What looks wrong in adaptive's configuration before any run.

use super::config::max_iterations;
use super::param;
use crate::framework::{Settings, SettingsError};
use crate::system::traps::in_either;

pub(super) fn traps(settings: &Settings) -> Vec<SettingsError> {
    let Ok(max) = max_iterations(settings) else { return Vec::new() };
    if max >= 2 {
        return Vec::new();
    }
    let what = format!("`max_iterations` of {max} allows a single model call");
    let help = "write 2 or more; there is no value that switches it off";
    vec![in_either(settings, param::MAX_ITERATIONS.name, (what, help.to_owned()))]
}
