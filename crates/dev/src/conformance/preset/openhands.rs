//! OpenHands: a case runs the whole loop or the detector alone. In the loop, its tool declares `y` with the default 0.

use super::{PresetCase, PresetDriver};
use crate::preset::openhands::{Drive, driven_by};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "openhands",
    read: |case| {
        if drive(case) == Drive::Run {
            case.settings.set.insert("schema_defaults".to_owned(), serde_json::json!({ "y": 0 }));
        }
    },
    build: Some(|case, settings| driven_by(settings, drive(case))),
    checks_after_end: |_| true,
    ..PresetDriver::PLAIN
};

fn drive(case: &PresetCase<'_>) -> Drive {
    match case.drive() {
        Some("detector") => Drive::Detector,
        Some("run") => Drive::Run,
        _ => Drive::Recording,
    }
}
