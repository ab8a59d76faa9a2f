//! Coding agents whose settings can hold a limit, but whose own rules are not replayed here: a stack is exported to
//! them, and cannot be read back. What Claude Code has no setting for, the hook does.
//!
//! Settings as of November 2026: `claude -p` and the Agent SDK as its packages have them (npm 0.3.330, PyPI 0.2.187, and
//! the `claude` within); `codex exec` has no option that ends a run (`exec/src/cli.rs` of its repository), and what
//! GitHub documents for Copilot CLI, `--max-autopilot-continues`, counts how often
//! it goes on by itself, not model calls.

use super::HostInfo;
use crate::host::{Does, Host, Place, Slot, Syntax};
use crate::transcript::Moment;

const THE_HOOK: &[(&str, &str)] = &[("", "no setting; the hook does it: `whenstop hook install`")];
const TURNS: &str = "it counts turns of its own main loop; sub-agents are not counted";
const DOLLARS: &str = "it counts dollars by its own prices, those of sub-agents too, once a turn is paid for";
const NO_HOOK: &[(&str, &str)] = &[("", "no setting, and `whenstop hook` does not know this agent")];
const NO_STEPS: &[(&str, &str)] = &[(
    "",
    "no setting, and `whenstop hook` does not know this agent (`--max-autopilot-continues` counts how often it goes on \
     by itself, not model calls)",
)];

const CLAUDE_CODE: Host = Host::new(
    "where it is started without a person (`claude -p`)",
    Syntax::Shell,
    "claude -p \"$PROMPT\" \\\n  --max-turns <<--max-turns>> \\\n  --max-budget-usd <<--max-budget-usd>> \\\n  --output-format stream-json --verbose\n",
    &[
        Slot::new("steps", Moment::BeforeRequest, Place::Is("--max-turns"))
            .does(Does::Fail("error_max_turns"))
            .differs(TURNS),
        Slot::new("cost", Moment::AfterResponse, Place::Is("--max-budget-usd"))
            .amount()
            .does(Does::Fail("error_max_budget_usd"))
            .differs(DOLLARS),
    ],
)
.cannot(THE_HOOK)
.note("settings of `claude -p`; a session with a person takes the hook");

const CLAUDE_AGENT_SDK: Host = Host::new(
    "where the agent is run; in TypeScript the options are `maxTurns` and `maxBudgetUsd`",
    Syntax::Python,
    "options = ClaudeAgentOptions(\n    max_turns=<<max_turns>>,\n    max_budget_usd=<<max_budget_usd>>,\n)\n",
    &[
        Slot::new("steps", Moment::BeforeRequest, Place::Is("max_turns"))
            .does(Does::Fail("error_max_turns"))
            .differs(TURNS),
        Slot::new("cost", Moment::AfterResponse, Place::Is("max_budget_usd"))
            .amount()
            .does(Does::Fail("error_max_budget_usd"))
            .differs(DOLLARS),
    ],
)
.cannot(THE_HOOK);

const NO_SETTING: Host = Host::none(NO_HOOK);
const COPILOT_CLI: Host = Host::none(NO_STEPS);

/// The coding agents, by name.
pub fn agents() -> Vec<HostInfo> {
    let agent = |id, version, host| HostInfo { id, version, host, parameters: &[] };
    vec![
        agent("claude-code", "", &CLAUDE_CODE),
        agent("claude-agent-sdk", "0.2.187", &CLAUDE_AGENT_SDK),
        agent("codex", "", &NO_SETTING),
        agent("copilot-cli", "", &COPILOT_CLI),
    ]
}
