//! Strands: agents, swarms and graphs are run separately.

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
    report: |played, fields| {
        let failed = played.watch.machine::<Strands>().is_some_and(|team| team.failed);
        fields.insert("status".to_owned(), if failed { "failed" } else { "completed" }.into());
        fields.insert("nodes_run".to_owned(), played.answers().count().into());
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
