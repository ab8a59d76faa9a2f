//! Haystack: hooks are scripted, and the program has every existing tool that the case calls.

use serde_json::{Value, json};

use super::{PresetCase, PresetDriver, loop_is_running};
use crate::preset::frame::rounds::AgentLoopMachine;
use crate::preset::haystack::{Haystack, HaystackProgram, with_program};
use crate::python::Dict;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "haystack",
    read: |case| case.set_aside(&["on_exit_continue", "stop_run_after_steps"]),
    build: Some(|case, settings| with_program(settings, program(case))),
    is_running: loop_is_running::<Haystack>,
    report: |played| {
        Some(json!({ "exit_reasons": played.watch.machine::<AgentLoopMachine<Haystack>>()?.inner().reasons }))
    },
    ..PresetDriver::PLAIN
};

fn program(case: &PresetCase<'_>) -> HaystackProgram {
    let events = case.input.items("events");
    let missing: Vec<&Value> =
        events.iter().filter(|event| event["invalid_call"] == true).map(|event| &event["name"]).collect();
    let mut tools: Vec<String> = Vec::new();
    for call in events.iter().filter_map(|event| event["tool_calls"].as_array()).flatten() {
        let Some(name) = call["name"].as_str() else { continue };
        if !missing.contains(&&call["name"]) && !tools.iter().any(|tool| tool == name) {
            tools.push(name.to_owned());
        }
    }
    HaystackProgram {
        stop_after: case.scripted("stop_run_after_steps").as_i64(),
        stays: case.scripted("on_exit_continue").as_i64().unwrap_or(0),
        tools,
    }
}
