//! Google ADK: replies count while an invocation is in progress.

use super::PresetDriver;
use crate::preset::google_adk::Invocation;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "google-adk",
    is_running: |watch| !watch.is_over() && watch.machine::<Invocation>().is_some_and(|invocation| !invocation.over),
    ..PresetDriver::PLAIN
};
