//! Detects a reply that asks the user for something.

use super::phrases::first_phrase;
use super::{TextPart, Wording};

/// Release 0.2: searched in the whole text.
pub const PHRASES_V02: [&str; 17] = [
    "please provide",
    "please confirm",
    "please choose",
    "could you",
    "can you provide",
    "which option",
    "clarify",
    "need your input",
    "what would you like to do next",
    "需要你",
    "请提供",
    "请确认",
    "请选择",
    "是否继续",
    "是否开始",
    "是否要我",
    "要我现在",
];

/// Release 0.3: searched in the closing paragraph.
pub const PHRASES_V03: [&str; 21] = [
    "please confirm",
    "please choose",
    "please provide",
    "could you provide",
    "could you confirm",
    "can you provide",
    "need your input",
    "awaiting your input",
    "awaiting your confirmation",
    "what would you like to do next",
    "shall i proceed",
    "should i proceed",
    "do you want me to",
    "请提供",
    "请确认",
    "请选择",
    "是否继续",
    "是否开始",
    "是否要我",
    "等待你的确认",
    "等待用户",
];

/// The phrase that makes `text` a request to the user under a published wording; `None` if there is none.
pub fn user_request(text: &str, wording: Wording) -> Option<&'static str> {
    user_request_in(text, wording, wording.window())
}

/// The same with a chosen window.
pub fn user_request_in(text: &str, wording: Wording, window: TextPart) -> Option<&'static str> {
    let phrases: &[&'static str] = match wording {
        Wording::V02 => &PHRASES_V02,
        Wording::V03 | Wording::Later => &PHRASES_V03,
    };
    first_phrase(window.within(text), phrases)
}
