//! DeerFlow calls it a forced answer if a reply without its calls becomes the answer.

use serde_json::json;

use super::PresetDriver;
use crate::decision::Action;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "deerflow",
    action: |doing| match doing.act.decision.action {
        Action::Stop => Some(json!({ "kind": "force_final" })),
        _ => None,
    },
    ..PresetDriver::PLAIN
};
