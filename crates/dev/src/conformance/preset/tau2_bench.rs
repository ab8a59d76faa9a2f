//! tau2 reports its steps and errors.

use super::PresetDriver;
use crate::preset::tau2_bench::Orchestrator;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "tau2-bench",
    report: |played, fields| {
        if let Some(orchestrator) = played.watch.machine::<Orchestrator>() {
            fields.insert("step_count".to_owned(), orchestrator.steps.into());
            fields.insert("num_errors".to_owned(), orchestrator.errors.into());
        }
    },
    ..PresetDriver::PLAIN
};
