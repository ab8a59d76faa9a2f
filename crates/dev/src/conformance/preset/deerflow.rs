//! DeerFlow calls it a forced answer if a reply without its calls becomes the answer.

use super::PresetDriver;
use crate::decision::Action;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "deerflow",
    action: |doing, fields| {
        if doing.act.decision.action == Action::Stop {
            fields.insert("kind".to_owned(), "force_final".into());
        }
    },
    ..PresetDriver::PLAIN
};
