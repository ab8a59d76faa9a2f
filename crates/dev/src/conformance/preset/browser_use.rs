//! browser-use: whether a forced last step fails is scripted; nudges report what they count.

use serde_json::{Value, json};

use super::PresetDriver;
use super::played::Doing;
use crate::preset::browser_use::{BrowserUseMachine, LastStep, with_last_step};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "browser-use",
    read: |case| case.set_aside(&["forced_step_fails"]),
    build: Some(|case, settings| {
        with_last_step(settings, if case.has("forced_step_fails") { LastStep::Fails } else { LastStep::Succeeds })
    }),
    report: |played| {
        let agent = played.watch.machine::<BrowserUseMachine>()?;
        Some(json!({ "model_calls": agent.replies, "consecutive_failures": agent.failures }))
    },
    action,
    ..PresetDriver::PLAIN
};

fn action(doing: &Doing<'_>) -> Option<Value> {
    let agent = doing.watch.machine::<BrowserUseMachine>()?;
    let is_budget = doing.act.decision.code.as_deref() == Some("budget_warning");
    let count = if is_budget { (agent.replies + 1).into() } else { doing.observed() };
    Some(json!({ "count": count, "window": agent.actions.items().len() }))
}
