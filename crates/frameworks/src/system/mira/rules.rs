//! The profiles, and the switches in which they differ.

use super::plan::MetricsScope;
use crate::text::Wording;

/// Which rules are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The code of release 0.3.
    Published03,
    /// The design document, to the letter.
    Documented,
    /// The decisions of release 0.2.
    Published02,
    /// The decisions published after 0.3.
    PublishedLater,
}

/// The profiles' names; the first is the default.
pub const PROFILES: &[&str] = &["published-0.3", "documented", "published-0.2", "published-later"];

impl Profile {
    const ALL: [Self; 4] = [Self::Published03, Self::Documented, Self::Published02, Self::PublishedLater];

    /// The profile of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        PROFILES[self as usize]
    }
}

/// In which order a round is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Stop policy first, then the continuation decision.
    Code,
    /// Guardrail, cap and heuristics first, then goals and budgets.
    Documented,
}

/// Over what `maxTokens` is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenScope {
    /// The runs of one inbound message.
    Message,
    /// The session, until `/new`.
    Session,
}

/// When a provider's error stops the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderCheck {
    /// No such test.
    Never,
    /// Whatever `strictHeuristics` says.
    Always,
    /// Only with `strictHeuristics`.
    IfStrict,
}

/// When an empty queue is filled again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replan {
    /// Only while a `maxExperiments` budget has room.
    WithinBudget,
    /// Unless a stop condition is met; without a policy always.
    Liberal,
    /// As liberal, but never without a policy.
    NeedsPolicy,
}

/// The switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Order of the checks.
    pub order: Order,
    /// Phrase lists.
    pub wording: Wording,
    /// Metrics the goals see.
    pub metrics: MetricsScope,
    /// What `maxTokens` counts.
    pub tokens: TokenScope,
    /// Provider errors.
    pub provider: ProviderCheck,
    /// Empty queue.
    pub replan: Replan,
    /// Are a blocked plan and a missing checkpoint answered with a repair run?
    pub repairs: bool,
    /// Do mild issues block at contract version 1, too?
    pub mild_issues_block: bool,
    /// Must a plan be approved?
    pub approval: bool,
}

impl Rules {
    /// The switches of a profile.
    pub fn of(profile: Profile) -> Self {
        let code = Self {
            order: Order::Code,
            wording: Wording::V03,
            metrics: MetricsScope::Merged,
            tokens: TokenScope::Message,
            provider: ProviderCheck::Always,
            replan: Replan::Liberal,
            repairs: true,
            mild_issues_block: true,
            approval: false,
        };
        match profile {
            Profile::Published03 => code,
            Profile::Documented => Self {
                order: Order::Documented,
                metrics: MetricsScope::LastExperiment,
                tokens: TokenScope::Session,
                provider: ProviderCheck::Never,
                repairs: false,
                ..code
            },
            Profile::Published02 => {
                Self { wording: Wording::V02, provider: ProviderCheck::Never, replan: Replan::WithinBudget, ..code }
            }
            Profile::PublishedLater => Self {
                wording: Wording::Later,
                provider: ProviderCheck::IfStrict,
                replan: Replan::NeedsPolicy,
                mild_issues_block: false,
                approval: true,
                ..code
            },
        }
    }
}
