//! LangChain: `config.agent` names the kind of agent; the forced last answer of `generate` is scripted.

use serde_json::{Value, json};

use super::case::COMBINED;
use super::played::Doing;
use super::{PresetCase, PresetDriver};
use crate::decision::Action;
use crate::transcript::Moment;

const EXECUTOR: &str = "AgentExecutor";

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "langchain",
    rules: &[
        "recursion_limit",
        "remaining_steps",
        "ModelCallLimitMiddleware",
        "ToolCallLimitMiddleware",
        "together",
        EXECUTOR,
    ],
    read,
    checks_after_end: |case| case.settings.is_profile(EXECUTOR),
    action,
    ..PresetDriver::PLAIN
};

fn read(case: &mut PresetCase<'_>) {
    // A case for all rules drives either the executor's limits or the middleware of a graph.
    let of_executor = ["max_iterations", "early_stopping_method", "max_execution_time", "handle_parsing_errors"];
    if case.rule == EXECUTOR || (case.rule == COMBINED && case.gives(&of_executor)) {
        case.settings.profile = Some(EXECUTOR.to_owned());
    } else {
        case.profile_from("agent");
    }
}

fn action(doing: &Doing<'_>) -> Option<Value> {
    let decision = &doing.act.decision;
    match decision.code.as_deref()? {
        "generate" if decision.action == Action::ForceFinal => Some(json!({ "detail": "forced" })),
        // After a round of tools, a request would have come next.
        "GraphRecursionError" if decision.point.moment == Moment::AfterTools => Some(json!({ "before_request": true })),
        _ => None,
    }
}
