//! tau2 reports its steps and errors.

use serde_json::json;

use super::PresetDriver;
use crate::preset::tau2_bench::Orchestrator;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "tau2-bench",
    report: |played| {
        let orchestrator = played.watch.machine::<Orchestrator>()?;
        Some(json!({ "step_count": orchestrator.steps, "num_errors": orchestrator.errors }))
    },
    ..PresetDriver::PLAIN
};
