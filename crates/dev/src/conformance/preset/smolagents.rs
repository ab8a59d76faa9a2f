//! smolagents reports the state of each finished run.

use super::PresetDriver;
use crate::preset::smolagents::SmolagentsRun;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "smolagents",
    report: |played, fields| {
        if let Some(run) = played.watch.machine::<SmolagentsRun>() {
            fields.insert("states".to_owned(), run.states.clone().into());
        }
    },
    ..PresetDriver::PLAIN
};
