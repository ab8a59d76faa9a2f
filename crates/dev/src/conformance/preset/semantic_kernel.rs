//! Semantic Kernel: each table runs one of its loops.

use super::case::COMBINED;
use super::played::{Fields, Played};
use super::{PresetCase, PresetDriver};
use crate::decision::Action;
use crate::preset::semantic_kernel::chat::OrchestrationRounds;
use crate::preset::semantic_kernel::magentic::Magentic;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "semantic-kernel",
    rules: &["auto_invoke", "group_chat_termination", "aggregator", "orchestration_max_rounds", "magentic"],
    read,
    ends_with_last_stop: true,
    report,
    action: |doing, fields| {
        fields.insert("stall_count".to_owned(), doing.observed());
        if doing.act.decision.rule.as_str() == "magentic.limits" {
            fields.insert("before_request".to_owned(), true.into());
        }
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

fn report(played: &Played<'_>, fields: &mut Fields) {
    fields.insert("tools_executed".to_owned(), played.results.into());
    let is_end = |reply: usize| {
        let mut acts = played.acts.iter().map(|act| &act.decision);
        acts.any(|decision| decision.action == Action::Stop && decision.event == Some(reply))
    };
    fields.insert("per_message".to_owned(), played.answers().map(is_end).collect());
    if let Some(rounds) = played.watch.machine::<OrchestrationRounds>() {
        fields.insert("agent_turns".to_owned(), rounds.spoken.into());
    }
    if let Some(magentic) = played.watch.machine::<Magentic>() {
        fields.insert("ledgers_used".to_owned(), magentic.rounds.into());
    }
}
