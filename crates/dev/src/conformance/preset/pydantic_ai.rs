//! Pydantic AI reports its usage, and each error names its limit.

use serde_json::json;

use super::PresetDriver;
use crate::preset::frame::caps::CapMachine;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "pydantic-ai",
    report: |played| {
        let counts = &played.watch.machine::<CapMachine>()?.counts;
        let usage = json!({
            "requests": counts.requests,
            "tool_calls": counts.calls_succeeded,
            "input_tokens": counts.input,
            "output_tokens": counts.output,
        });
        Some(json!({ "usage": usage }))
    },
    action: |doing| Some(json!({ "limit": doing.act.decision.rule.as_str() })),
    ..PresetDriver::PLAIN
};
