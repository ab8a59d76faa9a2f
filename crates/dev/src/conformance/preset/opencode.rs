//! OpenCode: the user's answer is scripted.

use super::{PresetCase, PresetDriver};
use crate::preset::opencode::{OpenCodeAnswer, answered_by};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "opencode",
    read: |case| case.set_aside(&["reply"]),
    build: Some(|case, settings| answered_by(settings, answer(case))),
    ..PresetDriver::PLAIN
};

/// What the user answers, with Kilo Code as with OpenCode.
pub(super) fn answer(case: &PresetCase<'_>) -> OpenCodeAnswer {
    match case.scripted("reply").as_str() {
        Some("always") => OpenCodeAnswer::Always,
        Some("reject") => OpenCodeAnswer::Reject,
        _ => OpenCodeAnswer::Once,
    }
}
