//! Kilo Code: a person's answers are scripted.

use super::{Case, Driver};
use crate::preset::kilo_code::{Answer, Person, answered_by};

pub(super) const DRIVER: Driver = Driver {
    id: "kilo-code",
    read: |case| {
        case.set_aside(&["reply", "replies", "steps_key"]);
        case.rename("context_limit", "limit.context");
    },
    build: Some(|case, settings| {
        let recipe = answered_by(settings, person(case))?;
        Ok(if case.drive().is_some() { recipe.ends_with_stop() } else { recipe })
    }),
    ..Driver::PLAIN
};

fn person(case: &Case<'_>) -> Person {
    let doom_loop = match case.scripted("reply").as_str() {
        Some("always") => Answer::Always,
        Some("reject") => Answer::Reject,
        _ => Answer::Once,
    };
    let answers = case.scripted("replies").as_array().into_iter().flatten();
    Person { doom_loop, cost: answers.map(|answer| answer.as_str().unwrap_or_default().to_owned()).collect() }
}
