//! goose: each table runs a check that the shipped program leaves without effect.

use super::case::COMBINED;
use super::{PresetCase, PresetDriver};
use crate::preset::goose::checked;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "goose",
    rules: &["max_turns", "repetition_check", "repetition_inspector", "repeated_error"],
    read,
    build: Some(|case, settings| checked(settings, case.rule == COMBINED || settings.is_profile("repeated-error"))),
    ..PresetDriver::PLAIN
};

fn read(case: &mut PresetCase<'_>) {
    let profile = match case.rule {
        "repetition_check" | COMBINED => "documented",
        "repeated_error" => "repeated-error",
        _ => "shipped",
    };
    case.settings.profile = Some(profile.to_owned());
}
