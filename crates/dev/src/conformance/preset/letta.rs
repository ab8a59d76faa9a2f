//! Letta: cases that drive only the loop replace the model's step, which notes each call first, by a script.

use serde_json::json;

use super::PresetDriver;
use crate::preset::letta::LettaRun;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "letta",
    read: |case| {
        if case.drive() != Some("step") {
            case.settings.profile = Some("documented".to_owned());
        }
    },
    is_running: |watch| !watch.is_over() && watch.machine::<LettaRun>().is_some_and(|run| !run.over),
    report: |played| Some(json!({ "steps": played.replies.len() })),
    ..PresetDriver::PLAIN
};
