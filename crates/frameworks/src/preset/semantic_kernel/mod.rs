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
use crate::framework::{Build, Framework, Profile, params};
use crate::host::{Does, Host, OUT_OF_REACH, Place, Slot, Syntax};
use crate::transcript::Moment;

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

const PROFILES: &[Profile] = &[
    Profile::new("auto_invoke", "one agent and its functions: rounds of calls, then a request without them"),
    Profile::new("AgentGroupChat", "agents in turn under a termination strategy: 5 turns an invocation"),
    Profile::new("GroupChatOrchestration", "agents in turn under a manager: max_rounds, none by default"),
    Profile::new("MagenticOrchestration", "a manager with progress ledgers: replans after the 4th stall"),
    Profile::new(
        "AggregatorTerminationStrategy",
        "ALL or ANY of several strategies; in this version no AgentGroupChat takes it",
    ),
];

const MANUAL: &str = "\
## Rules
- `auto_invoke`: at most N requests with functions (Auto 5, Required 1, None 0); after the N-th round of calls one \
more request with the functions taken away. Calls in that reply are returned unexecuted.
- `termination_strategy`, after every message of an agent, on the whole history; `agents` restricts it to theirs. A yes \
completes the chat.
- `maximum_iterations`: agent turns of one invocation (default strategy 5, one's own 99). It does **not** complete the chat.
- `AggregatorTerminationStrategy`: ALL (default) or ANY of the parts **on this message**; the parts' maxima are ignored.
- `max_rounds`: agents that speak in a GroupChatOrchestration.
- `magentic`: before each ledger, rounds and resets. A ledger that is satisfied stops; then a stall + 1 if no progress \
or in a loop, else - 1 (not below 0); over the limit a new plan: stalls 0, resets + 1, next ledger at once.
## Comparator
Attempts and turns count up to N; max_rounds counter + 1 `>`; ledgers `>=`, resets `>`, stalls `>`.
## Counter
Rounds of calls (parallel ones are one); agent turns = replies without calls; ledgers, also those that replan.
## Reset
Attempts and turns with each user message; max_rounds never. A completed chat refuses the next invocation unless \
`automatic_reset`.
## Off value
max_rounds, max_reset_count, max_round_count null. Attempts of 0 or below switch automatic calls off: the first reply with \
calls is returned as it is. A maximum of 0 or below: nobody speaks.
## Traps
- The conditions of an aggregator are not latched: they must hold on one message. Empty ALL is true, empty ANY false.
- A word is looked for in the lower-cased message, so a word with capitals is never found.
- Agents are told apart by the `name` of their messages; ledgers are judge replies.
";

const HOST: Host = Host::new(
    "where the kernel is called",
    Syntax::Python,
    r"from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior

behavior = FunctionChoiceBehavior.Auto()
behavior.maximum_auto_invoke_attempts = <<maximum_auto_invoke_attempts>>
settings.function_choice_behavior = behavior
",
    &[Slot::new("steps", Moment::BeforeRequest, Place::Is("maximum_auto_invoke_attempts")).does(Does::LastAnswer)],
)
.quiet(&[("maximum_auto_invoke_attempts", OUT_OF_REACH)])
.cannot(&[("", "it counts rounds of calls, and of agents; nothing else")])
.profile("auto_invoke");

pub(super) fn framework() -> Framework {
    Framework {
        id: "semantic-kernel",
        version: "semantic-kernel 1.45.0",
        source: "connectors/ai/chat_completion_client_base.py, agents/group_chat, agents/strategies, agents/orchestration",
        summary: "5 automatic rounds of calls, then a request without functions; group chats of 5 turns; Magentic",
        manual: MANUAL,
        parameters: param::ALL,
        profiles: PROFILES,
        rules: &["auto_invoke", "group_chat_termination", "aggregator", "orchestration_max_rounds", "magentic"],
        host: HOST,
        build: Build::Machine(build),
        ..Framework::PRESET
    }
}

fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    let recipe = match settings.profile.as_deref() {
        Some("AgentGroupChat") => Recipe::new(chat::GroupChat::new(settings)?, &[STRATEGY, MAXIMUM])
            .needs(STRATEGY, AGENT_NAMES)
            .needs(MAXIMUM, AGENT_NAMES),
        Some(AGGREGATOR) => Recipe::new(chat::Aggregator::new(settings)?, &[AGGREGATOR]).needs(AGGREGATOR, AGENT_NAMES),
        Some("GroupChatOrchestration") => {
            Recipe::new(chat::Rounds::new(settings)?, &[ROUNDS]).blind(&[ROUNDS]).needs(ROUNDS, AGENT_NAMES)
        }
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
