//! OpenCode: the user's answer is scripted.

use super::PresetDriver;
use crate::preset::opencode::{OpenCodeAnswer, answered_by};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "opencode",
    read: |case| case.set_aside(&["reply"]),
    build: Some(|case, settings| {
        let answer = match case.scripted("reply").as_str() {
            Some("always") => OpenCodeAnswer::Always,
            Some("reject") => OpenCodeAnswer::Reject,
            _ => OpenCodeAnswer::Once,
        };
        answered_by(settings, answer)
    }),
    ..PresetDriver::PLAIN
};
