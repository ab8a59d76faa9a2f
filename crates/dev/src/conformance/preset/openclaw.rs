//! OpenClaw: a case has the framework's own configuration and says which tools are missing.

use serde_json::json;

use super::{PresetCase, PresetDriver};
use crate::framework::{Recipe, Settings, SettingsError};
use crate::preset::openclaw::{OpenClawMachine, Tools, configured};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "openclaw",
    read: |case| case.settings = Settings::default(),
    build: Some(build),
    report: |played| Some(json!({ "tools_executed": played.watch.machine::<OpenClawMachine>()?.tools_executed })),
    action: |doing| Some(json!({ "count": doing.observed(), "delivered": doing.act.decision.delivered })),
    ..PresetDriver::PLAIN
};

fn build(case: &PresetCase<'_>, settings: &Settings) -> Result<Recipe, SettingsError> {
    let tools = Tools {
        are_known: case.drive().is_some(),
        one_by_one: case.drive() == Some("hook"),
        missing: case.texts("unknown_tools"),
        strict: case.texts("strict_tools"),
    };
    let recipe = configured(settings, &case.config(), tools)?;
    Ok(if case.drive().is_some() { recipe.ends_with_stop() } else { recipe })
}
