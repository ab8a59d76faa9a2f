//! The profiles, and the switches in which they differ.

use super::param;
use super::plan::MetricsScope;
use crate::framework;
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

/// The profiles; the first is the default. Other names are releases that decide as another one does, and the names of
/// before, of which no release had the rules.
pub const PROFILES: &[framework::Profile] = &[
    framework::Profile {
        name: "described-0.3",
        doc: "the code that the page describes; it stood in the repository and is in no wheel",
        also: &["published-0.3"],
    },
    framework::Profile::new("documented", "the page, to the letter"),
    framework::Profile { name: "published-0.2.0", doc: "release 0.2.0", also: &["published-0.2"] },
    framework::Profile::new("published-0.3.0", "release 0.3.0"),
    framework::Profile {
        name: "published-0.3.2",
        doc: "releases 0.3.1 and 0.3.2, which decide alike",
        also: &["published-0.3.1"],
    },
    framework::Profile {
        name: "published-0.5.0",
        doc: "releases 0.3.3, 0.3.4 and 0.5.0, which decide alike",
        also: &["published-0.3.3", "published-0.3.4", "published-later"],
    },
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
        let is_it = |profile: &framework::Profile| profile.name == name || profile.also.contains(&name);
        Self::ALL.into_iter().find(|profile| is_it(&PROFILES[*profile as usize]))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        PROFILES[self as usize].name
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

impl Order {
    /// By its name in settings.
    pub(super) fn named(name: &str) -> Self {
        if name == "documented" { Self::Documented } else { Self::Code }
    }
}

/// Over what `maxTokens` is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenScope {
    /// The runs of one inbound message.
    Message,
    /// The session, until `/new`.
    Session,
}

impl TokenScope {
    /// By its name in settings.
    pub(super) fn named(name: &str) -> Self {
        if name == "session" { Self::Session } else { Self::Message }
    }
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
        let default = |parameter: &framework::Parameter| parameter.default_in(profile.name()).trim_matches('"');
        let described = Self {
            order: Order::named(default(&param::ORDER)),
            wording: Wording::V03,
            metrics: MetricsScope::named(default(&param::METRICS)),
            tokens: TokenScope::named(default(&param::TOKEN_SCOPE)),
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
        // The wheels' own words: "error calling llm" is a failure signal.
        let wheel =
            Self { wording: Wording::Later, provider: ProviderCheck::Never, replan: Replan::NeedsPolicy, ..described };
        let narrow =
            Self { provider: ProviderCheck::Heuristic, guardrail: Guardrail::Fatal, repair: Repair::Blocked, ..wheel };
        match profile {
            Profile::Described03 => described,
            Profile::Documented => {
                Self { provider: ProviderCheck::Never, repair: Repair::Never, checkpoint_repair: false, ..described }
            }
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
            Profile::Published050 => Self { guardrail: Guardrail::Severe, approval: true, ..narrow },
        }
    }
}
