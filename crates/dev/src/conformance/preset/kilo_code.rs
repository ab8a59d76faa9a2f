//! Kilo Code: a person's answers are scripted.

use super::{PresetCase, PresetDriver};
use crate::preset::kilo_code::{KiloUser, answered_by};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "kilo-code",
    read: |case| {
        case.set_aside(&["reply", "replies", "steps_key"]);
        case.rename("context_limit", "limit.context");
    },
    build: Some(|case, settings| {
        let recipe = answered_by(settings, person(case))?;
        Ok(if case.drive().is_some() { recipe.ends_with_stop() } else { recipe })
    }),
    ..PresetDriver::PLAIN
};

fn person(case: &PresetCase<'_>) -> KiloUser {
    let answers = case.scripted("replies").as_array().into_iter().flatten();
    KiloUser {
        doom_loop: super::opencode::answer(case),
        cost: answers.map(|answer| answer.as_str().unwrap_or_default().to_owned()).collect(),
    }
}
