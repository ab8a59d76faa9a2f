//! LlamaIndex: what the program gives the agent, the workflow and each run is scripted.

use serde_json::json;

use super::{PresetCase, PresetDriver, loop_is_running};
use crate::preset::llama_index::{LlamaIndexProgram, LlamaIndexWorkflow, with_program};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "llama-index",
    read: |case| {
        case.set_aside(&[
            "agents",
            "agent_early_stopping_method",
            "run_early_stopping_method",
            "share_context",
            "max_iterations_by_run",
        ]);
    },
    build: Some(|case, settings| with_program(settings, &program(case))),
    is_running: loop_is_running::<LlamaIndexWorkflow>,
    action: |doing| Some(json!({ "final_output": doing.result()?.text() })),
    ..PresetDriver::PLAIN
};

fn program(case: &PresetCase<'_>) -> LlamaIndexProgram {
    let word = |name: &str| case.scripted(name).as_str().map(str::to_owned);
    LlamaIndexProgram {
        agent_method: word("agent_early_stopping_method"),
        run_method: word("run_early_stopping_method"),
        max_iterations_by_run: case.scripted("max_iterations_by_run").as_array().cloned().unwrap_or_default(),
        shares_context: case.has("share_context"),
    }
}
