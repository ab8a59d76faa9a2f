//! Pydantic AI reports its usage, and each error names its limit.

use serde_json::json;

use super::PresetDriver;
use crate::preset::frame::caps::CapMachine;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "pydantic-ai",
    report: |played, fields| {
        if let Some(caps) = played.watch.machine::<CapMachine>() {
            let counts = &caps.counts;
            let usage = json!({
                "requests": counts.requests,
                "tool_calls": counts.calls_succeeded,
                "input_tokens": counts.input,
                "output_tokens": counts.output,
            });
            fields.insert("usage".to_owned(), usage);
        }
    },
    action: |doing, fields| {
        fields.insert("limit".to_owned(), doing.act.decision.rule.as_str().into());
    },
    ..PresetDriver::PLAIN
};
