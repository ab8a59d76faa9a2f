//! LiteLLM: a case has the proxy's configuration with its agents and key.

use super::{Case, Driver};
use crate::framework::{Recipe, Settings, SettingsError};
use crate::preset::litellm::{Requests, code_execution, proxy};

pub(super) const DRIVER: Driver = Driver {
    id: "litellm",
    read: |case| case.settings = Settings::default(),
    build: Some(build),
    recorded_requests_only: |case| case.drive().is_some_and(|drive| drive != "code"),
    ..Driver::PLAIN
};

fn build(case: &Case<'_>, settings: &Settings) -> Result<Recipe, SettingsError> {
    let config = case.config();
    if case.drive() == Some("code") {
        return Ok(code_execution(config["max_iterations"].as_i64()));
    }
    let session = case.drive().map(|_| "s1".to_owned());
    let recipe = proxy(settings, Requests { config, by_sdk: case.drive() == Some("sdk"), session })?;
    Ok(if case.has("continue_after_halt") { recipe.keeps_own_state() } else { recipe })
}
