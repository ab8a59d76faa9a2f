//! Semantic Kernel: automatic function calls, group chats and their termination strategies, Magentic.

#[doc(hidden)]
pub mod auto_invoke;
#[doc(hidden)]
pub mod chat;
#[doc(hidden)]
pub mod magentic;
mod strategy;

use super::frame::{Recipe, Settings, SettingsError};
use crate::decision::Need;
use crate::framework::params;

const AUTO_INVOKE: &str = "auto_invoke";
const MAXIMUM: &str = "maximum_iterations";
const STRATEGY: &str = "termination_strategy";
const AGGREGATOR: &str = "AggregatorTerminationStrategy";
const ROUNDS: &str = "max_rounds";
const MAGENTIC_LIMITS: &str = "magentic.limits";
const MAGENTIC_LEDGER: &str = "magentic.ledger";
const AGENT_NAMES: Need = Need::AgentNames;

params! {
    MAXIMUM_AUTO_INVOKE_ATTEMPTS: "maximum_auto_invoke_attempts" = 5, when AUTO_INVOKE = false => 0,
        when FUNCTION_CHOICE_BEHAVIOR = "Required" => 1, when FUNCTION_CHOICE_BEHAVIOR = "None" => 0, off 0,
        "rounds of calls before the functions are taken away";
    FUNCTION_CHOICE_BEHAVIOR: "function_choice_behavior" = "Auto", "Auto, Required or None";
    AUTO_INVOKE: "auto_invoke" = true, off false, "call functions without asking";
    TERMINATION_STRATEGY: "termination_strategy" = { type = "default" },
        "AgentGroupChat: type (default, never, contains, min_messages), word, n, agents, maximum_iterations, \
         automatic_reset";
    STRATEGIES: "strategies" = null, "aggregator: its parts, written as above";
    CONDITION: "condition" = "All", "aggregator: All or Any";
    MAX_ROUNDS: "max_rounds" = null, off null, "GroupChatOrchestration: agents that speak";
    MAX_STALL_COUNT: "max_stall_count" = 3, "Magentic: stalls before a new plan";
    MAX_RESET_COUNT: "max_reset_count" = null, off null, "Magentic: new plans";
    MAX_ROUND_COUNT: "max_round_count" = null, off null, "Magentic: progress ledgers";
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    let recipe = match settings.profile.as_deref() {
        Some("AgentGroupChat") => Recipe::new(chat::GroupChat::new(settings)?, &[STRATEGY, MAXIMUM])
            .needs(STRATEGY, AGENT_NAMES)
            .needs(MAXIMUM, AGENT_NAMES),
        Some(AGGREGATOR) => Recipe::new(chat::Aggregator::new(settings)?, &[AGGREGATOR]).needs(AGGREGATOR, AGENT_NAMES),
        Some("GroupChatOrchestration") => Recipe::new(chat::OrchestrationRounds::new(settings)?, &[ROUNDS])
            .blind(&[ROUNDS])
            .needs(ROUNDS, AGENT_NAMES),
        Some("MagenticOrchestration") => {
            Recipe::new(magentic::Magentic::new(settings)?, &[MAGENTIC_LIMITS, MAGENTIC_LEDGER])
                .needs(MAGENTIC_LIMITS, Need::Judge)
                .needs(MAGENTIC_LEDGER, Need::Judge)
        }
        _ => {
            let machine = auto_invoke::AutoInvoke::new(settings)?;
            Recipe::new(machine, &[AUTO_INVOKE]).blind(&[AUTO_INVOKE]).requests_before_prompts()
        }
    };
    Ok(recipe.resumes_at_user())
}
