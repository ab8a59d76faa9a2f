//! Detects a reply in which the agent says that it cannot continue.

use super::phrases::first_phrase;
use super::{TextPart, Wording};

/// Release 0.2: searched in the whole text.
pub const SIGNALS_V02: [&str; 16] = [
    "traceback (most recent call last)",
    "sorry, i encountered an error",
    "memory archival failed",
    "command timed out",
    "exit code:",
    "permission denied",
    "no such file or directory",
    "module not found",
    "failed to connect",
    "failed to load",
    "tool call failed",
    "unrecoverable",
    "blocked by",
    "无法继续",
    "出现错误",
    "运行时错误",
];

/// Release 0.2 also matches a line that begins with this.
pub const LINE_START_V02: &str = "error:";

/// Release 0.3, hard signals: searched in the whole text.
pub const HARD_SIGNALS: [&str; 6] = [
    "traceback (most recent call last)",
    "sorry, i encountered an error",
    "memory archival failed",
    "tool call failed",
    "unrecoverable error",
    "无法继续",
];

/// Release 0.3, soft signals: searched in the closing paragraph. The last one ends with a space.
pub const SOFT_SIGNALS: [&str; 6] = [
    "i'm unable to proceed",
    "i am unable to proceed",
    "cannot proceed because",
    "cannot continue because",
    "i cannot continue",
    "blocked by ",
];

/// After 0.3, the provider's own error text is a hard signal too.
pub const HARD_SIGNAL_LATER: &str = "error calling llm";

/// The phrase that makes `text` a blocking failure under a published wording; `None` if there is none.
pub fn failure(text: &str, wording: Wording) -> Option<&'static str> {
    failure_in(text, wording, wording.window())
}

/// The same with a chosen window for the soft signals; hard signals are always searched in the whole text. The wording
/// of 0.2 has no soft signals: there the window applies to all phrases.
pub fn failure_in(text: &str, wording: Wording, window: TextPart) -> Option<&'static str> {
    let part = window.within(text);
    match wording {
        Wording::V02 => first_phrase(part, &SIGNALS_V02).or_else(|| line_start(part)),
        Wording::V03 => first_phrase(text, &HARD_SIGNALS).or_else(|| first_phrase(part, &SOFT_SIGNALS)),
        Wording::Later => failure_in(text, Wording::V03, window).or_else(|| first_phrase(text, &[HARD_SIGNAL_LATER])),
    }
}

fn line_start(text: &str) -> Option<&'static str> {
    let begins_line = text.to_lowercase().split('\n').any(|line| line.starts_with(LINE_START_V02));
    if begins_line { Some(LINE_START_V02) } else { None }
}
