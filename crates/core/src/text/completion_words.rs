//! Words of an observation that look like a finished task.

use super::phrases::first_phrase;

/// One of these must be there.
pub const SUCCESS: [&str; 8] =
    ["successfully", "complete", "saved", "submission", "test passed", "all tests pass", "finished", "done"];

/// None of these may be there, whatever the context.
pub const ERRORS: [&str; 5] = ["error", "failed", "exception", "traceback", "assertion"];

/// The word by which an observation looks like a finished task. Substrings count (`incomplete` is
/// `complete`), and one error word anywhere is a veto (`0 errors` too).
///
/// Source: the design note of the adaptive iterations, `_is_task_completed`.
pub fn completion_word(observation: &str) -> Option<&'static str> {
    first_phrase(observation, &SUCCESS).filter(|_| first_phrase(observation, &ERRORS).is_none())
}
