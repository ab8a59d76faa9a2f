//! Letta: cases that drive only the loop replace the model's step, which notes each call first, by a script.

use super::Driver;
use crate::preset::letta::AgentRun;

pub(super) const DRIVER: Driver = Driver {
    id: "letta",
    read: |case| {
        case.set_aside(&["seconds_per_model_call"]);
        if case.drive() != Some("step") {
            case.settings.profile = Some("documented".to_owned());
        }
    },
    is_running: |watch| !watch.is_over() && watch.machine::<AgentRun>().is_some_and(|run| !run.over),
    report: |played, fields| {
        fields.insert("steps".to_owned(), played.replies.len().into());
    },
    ..Driver::PLAIN
};
