//! Coding agents whose settings can hold a limit, but whose own rules are not replayed here: a stack is exported to
//! them, and cannot be read back. What Claude Code has no setting for, the hook does.
//!
//! Settings as of November 2026: `claude -p` and the Agent SDK as its packages have them (npm 0.3.330, PyPI 0.2.187, and
//! the `claude` within). Codex 0.171.0 was run: no answer to any event of its `hooks.json` ends a run (`continue: false` to
//! PostToolUse puts the words in the place of the result), and `features.rollout_budget` ends it after the reply with
//! which the count exceeds the limit. What GitHub documents for Copilot CLI, `--max-autopilot-continues`, counts how often
//! it goes on by itself, not model calls.

use super::HostInfo;
use crate::host::{ClauseSlot, CountReset, Does, ExportTarget, FROM_ZERO, Fires, Syntax};
use crate::transcript::Moment;

const THE_HOOK: &[(&str, &str)] = &[("", "no setting; the hook does it: `whenstop hook install`")];
const TURNS: &str = "it counts turns of its own main loop; sub-agents are not counted";
const DOLLARS: &str = "it counts dollars by its own prices, those of sub-agents too, once a turn is paid for";
const UNFINISHED: &str = "Codex calls it under development; sub-agents count, too";
const CODEX_HOOK: &[(&str, &str)] =
    &[("", "no setting, and `whenstop hook` cannot stop this agent: no answer to its hooks ends a run (0.171.0)")];
const NO_STEPS: &[(&str, &str)] = &[(
    "",
    "no setting, and `whenstop hook` does not know this agent (`--max-autopilot-continues` counts how often it goes on \
     by itself, not model calls)",
)];

const CLAUDE_CODE: ExportTarget = ExportTarget {
    file: "where it is started without a person (`claude -p`)",
    syntax: Syntax::Shell,
    template: "claude -p \"$PROMPT\" \\\n  --max-turns <<--max-turns>> \\\n  --max-budget-usd <<--max-budget-usd>> \\\n  --output-format stream-json --verbose\n",
    slots: &[max_turns("--max-turns"), max_budget("--max-budget-usd")],
    note: "settings of `claude -p`; a session with a person takes the hook",
    ..ExportTarget::none(THE_HOOK)
};

const CLAUDE_AGENT_SDK: ExportTarget = ExportTarget {
    file: "where the agent is run; in TypeScript the options are `maxTurns` and `maxBudgetUsd`",
    syntax: Syntax::Python,
    template: "options = ClaudeAgentOptions(\n    max_turns=<<max_turns>>,\n    max_budget_usd=<<max_budget_usd>>,\n)\n",
    slots: &[max_turns("max_turns"), max_budget("max_budget_usd")],
    ..ExportTarget::none(THE_HOOK)
};

/// Claude Code's limit on turns, under this name.
const fn max_turns(name: &'static str) -> ClauseSlot {
    ClauseSlot {
        does: Does::Fail("error_max_turns"),
        differs: Some(TURNS),
        ..ClauseSlot::new("steps", Moment::BeforeRequest, name)
    }
}

/// Claude Code's limit on dollars, under this name.
const fn max_budget(name: &'static str) -> ClauseSlot {
    ClauseSlot {
        range: FROM_ZERO,
        whole: false,
        does: Does::Fail("error_max_budget_usd"),
        differs: Some(DOLLARS),
        ..ClauseSlot::new("cost", Moment::AfterResponse, name)
    }
}

/// Codex' budget, counted in `signal` by these weights.
const fn codex_budget(signal: &'static str, weights: &'static [(&'static str, &'static str)]) -> ClauseSlot {
    ClauseSlot {
        counts: CountReset::Session,
        fires: Fires::MoreThan,
        does: Does::Fail("budget reached"),
        differs: Some(UNFINISHED),
        with: weights,
        ..ClauseSlot::new(signal, Moment::AfterResponse, "limit_tokens")
    }
}

const CODEX: ExportTarget = ExportTarget {
    file: "~/.codex/config.toml",
    syntax: Syntax::Toml,
    template: "[features.rollout_budget]\nenabled = true\nlimit_tokens = <<limit_tokens>>\nprefill_token_weight = \
     <<prefill_token_weight>>\nsampling_token_weight = <<sampling_token_weight>>\nreminder_at_remaining_tokens = \
     []\nreminder_at_context_start = false\n",
    slots: &[
        codex_budget("tokens.uncached", &[("prefill_token_weight", "1"), ("sampling_token_weight", "0")]),
        codex_budget("tokens.output", &[("prefill_token_weight", "0"), ("sampling_token_weight", "1")]),
    ],
    note: "Codex calls this feature under development; seen to end runs in 0.171.0",
    ..ExportTarget::none(CODEX_HOOK)
};
const COPILOT_CLI: ExportTarget = ExportTarget::none(NO_STEPS);

/// The coding agents, by name.
pub fn agents() -> Vec<HostInfo> {
    let agent = |id, version, host| HostInfo { id, version, host, parameters: &[] };
    vec![
        agent("claude-code", "", &CLAUDE_CODE),
        agent("claude-agent-sdk", "0.2.187", &CLAUDE_AGENT_SDK),
        agent("codex", "0.171.0", &CODEX),
        agent("copilot-cli", "", &COPILOT_CLI),
    ]
}
