//! Mastra: the hook after each iteration is scripted.

use serde_json::json;

use super::{PresetDriver, loop_is_running};
use crate::preset::frame::rounds::AgentLoopMachine;
use crate::preset::mastra::{Mastra, StepHook, with_hook};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "mastra",
    read: |case| {
        case.set_aside(&["on_iteration"]);
        case.rename("default_options", "defaultOptions");
        case.rename("client_tools", "clientTools");
        case.rename("approval_tools", "requireApproval");
    },
    build: Some(|case, settings| {
        let hook = case.scripted("on_iteration");
        with_hook(settings, StepHook { stop_at: hook["stop_at"].as_u64(), go_on: hook["go_on"].as_u64().unwrap_or(0) })
    }),
    is_running: loop_is_running::<Mastra>,
    report: |played| {
        Some(json!({ "finish_reasons": played.watch.machine::<AgentLoopMachine<Mastra>>()?.inner().reasons }))
    },
    ..PresetDriver::PLAIN
};
