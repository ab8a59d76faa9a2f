//! Semantic Kernel: each table runs one of its loops.

use serde_json::{Value, json};

use super::case::COMBINED;
use super::played::Played;
use super::{PresetCase, PresetDriver};
use crate::decision::Action;
use crate::preset::semantic_kernel::chat::OrchestrationRounds;
use crate::preset::semantic_kernel::magentic::Magentic;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "semantic-kernel",
    rules: &["auto_invoke", "group_chat_termination", "aggregator", "orchestration_max_rounds", "magentic"],
    read,
    ends_with_last_stop: true,
    report: |played| Some(report(played)),
    action: |doing| match doing.act.decision.rule.as_str() {
        "magentic.limits" => Some(json!({ "stall_count": doing.observed(), "before_request": true })),
        _ => Some(json!({ "stall_count": doing.observed() })),
    },
    ..PresetDriver::PLAIN
};

fn read(case: &mut PresetCase<'_>) {
    // A case for all rules: the configuration determines which of the loops is run.
    let profile = match case.rule {
        "group_chat_termination" => "AgentGroupChat",
        "aggregator" => "AggregatorTerminationStrategy",
        "orchestration_max_rounds" => "GroupChatOrchestration",
        "magentic" => "MagenticOrchestration",
        COMBINED if case.gives(&["termination_strategy"]) => "AgentGroupChat",
        COMBINED if case.gives(&["strategies"]) => "AggregatorTerminationStrategy",
        COMBINED if case.gives(&["max_stall_count", "max_round_count", "max_reset_count"]) => "MagenticOrchestration",
        COMBINED if case.gives(&["max_rounds"]) => "GroupChatOrchestration",
        _ => "auto_invoke",
    };
    case.settings.profile = Some(profile.to_owned());
}

fn report(played: &Played<'_>) -> Value {
    let is_end = |reply: usize| {
        let mut acts = played.acts.iter().map(|act| &act.decision);
        acts.any(|decision| decision.action == Action::Stop && decision.event == Some(reply))
    };
    json!({
        "tools_executed": played.results,
        "per_message": played.answers().map(is_end).collect::<Value>(),
        "agent_turns": played.watch.machine::<OrchestrationRounds>().map(|rounds| rounds.spoken),
        "ledgers_used": played.watch.machine::<Magentic>().map(|magentic| magentic.rounds),
    })
}
