//! AG2: a person's answers are scripted; even an empty table makes a case a group chat.

use serde_json::Value;

use super::{PresetCase, PresetDriver};
use crate::preset::ag2::answered_by;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "ag2",
    read,
    build: Some(|case, settings| answered_by(settings, case.texts("human").into())),
    ..PresetDriver::PLAIN
};

fn read(case: &mut PresetCase<'_>) {
    case.set_aside(&["human"]);
    if let Some(Value::Object(group)) = case.settings.set.get_mut("group_chat") {
        group.entry("max_round").or_insert_with(|| 10.into());
    }
}
