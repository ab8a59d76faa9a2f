//! Inspect AI: an answer is correct if it contains a text that is the same in all cases, and costs come from its own
//! price list.

use serde_json::json;

use super::PresetDriver;
use crate::framework::SettingsError;
use crate::preset::inspect_ai::{InspectSample, with_target};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "inspect-ai",
    read: |case| case.set_aside(&["target"]),
    build: Some(|case, settings| {
        let target = case.scripted("target").as_str().unwrap_or("42");
        let recipe = with_target(settings, Some(target.to_owned()))?;
        if case.gives(&["cost_limit"]) && !case.gives(&["model_cost"]) {
            let words = "cost_limit requires cost data for all models. Missing cost data for: scripted/model. Use \
                         set_model_cost() or --model-cost-config to configure pricing.";
            return Err(SettingsError::refused("PrerequisiteError", words));
        }
        Ok(recipe)
    }),
    report: |played| Some(json!({ "model_calls": played.watch.machine::<InspectSample>()?.replies })),
    ..PresetDriver::PLAIN
};
