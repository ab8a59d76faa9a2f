//! MIRA's auto mode, which decides after each agent run whether to start another one.
//!
//! `policy` and `rules` hold the configuration, `plan` and `guardrail` read the task plan, `stop` and `decide` make one
//! decision, and `message` is the loop around them.

pub mod decide;
pub mod export;
pub mod guardrail;
pub mod message;
pub mod plan;
pub mod policy;
mod replay;
pub mod rules;
pub mod stop;
#[cfg(test)]
mod tests;
mod traps;

use crate::framework::{Build, FrameworkCode, params};

params! {
    LOGIC: "logic" = null, "the policy's: AND or OR of its goals; goes before the configuration's, as the next four";
    GOALS: "goals" = null, "the policy's: a list of { metric, operator, value }";
    MAX_EXPERIMENTS: "maxExperiments" = null, off null, "the policy's: experiments recorded";
    MAX_TOKENS: "maxTokens" = null, off null, "the policy's: tokens";
    STRICT_HEURISTICS: "strictHeuristics" = null, off false, "the policy's: what replies say stops, too";
    POLICY: "policy" = "sent",
        "sent with every message, as its hosts do, or recorded: a note `mira.policy` replaces it, and `/new` drops it";
    ROUND: "round" = "prompt", "when MIRA is asked: prompt (at the reply without a tool), step, or a number of steps";
    PROMPTS: "prompts" = "follow_up",
        "a recorded prompt stands for the loop's own follow_up, or starts the count anew as a user's message does";
    MODE: "mode" = "auto", "auto, or manual: one run and a silent end";
    CHANNEL: "channel" = "cli", "cli or ui: the export guards work on the UI channel only";
    AGENT_PROFILE: "agent_profile" = null,
        "which fields the guardrail asks for: default, research, engineer or team; else the project's";
    ORDER: "order" = "code", in "documented" = "documented", "the order of the checks: code or documented";
    METRICS: "metrics" = "merged", in "documented" = "last_experiment",
        "which metrics goals see: merged or last_experiment";
    TOKEN_SCOPE: "token_scope" = "message", in "documented" = "session", "what maxTokens counts: message or session";
    AUTO_MAX_ROUNDS: "auto_max_rounds" = 20, in "published-0.5.0" = 100,
        "follow-up runs of one message; fixed before 0.3.3";
}

/// What of the system is code.
pub(super) const CODE: FrameworkCode =
    FrameworkCode { parameters: param::ALL, traps: traps::traps, build: Build::Strategy(replay::build) };
