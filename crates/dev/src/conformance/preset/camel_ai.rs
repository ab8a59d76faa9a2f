//! CAMEL: what the program does around the agent is scripted, and the token limit terminator is called alone.

use serde_json::{Value, json};

use super::{PresetCase, PresetDriver};
use crate::framework::{Recipe, Settings, SettingsError};
use crate::preset::camel_ai::{CamelProgram, ChatAgent, token_limit, with_program};
use crate::preset::frame::rounds::AgentLoopMachine;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "camel-ai",
    read: |case| case.set_aside(&["stop_event_after", "reset_by_user", "reset_between", "validate"]),
    build: Some(build),
    is_running: |watch| watch.machine::<AgentLoopMachine<ChatAgent>>().is_none_or(|agent| !agent.is_over()),
    report: |played| {
        Some(json!({ "terminated": played.watch.machine::<AgentLoopMachine<ChatAgent>>()?.inner().terminated }))
    },
    ..PresetDriver::PLAIN
};

fn build(case: &PresetCase<'_>, settings: &Settings) -> Result<Recipe, SettingsError> {
    let tokens = settings.get("token_limit").filter(|limit| !limit.is_null());
    if case.drive() != Some("terminator") && tokens.is_none() {
        let stop_event_after = case.scripted("stop_event_after").as_u64();
        return with_program(settings, CamelProgram { stop_event_after, resets: case.has("reset_between") });
    }
    let recipe = token_limit(settings, case.has("reset_by_user"))?;
    match tokens.and_then(Value::as_f64) {
        Some(limit) if limit <= 0.0 && case.has("validate") => {
            let words = format!("`token_limit` should be a value larger than 0, got {limit}.");
            Err(SettingsError::refused("ValueError", words))
        }
        _ => Ok(recipe),
    }
}
