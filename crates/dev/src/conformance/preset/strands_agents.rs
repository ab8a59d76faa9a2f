//! Strands: agents, swarms and graphs are run separately.

use serde_json::json;

use super::case::COMBINED;
use super::{PresetCase, PresetDriver};
use crate::preset::strands_agents::{Strands, parts};

const LIMITS: &str = "limits";
const SWARM: &str = "swarm";
const GRAPH: &str = "graph";

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "strands-agents",
    rules: &[LIMITS, SWARM, GRAPH],
    read: |case| case.set_aside(&["seconds_per_model_call"]),
    build: Some(|case, settings| parts(settings, &[part(case)])),
    checks_after_end: |_| true,
    report: |played| {
        let failed = played.watch.machine::<Strands>().is_some_and(|team| team.failed);
        let status = if failed { "failed" } else { "completed" };
        Some(json!({ "status": status, "nodes_run": played.answers().count() }))
    },
    ..PresetDriver::PLAIN
};

/// What the case runs; the settings of a case for all rules determine it.
fn part(case: &PresetCase<'_>) -> &'static str {
    match case.rule {
        COMBINED if case.gives(&["max_node_executions"]) => GRAPH,
        COMBINED if case.gives(&["limits"]) => LIMITS,
        COMBINED => SWARM,
        rule => rule,
    }
}
