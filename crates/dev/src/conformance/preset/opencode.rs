//! OpenCode: the user's answer is scripted.

use super::Driver;
use crate::preset::opencode::{Answer, answered_by};

pub(super) const DRIVER: Driver = Driver {
    id: "opencode",
    read: |case| case.set_aside(&["reply"]),
    build: Some(|case, settings| {
        let answer = match case.scripted("reply").as_str() {
            Some("always") => Answer::Always,
            Some("reject") => Answer::Reject,
            _ => Answer::Once,
        };
        answered_by(settings, answer)
    }),
    ..Driver::PLAIN
};
