//! Roo Code: each table runs one rule; the person's answer is scripted.

use serde_json::json;

use super::case::COMBINED;
use super::{PresetCase, PresetDriver};
use crate::framework::{Recipe, Settings, SettingsError};
use crate::preset::roo_code::{RooUser, parts};

const REPETITION: &str = "tool_repetition";
const NATIVE: &str = "tool_repetition_native";
const MISTAKES: &str = "consecutive_mistakes";
const APPROVAL: &str = "auto_approval_limits";

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "roo-code",
    rules: &[REPETITION, NATIVE, MISTAKES, APPROVAL],
    read: |case| {
        case.set_aside(&["response", "answer", "api_req_started_before_check"]);
        case.rename("limit", "consecutiveMistakeLimit");
        if case.rule == NATIVE {
            case.settings.profile = Some("native".to_owned());
        }
    },
    build: Some(build),
    recorded_requests_only: |case| case.rule == APPROVAL,
    // The loop itself answers a text reply, so the next request follows at once.
    action: |doing| match doing.act.decision.rule.as_str() {
        MISTAKES => Some(json!({ "before_request": true })),
        _ => None,
    },
    ..PresetDriver::PLAIN
};

fn build(case: &PresetCase<'_>, settings: &Settings) -> Result<Recipe, SettingsError> {
    let person = RooUser {
        refuses: case.scripted("answer").as_str().is_some_and(|answer| answer != "yesButtonClicked"),
        sees_request: *case.scripted("api_req_started_before_check") != false,
    };
    let rules: &[&'static str] = match case.rule {
        COMBINED => &[REPETITION, MISTAKES, APPROVAL],
        NATIVE | REPETITION => &[REPETITION],
        MISTAKES => &[MISTAKES],
        _ => &[APPROVAL],
    };
    parts(settings, rules, person)
}
