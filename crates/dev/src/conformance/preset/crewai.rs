//! CrewAI: `config.path` is the profile; the agent is called `r` and its tool class `T`.

use super::PresetDriver;
use crate::decision::Action;
use crate::preset::crewai::{Crew, named};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "crewai",
    read: |case| case.profile_from("path"),
    build: Some(|_, settings| named(settings, "r", "T")),
    report: |played, fields| {
        if let Some(crew) = played.watch.machine::<Crew>() {
            fields.insert("ended_at".to_owned(), crew.ended_at.into());
            fields.insert("tool_runs".to_owned(), crew.tool_runs.into());
        }
    },
    // A call can also be refused between two attempts to run it, which the tables call before the tools.
    action: |doing, fields| {
        if doing.act.decision.action == Action::Deny {
            fields.insert("before_tools".to_owned(), true.into());
        }
    },
    ..PresetDriver::PLAIN
};
