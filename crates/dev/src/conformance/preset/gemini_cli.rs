//! Gemini CLI: chunks, judges and the next speaker are scripted.

use serde_json::json;

use super::case::COMBINED;
use super::{PresetCase, PresetDriver};
use crate::preset::gemini_cli::{Gemini, ModelBehaviour, with_models};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "gemini-cli",
    rules: &["tool_call_loop", "content_loop", "llm_check", "turn_limits"],
    read: |case| case.set_aside(&["stream_chunk", "nextSpeaker", "judge_replies", "main_available"]),
    build: Some(|case, settings| with_models(settings, models(case))),
    recorded_requests_only: |case| case.rule != COMBINED,
    report: |played| {
        let judge = played.watch.machine::<Gemini>().and_then(|gemini| gemini.judge.as_ref());
        let asked_after = judge.map(|judge| judge.asked_after.clone()).unwrap_or_default();
        Some(json!({ "judge_asked_after": asked_after }))
    },
    ..PresetDriver::PLAIN
};

fn models(case: &PresetCase<'_>) -> ModelBehaviour {
    ModelBehaviour {
        piece: case.size("stream_chunk"),
        speaks_next: *case.scripted("nextSpeaker") == "model",
        confidences: case.scripted("judge_replies").as_array().map(|replies| replies.iter().cloned().collect()),
        is_alone: *case.scripted("main_available") == false,
    }
}
