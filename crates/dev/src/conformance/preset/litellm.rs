//! LiteLLM: a case has the proxy's configuration with its agents and key.

use super::{PresetCase, PresetDriver};
use crate::framework::{Recipe, Settings, SettingsError};
use crate::preset::litellm::{ProxySetup, code_execution, proxy};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "litellm",
    read: |case| case.settings = Settings::default(),
    build: Some(build),
    recorded_requests_only: |case| case.drive().is_some_and(|drive| drive != "code"),
    ..PresetDriver::PLAIN
};

fn build(case: &PresetCase<'_>, settings: &Settings) -> Result<Recipe, SettingsError> {
    let config = case.config();
    if case.drive() == Some("code") {
        return Ok(code_execution(config["max_iterations"].as_i64()));
    }
    let session = case.drive().map(|_| "s1".to_owned());
    let recipe = proxy(settings, ProxySetup { config, by_sdk: case.drive() == Some("sdk"), session })?;
    Ok(if case.has("continue_after_halt") { recipe.keeps_own_state() } else { recipe })
}
