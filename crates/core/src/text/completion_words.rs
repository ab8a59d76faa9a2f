//! Words in an observation that make a task look finished.

use super::phrases::first_phrase;

/// At least one of these must occur.
pub const SUCCESS: [&str; 8] =
    ["successfully", "complete", "saved", "submission", "test passed", "all tests pass", "finished", "done"];

/// None of these may occur, whatever the context.
pub const ERRORS: [&str; 5] = ["error", "failed", "exception", "traceback", "assertion"];

/// The word that makes an observation look like a finished task. Substrings count (`incomplete` contains `complete`),
/// and one error word anywhere is a veto (even in `0 errors`).
///
/// Source: the design note of the adaptive iterations, `_is_task_completed`.
pub fn completion_word(observation: &str) -> Option<&'static str> {
    first_phrase(observation, &SUCCESS).filter(|_| first_phrase(observation, &ERRORS).is_none())
}
