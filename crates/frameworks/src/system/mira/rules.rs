//! The profiles, and the switches by which they differ.

use super::param;
use super::plan::MetricsScope;
use crate::framework;
use crate::text::Wording;
use crate::transcript::named;

named! {
    /// Which source is followed: the design page, the code it describes, or a release.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MiraProfile {
        /// The code that the design page describes. It is in the repository between the releases 0.2.0/0.3.0 and the
        /// later ones, and was never released.
        Described03 = "described-0.3",
        /// The design page, taken literally.
        Documented = "documented",
        /// Release 0.2.0.
        Published020 = "published-0.2.0",
        /// Release 0.3.0.
        Published030 = "published-0.3.0",
        /// Releases 0.3.1 and 0.3.2, which behave alike.
        Published032 = "published-0.3.2",
        /// Releases 0.3.3, 0.3.4 and 0.5.0, which behave alike.
        Published050 = "published-0.5.0",
    }
}

named! {
    /// The order of the checks after a round.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Order {
        /// Stop policy first, then the continuation decision.
        Code = "code",
        /// Guardrail, cap and heuristics first, then goals and budgets.
        Documented = "documented",
    }
}

named! {
    /// What `maxTokens` is counted over.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TokenScope {
        /// The runs of one inbound message.
        Message = "message",
        /// The session, until `/new`.
        Session = "session",
    }
}

/// When a provider's error stops the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderCheck {
    /// It is not checked.
    Never,
    /// Before all other checks, whatever `strictHeuristics` says.
    First,
    /// Only with `strictHeuristics`, after the guardrail and the cap.
    Heuristic,
}

/// When an empty queue is refilled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replan {
    /// Never: an empty queue ends the loop.
    Never,
    /// Only while a `maxExperiments` budget has room (in the repository before 0.3).
    WithinBudget,
    /// Unless a stop condition is met; always if there is no policy.
    Liberal,
    /// As `Liberal`, but never without a policy.
    NeedsPolicy,
}

/// Which of the guardrail's issues block, and what it requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guardrail {
    /// Up to 0.3.0: every issue blocks.
    All,
    /// 0.3.1: contract version 1 requires no fields, and issues that a repair may fix do not block.
    Fatal,
    /// From 0.3.3: with contract version 1 only severe issues block; the plan's own `plan` block is checked.
    Severe,
}

/// When another run follows despite a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Never (the design page).
    Never,
    /// Up to 0.3.0: on any issue, whatever reason was printed, and then for as long as work is pending.
    Any,
    /// From 0.3.1: once, if the guardrail blocks and every issue can be repaired; the reason is printed only when the
    /// loop really ends.
    Blocked,
}

/// The switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in which releases differ")]
pub struct MiraRules {
    /// Order of the checks.
    pub order: Order,
    /// Phrase lists.
    pub wording: Wording,
    /// Which metrics the goals use.
    pub metrics: MetricsScope,
    /// What `maxTokens` is counted over.
    pub tokens: TokenScope,
    /// When a provider's error stops the loop.
    pub provider: ProviderCheck,
    /// When an empty queue is refilled.
    pub replan: Replan,
    /// What the guardrail requires.
    pub guardrail: Guardrail,
    /// Repair runs after a block.
    pub repair: Repair,
    /// Whether a missing checkpoint causes a repair run.
    pub checkpoint_repair: bool,
    /// Whether a plan must be approved.
    pub approval: bool,
    /// Whether the heuristics can be switched off (`strictHeuristics`).
    pub strict_switch: bool,
    /// Whether a plan's premature `completed` is reverted.
    pub keeps_open: bool,
    /// Whether reasons are printed. 0.2.0 prints only those of stop conditions.
    pub says_why: bool,
    /// Whether only the channel `web` loops. From 0.3 on every channel does, and `web` is called `ui`.
    pub web_only: bool,
    /// The most follow-up runs in one message.
    pub max_rounds: u32,
}

impl MiraRules {
    /// The switches of a profile.
    pub fn from_profile(profile: MiraProfile) -> Self {
        let default = |parameter: &framework::Parameter| parameter.default_in(profile.name()).trim_matches('"');
        let described = Self {
            order: default(&param::ORDER).parse().unwrap_or(Order::Code),
            wording: Wording::V03,
            metrics: default(&param::METRICS).parse().unwrap_or(MetricsScope::Merged),
            tokens: default(&param::TOKEN_SCOPE).parse().unwrap_or(TokenScope::Message),
            provider: ProviderCheck::First,
            replan: Replan::Liberal,
            guardrail: Guardrail::All,
            repair: Repair::Any,
            checkpoint_repair: true,
            approval: false,
            strict_switch: true,
            keeps_open: true,
            says_why: true,
            web_only: false,
            max_rounds: default(&param::AUTO_MAX_ROUNDS).parse().unwrap_or(u32::MAX),
        };
        // In the released wheels' phrase list, "error calling llm" is a failure signal.
        let wheel =
            Self { wording: Wording::Later, provider: ProviderCheck::Never, replan: Replan::NeedsPolicy, ..described };
        let narrow =
            Self { provider: ProviderCheck::Heuristic, guardrail: Guardrail::Fatal, repair: Repair::Blocked, ..wheel };
        match profile {
            MiraProfile::Described03 => described,
            MiraProfile::Documented => {
                Self { provider: ProviderCheck::Never, repair: Repair::Never, checkpoint_repair: false, ..described }
            }
            MiraProfile::Published020 => Self {
                wording: Wording::V02,
                replan: Replan::Never,
                strict_switch: false,
                keeps_open: false,
                says_why: false,
                web_only: true,
                ..wheel
            },
            MiraProfile::Published030 => wheel,
            MiraProfile::Published032 => narrow,
            MiraProfile::Published050 => Self { guardrail: Guardrail::Severe, approval: true, ..narrow },
        }
    }
}
