//! smolagents reports the state of each finished run.

use super::Driver;
use crate::preset::smolagents::AgentRun;

pub(super) const DRIVER: Driver = Driver {
    id: "smolagents",
    read: |case| case.set_aside(&["seconds_per_model_call"]),
    report: |played, fields| {
        if let Some(run) = played.watch.machine::<AgentRun>() {
            fields.insert("states".to_owned(), run.states.clone().into());
        }
    },
    ..Driver::PLAIN
};
