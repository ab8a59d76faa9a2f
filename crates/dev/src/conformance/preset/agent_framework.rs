//! Agent Framework: what the program does around the agent is scripted.

use super::{Case, Driver};
use crate::preset::agent_framework::{FunctionLoop, Program, with_program};
use crate::preset::frame::rounds::Rounds;

pub(super) const DRIVER: Driver = Driver {
    id: "agent-framework",
    read,
    build: Some(|case, settings| with_program(settings, &program(case))),
    is_running: |watch| watch.machine::<Rounds<FunctionLoop>>().is_some_and(|agent| !agent.is_over()),
    ..Driver::PLAIN
};

fn read(case: &mut Case<'_>) {
    case.set_aside(&["terminate_after", "tools", "set_later"]);
    if *case.scripted("tools") == false {
        case.settings.set.insert("enabled".to_owned(), false.into());
    }
}

fn program(case: &Case<'_>) -> Program {
    Program { terminate_after: case.texts("terminate_after"), set_later: case.scripted("set_later").clone() }
}
