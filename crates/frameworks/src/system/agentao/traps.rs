//! What looks wrong in agentao's configuration before any run.

use super::param;
use crate::framework::{Settings, SettingsError};
use crate::python::Dict;
use crate::system::traps::{in_config, values};

pub(super) fn traps(settings: &Settings) -> Vec<SettingsError> {
    let values = values(settings);
    let mut traps = Vec::new();
    if let Some(max) = values.whole("max_iterations").filter(|max| *max < 1) {
        let what = format!("`max_iterations` of {max} is not off: the strategy is asked at once");
        traps.push(in_config(settings, "max_iterations", (what, "write 1 or more".to_owned())));
    }
    let has_history = settings.text(&param::SECOND_ARGUMENT).is_ok_and(|word| word == Some("history"));
    if !has_history && values.text("strategy") == Some("smart") {
        let what = "as released, `smart` sees the last calls only: its checks never fire";
        let help = "to try it as documented, `set = { second_argument = \"history\" }`";
        traps.push(in_config(settings, "strategy", (what.to_owned(), help.to_owned())));
    }
    traps
}
