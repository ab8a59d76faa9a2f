//! A limit that the agent is told of. From the notice on, nobody knows what the agent does: it may finish in time.

use super::{Cap, Clause, OnHit, Scope};
use crate::decision::{Action, RuleName};
use crate::rule::{Comparator, Condition, Rule};
use crate::transcript::Moment;

/// The name of the rule that stands for the notice in tables.
const NOTICE: &str = "told of its limit";

/// A limit on steps that the agent is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToldLimit {
    /// The number of steps after which the run ends.
    pub steps: u32,
    /// The step, from 1, before which the agent is told that the end is near; `None` if it is not known.
    pub notice: Option<u32>,
}

/// When the agent is told, as written in a stack file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Notice {
    /// So many steps before the end; 1 is before the last step.
    StepsBeforeEnd(u32),
    /// From the step on that is this share of the limit, in (0, 1].
    Share(f64),
}

impl Notice {
    /// Parses `75 %`.
    pub(super) fn parse_share(text: &str) -> Option<Self> {
        let percent: f64 = text.trim().strip_suffix('%')?.trim_end().parse().ok()?;
        if percent > 0.0 && percent <= 100.0 { Some(Self::Share(percent / 100.0)) } else { None }
    }

    /// The step, from 1, before which the agent is told; `None` if the limit has fewer steps.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count in u32")]
    pub(super) fn step(self, limit: u32) -> Option<u32> {
        match self {
            Self::StepsBeforeEnd(before) if before > limit => None,
            Self::StepsBeforeEnd(before) => Some(limit - before + 1),
            Self::Share(share) => Some(((share * f64::from(limit)).ceil() as u32).max(1)),
        }
    }
}

impl Clause {
    /// True for the notice of a told limit, which no host has a setting for.
    #[doc(hidden)]
    pub fn is_notice(&self) -> bool {
        self.name.as_str() == NOTICE && self.then == Action::Warn
    }

    /// The notice before step `step`, counted from 1: a warning, after which the recording does not tell.
    pub(super) fn notice(step: u32, scope: Scope) -> Option<Self> {
        let condition = Rule::steps_at_least(f64::from(step.saturating_sub(1)))?;
        let (name, at) = (RuleName::new(NOTICE), Moment::BeforeRequest);
        Some(Self { name, at, cooldown: u32::MAX, then: Action::Warn, scope, ..Self::stop_on(condition) })
    }
}

/// The lowest number of steps after which these rules end a run, and where they count from; `None` if nothing in them
/// limits steps alone.
pub(super) fn step_limit(clauses: &[Clause], cap: Option<&Cap>) -> Option<(u32, Scope)> {
    let of_cap = cap.filter(|cap| matches!(cap.on_hit, OnHit::Stop)).map(|cap| (cap.steps, cap.scope));
    let of_clauses = clauses.iter().filter_map(|clause| Some((clause_limit(clause)?, clause.scope)));
    of_clauses.chain(of_cap).min_by_key(|(steps, _)| *steps)
}

/// The number of steps after which a clause ends a run, if it counts nothing else.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a count in u32")]
fn clause_limit(clause: &Clause) -> Option<u32> {
    let Condition::Rule(rule) = &clause.condition else { return None };
    // Looked at after a reply, it lets one call more pass; at the end of a round, any number.
    let is_in_time = matches!(clause.at, Moment::BeforeRequest | Moment::AfterTools) && clause.strikes == 1;
    let counts_steps = rule.signal.id == "steps" && rule.comparator == Comparator::AtLeast && is_in_time;
    let limit = rule.limit.ceil();
    let is_count = (1.0..=f64::from(u32::MAX)).contains(&limit);
    if counts_steps && clause.then.is_terminal() && is_count { Some(limit as u32) } else { None }
}
