//! browser-use: whether a forced last step fails is scripted; nudges report what they count.

use super::PresetDriver;
use super::played::{Doing, Fields};
use crate::preset::browser_use::{BrowserUseMachine, LastStep, with_last_step};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "browser-use",
    read: |case| case.set_aside(&["forced_step_fails"]),
    build: Some(|case, settings| {
        with_last_step(settings, if case.has("forced_step_fails") { LastStep::Fails } else { LastStep::Succeeds })
    }),
    report: |played, fields| {
        if let Some(agent) = played.watch.machine::<BrowserUseMachine>() {
            fields.insert("model_calls".to_owned(), agent.replies.into());
            fields.insert("consecutive_failures".to_owned(), agent.failures.into());
        }
    },
    action,
    ..PresetDriver::PLAIN
};

fn action(doing: &Doing<'_>, fields: &mut Fields) {
    let Some(agent) = doing.watch.machine::<BrowserUseMachine>() else { return };
    let is_budget = doing.act.decision.code.as_deref() == Some("budget_warning");
    let count = if is_budget { (agent.replies + 1).into() } else { doing.observed() };
    fields.insert("count".to_owned(), count);
    fields.insert("window".to_owned(), agent.actions.items().len().into());
}
