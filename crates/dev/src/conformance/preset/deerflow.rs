//! DeerFlow calls it a forced answer if a reply without its calls becomes the answer.

use super::Driver;
use crate::decision::Action;

pub(super) const DRIVER: Driver = Driver {
    id: "deerflow",
    action: |doing, fields| {
        if doing.act.decision.action == Action::Stop {
            fields.insert("kind".to_owned(), "force_final".into());
        }
    },
    ..Driver::PLAIN
};
