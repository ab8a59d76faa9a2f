//! CrewAI: `config.path` is the profile; the agent is called `r` and its tool class `T`.

use serde_json::json;

use super::PresetDriver;
use crate::decision::Action;
use crate::preset::crewai::{Crew, named};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "crewai",
    read: |case| case.profile_from("path"),
    build: Some(|_, settings| named(settings, "r", "T")),
    report: |played| {
        let crew = played.watch.machine::<Crew>()?;
        Some(json!({ "ended_at": crew.ended_at, "tool_runs": crew.tool_runs }))
    },
    // A call can also be refused between two attempts to run it, which the tables call before the tools.
    action: |doing| match doing.act.decision.action {
        Action::Deny => Some(json!({ "before_tools": true })),
        _ => None,
    },
    ..PresetDriver::PLAIN
};
