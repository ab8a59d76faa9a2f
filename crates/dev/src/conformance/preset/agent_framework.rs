//! Agent Framework: what the program does around the agent is scripted.

use super::{PresetCase, PresetDriver};
use crate::preset::agent_framework::{AgentFrameworkProgram, FunctionLoop, with_program};
use crate::preset::frame::rounds::AgentLoopMachine;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "agent-framework",
    read,
    build: Some(|case, settings| with_program(settings, &program(case))),
    is_running: |watch| watch.machine::<AgentLoopMachine<FunctionLoop>>().is_some_and(|agent| !agent.is_over()),
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
