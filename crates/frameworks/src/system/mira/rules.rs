//! The profiles, and the switches in which they differ.

use super::plan::MetricsScope;
use crate::text::Wording;

/// Which rules are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The code the design page describes: between the releases 0.2.0 and 0.3.0 and the later ones, in the
    /// repository, and in no wheel.
    Described03,
    /// The design page, to the letter.
    Documented,
    /// Release 0.2.0.
    Published020,
    /// Release 0.3.0.
    Published030,
    /// Releases 0.3.1 and 0.3.2, which decide alike.
    Published032,
    /// Releases 0.3.3, 0.3.4 and 0.5.0, which decide alike.
    Published050,
}

/// The profiles' names; the first is the default.
pub const PROFILES: &[&str] =
    &["described-0.3", "documented", "published-0.2.0", "published-0.3.0", "published-0.3.2", "published-0.5.0"];

/// Other names: releases that decide as another one does, and the names of before, of which no release
/// had the rules.
const ALIASES: [(&str, Profile); 6] = [
    ("published-0.3.1", Profile::Published032),
    ("published-0.3.3", Profile::Published050),
    ("published-0.3.4", Profile::Published050),
    ("published-0.3", Profile::Described03),
    ("published-0.2", Profile::Published020),
    ("published-later", Profile::Published050),
];

impl Profile {
    const ALL: [Self; 6] = [
        Self::Described03,
        Self::Documented,
        Self::Published020,
        Self::Published030,
        Self::Published032,
        Self::Published050,
    ];

    /// The profile of that name, or of a release that decides as it does.
    pub fn from_name(name: &str) -> Option<Self> {
        let alias = || ALIASES.into_iter().find(|(alias, _)| *alias == name).map(|(_, profile)| profile);
        Self::ALL.into_iter().find(|profile| profile.name() == name).or_else(alias)
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
    /// Before everything else, whatever `strictHeuristics` says.
    First,
    /// With `strictHeuristics` only, after the guardrail and the cap.
    Heuristic,
}

/// When an empty queue is filled again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replan {
    /// Never: an empty queue is the end.
    Never,
    /// Only while a `maxExperiments` budget has room (in the repository before 0.3).
    WithinBudget,
    /// Unless a stop condition is met; without a policy always.
    Liberal,
    /// As liberal, but never without a policy.
    NeedsPolicy,
}

/// Which of the guardrail's issues block, and what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guardrail {
    /// Until 0.3.0: every issue blocks.
    All,
    /// 0.3.1: at contract version 1 no fields are asked for, and an issue that a repair may mend does not block.
    Fatal,
    /// From 0.3.3: at contract version 1 only severe issues block; the plan's own `plan` block is looked at.
    Severe,
}

/// How a run follows in spite of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// It does not (the design page).
    Never,
    /// Until 0.3.0: on any issue, whatever the reason that was printed; then on, while work is pending.
    Any,
    /// From 0.3.1: once, when the guardrail blocks and nothing is beyond repair; the reason is printed only
    /// at a real end.
    Blocked,
}

/// The switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in which releases differ")]
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
    /// What the guardrail asks for.
    pub guardrail: Guardrail,
    /// Repair runs after a block.
    pub repair: Repair,
    /// Is a missing checkpoint answered with a repair run?
    pub checkpoint_repair: bool,
    /// Must a plan be approved?
    pub approval: bool,
    /// Can the heuristics be switched off (`strictHeuristics`)?
    pub strict_switch: bool,
    /// Is an early `completed` of the plan taken back?
    pub keeps_open: bool,
    /// Are reasons printed? 0.2.0 ends without a word, but for the stop conditions.
    pub says_why: bool,
    /// Does only the channel `web` loop? From 0.3 on every channel does, and `web` is called `ui`.
    pub web_only: bool,
    /// Follow-up runs allowed in one message.
    pub max_rounds: u32,
}

impl Rules {
    /// The switches of a profile.
    pub fn of(profile: Profile) -> Self {
        let described = Self {
            order: Order::Code,
            wording: Wording::V03,
            metrics: MetricsScope::Merged,
            tokens: TokenScope::Message,
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
            max_rounds: 20,
        };
        // The wheels' own words: "error calling llm" is a failure signal.
        let wheel =
            Self { wording: Wording::Later, provider: ProviderCheck::Never, replan: Replan::NeedsPolicy, ..described };
        let narrow =
            Self { provider: ProviderCheck::Heuristic, guardrail: Guardrail::Fatal, repair: Repair::Blocked, ..wheel };
        match profile {
            Profile::Described03 => described,
            Profile::Documented => Self {
                order: Order::Documented,
                metrics: MetricsScope::LastExperiment,
                tokens: TokenScope::Session,
                provider: ProviderCheck::Never,
                repair: Repair::Never,
                checkpoint_repair: false,
                ..described
            },
            Profile::Published020 => Self {
                wording: Wording::V02,
                replan: Replan::Never,
                strict_switch: false,
                keeps_open: false,
                says_why: false,
                web_only: true,
                ..wheel
            },
            Profile::Published030 => wheel,
            Profile::Published032 => narrow,
            Profile::Published050 => Self { guardrail: Guardrail::Severe, approval: true, max_rounds: 100, ..narrow },
        }
    }
}
