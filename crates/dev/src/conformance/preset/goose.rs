//! goose: each table runs a check that the shipped program leaves without effect.

use super::case::COMBINED;
use super::{Case, Driver};
use crate::preset::goose::checked;

pub(super) const DRIVER: Driver = Driver {
    id: "goose",
    rules: &["max_turns", "repetition_check", "repetition_inspector", "repeated_error"],
    read,
    build: Some(|case, settings| checked(settings, case.rule == COMBINED || settings.is_profile("repeated-error"))),
    ..Driver::PLAIN
};

fn read(case: &mut Case<'_>) {
    let profile = match case.rule {
        "repetition_check" | COMBINED => "documented",
        "repeated_error" => "repeated-error",
        _ => "shipped",
    };
    case.settings.profile = Some(profile.to_owned());
}
