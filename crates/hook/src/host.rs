//! The agents whose hook this is, and what each lets a rule see.

use super::payload::PayloadEvent;
use super::round::HookStrategy;
use crate::decision::{Need, RuleName};
use crate::signal::{Reads, TextOf};
use crate::transcript::named;

named! {
    /// An agent, by its name in prose.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum HostAgent {
        /// Anthropic's Claude Code.
        ClaudeCode = "Claude Code" => "claude-code",
        /// Alibaba's Qwen Code.
        QwenCode = "Qwen Code" => "qwen-code",
    }

    /// The name on the command line.
    pub fn id() -> &'static str;
}

named! {
    /// How well a rule reads its numbers on a host.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum RuleVisibility {
        /// As in a replay of the finished session.
        Exact = "exact",
        /// As in a replay, or a step later where the host's transcript lags.
        Late = "late",
        /// Not at all.
        Blind = "blind",
    }
}

/// The fields of an event's payload that the hook reads, in the version that was read.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The event.
    pub event: PayloadEvent,
    /// Its fixture.
    pub fixture: &'static str,
}

macro_rules! expected {
    ($folder:literal: $($event:ident)*) => {
        &[$(Expected {
            event: PayloadEvent::$event,
            fixture: include_str!(concat!("../fixtures/", $folder, "/", stringify!($event), ".json")),
        }),*]
    };
}

impl HostAgent {
    /// The host with that name on the command line.
    pub fn named(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.id() == id)
    }

    /// The version whose payloads the fixtures are.
    pub fn version(self) -> &'static str {
        match self {
            Self::ClaudeCode => "2.1.332",
            Self::QwenCode => "0.24.4",
        }
    }

    /// The payloads that the hook was written for.
    pub fn expected(self) -> &'static [Expected] {
        match self {
            Self::ClaudeCode => expected!("claude-code-2.1.332":
                UserPromptSubmit PreToolUse PostToolUseFailure PostToolBatch Stop StopFailure SubagentStop SessionStart SessionEnd),
            Self::QwenCode => expected!("qwen-code-0.24.4":
                UserPromptSubmit PreToolUse PostToolUseFailure PostToolBatch Stop StopFailure SubagentStop SessionStart SessionEnd),
        }
    }

    /// How well the rules of a stack read their numbers here, with the reason where it is not exact.
    pub fn reach(self, rules: &HookStrategy) -> Vec<(RuleName, RuleVisibility, &'static str)> {
        let requirements = rules.strategy.requirements();
        let of = |rule: RuleName| {
            let needs = requirements.iter().filter(|requirement| requirement.rule == rule);
            let of_needs = needs.map(|requirement| self.need(requirement.need, rules.own.is_some()));
            let of_signals = rules.own.iter().flat_map(|stack| {
                let clause = stack.clauses.iter().filter(|clause| clause.name == rule);
                clause.flat_map(|clause| clause.condition.rules()).map(signal)
            });
            let (reach, why) =
                of_needs.chain(of_signals).max_by_key(|(reach, _)| *reach).unwrap_or((RuleVisibility::Exact, ""));
            (rule, reach, why)
        };
        rules.strategy.rules().into_iter().map(of).collect()
    }

    /// How well a need is met.
    fn need(self, need: Need, own: bool) -> (RuleVisibility, &'static str) {
        match need {
            Need::Times
            | Need::Calls
            | Need::Replies
            | Need::Results
            | Need::ErrorFlags
            | Need::ToolNames
            | Need::WholeSession
            | Need::Arguments
            | Need::PlainArguments
            | Need::CallArguments
            | Need::ResultTexts => (RuleVisibility::Exact, ""),
            Need::Usage => match self {
                Self::ClaudeCode => (RuleVisibility::Late, "tokens are in the transcript, which may lag by a reply"),
                // Each of its sub-agents has a file of its own, which no event names.
                Self::QwenCode => (
                    RuleVisibility::Late,
                    "tokens are in the transcript, which may lag by a reply; those of sub-agents are not in it and not counted",
                ),
            },
            Need::Cost => (RuleVisibility::Blind, "no price comes with an event"),
            // An own rule says by its signal which texts it reads.
            Need::Texts | Need::ReplyTexts if own => (RuleVisibility::Exact, ""),
            Need::Texts | Need::ReplyTexts => (RuleVisibility::Blind, "the agent's own words are in no event"),
            _ => (RuleVisibility::Blind, "no event has it"),
        }
    }
}

/// How well a signal is read, apart from its need.
fn signal(rule: &crate::rule::Rule) -> (RuleVisibility, &'static str) {
    let is_exact = (RuleVisibility::Exact, "");
    let has_no_replies = (RuleVisibility::Blind, "the agent's own words are in no event");
    match (rule.signal.reads, rule.options.of) {
        (Reads::Calls, _) | (Reads::RepliesOrResults, TextOf::Results) => is_exact,
        (Reads::Replies, _) | (Reads::RepliesOrResults, TextOf::Reply) => has_no_replies,
        (Reads::Messages, _) => (RuleVisibility::Blind, "the host's own messages are in no event"),
    }
}
