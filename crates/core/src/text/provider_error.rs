//! Detects a reply that is the error text of a failed model call, not the model's own words.

use super::Wording;
use super::phrases::first_phrase;

/// Release 0.3.
pub const MARKERS_V03: [&str; 10] = [
    "error calling llm",
    "error calling azure openai",
    "error calling codex",
    "error calling github copilot",
    "litellm.badrequesterror",
    "azure_aiexception",
    "invalid_request_error",
    "bad_request_error",
    "all candidate models failed for this turn",
    "sorry, i encountered an error calling the ai model",
];

/// After 0.3.
pub const MARKERS_LATER: [&str; 2] = ["error calling llm", "all candidate models failed"];

/// The marker in `text` that makes it a provider's error; `None` if there is none. Release 0.2 has no such test.
pub fn provider_error(text: &str, wording: Wording) -> Option<&'static str> {
    match wording {
        Wording::V02 => None,
        Wording::V03 => first_phrase(text, &MARKERS_V03),
        Wording::Later => first_phrase(text, &MARKERS_LATER),
    }
}
