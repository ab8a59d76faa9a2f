//! Agent Framework: what the program does around the agent is scripted.

use super::{PresetCase, PresetDriver, loop_is_running};
use crate::preset::agent_framework::{AgentFrameworkProgram, FunctionLoop, with_program};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "agent-framework",
    read,
    build: Some(|case, settings| with_program(settings, &program(case))),
    is_running: loop_is_running::<FunctionLoop>,
    ..PresetDriver::PLAIN
};

fn read(case: &mut PresetCase<'_>) {
    case.set_aside(&["terminate_after", "tools", "set_later"]);
    if *case.scripted("tools") == false {
        case.settings.set.insert("enabled".to_owned(), false.into());
    }
}

fn program(case: &PresetCase<'_>) -> AgentFrameworkProgram {
    AgentFrameworkProgram {
        terminate_after: case.texts("terminate_after"),
        set_later: case.scripted("set_later").clone(),
    }
}
