//! smolagents reports the state of each finished run.

use serde_json::json;

use super::PresetDriver;
use crate::preset::smolagents::SmolagentsRun;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "smolagents",
    report: |played| Some(json!({ "states": played.watch.machine::<SmolagentsRun>()?.states })),
    ..PresetDriver::PLAIN
};
