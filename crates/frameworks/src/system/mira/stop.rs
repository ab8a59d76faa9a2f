//! The reasons for stopping, and the stop policy: goals, experiments, tokens, checked in this order.

use std::fmt;

use super::plan::{self, MetricsScope, Plan};
use super::policy::AutomationPolicy;
use crate::decision::{Evidence, RuleName};
use crate::python::{Int, Raised};

/// Why an auto run stops.
#[derive(Clone, Debug, PartialEq)]
pub enum AutoStopReason {
    /// The goals are met.
    Goals,
    /// Enough experiments are completed.
    MaxExperiments(usize, Int),
    /// The token budget is used up.
    Tokens(i128, Int),
    /// The reply is a provider's error; the matched marker.
    ProviderError(&'static str),
    /// The same, under its name after 0.3.
    ProviderErrorLater(&'static str),
    /// The task plan's guardrail blocks.
    Guardrail,
    /// The plan has not been approved (after 0.3).
    PlanApproval,
    /// The round cap is reached: rounds so far, and the cap. It is checked when deciding, so 20 follow-ups make 21
    /// agent runs.
    MaxRounds(u32, u32),
    /// The reply reads like a failure; the matched phrase.
    Failure(&'static str),
    /// The reply reads like a request to the user; the matched phrase.
    UserRequest(&'static str),
    /// Nothing is queued, and nothing justifies refilling the queue.
    QueueExhausted,
}

/// The rules, in the order the code checks them.
pub const RULES: [&str; 10] = [
    "mira.goals",
    "mira.max_experiments",
    "mira.max_tokens",
    "mira.plan_approval",
    "mira.provider_error",
    "mira.guardrail",
    "mira.max_rounds",
    "mira.failure_heuristic",
    "mira.user_input_heuristic",
    "mira.queue_exhausted",
];

impl AutoStopReason {
    /// The rule it is attributed to.
    pub fn rule(&self) -> RuleName {
        RuleName::fixed(match self {
            Self::Goals => RULES[0],
            Self::MaxExperiments(..) => RULES[1],
            Self::Tokens(..) => RULES[2],
            Self::PlanApproval => RULES[3],
            Self::ProviderError(_) | Self::ProviderErrorLater(_) => RULES[4],
            Self::Guardrail => RULES[5],
            Self::MaxRounds(..) => RULES[6],
            Self::Failure(_) => RULES[7],
            Self::UserRequest(_) => RULES[8],
            Self::QueueExhausted => RULES[9],
        })
    }

    /// The observed value and the limit.
    pub fn evidence(&self) -> Evidence {
        match self {
            Self::MaxExperiments(completed, max) => Evidence::new(*completed as f64, max.value() as f64),
            Self::Tokens(used, max) => Evidence::new(*used as f64, max.value() as f64),
            Self::MaxRounds(rounds, cap) => Evidence::new(f64::from(*rounds), f64::from(*cap)),
            _ => Evidence::NONE,
        }
    }

    /// The phrase or marker that matched; `None` for the other reasons.
    pub fn phrase(&self) -> Option<&'static str> {
        match self {
            Self::ProviderError(phrase)
            | Self::ProviderErrorLater(phrase)
            | Self::Failure(phrase)
            | Self::UserRequest(phrase) => Some(phrase),
            _ => None,
        }
    }

    /// Whether it is a condition of the policy.
    pub fn is_condition(&self) -> bool {
        matches!(self, Self::Goals | Self::MaxExperiments(..) | Self::Tokens(..))
    }

    /// The text before the reason in the progress message.
    pub fn prefix(&self) -> &'static str {
        if self.is_condition() { "auto-run stop condition: " } else { "auto-run stop reason: " }
    }
}

impl fmt::Display for AutoStopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Goals => f.write_str("automation goals reached"),
            Self::MaxExperiments(completed, max) => write!(f, "max experiments reached ({completed}/{max})"),
            Self::Tokens(used, max) => write!(f, "token budget reached ({used}/{max})"),
            Self::ProviderError(_) => f.write_str("llm provider error"),
            Self::ProviderErrorLater(_) => f.write_str("provider error"),
            Self::Guardrail => f.write_str("task_plan guardrail blocking"),
            Self::PlanApproval => f.write_str("awaiting plan approval"),
            Self::MaxRounds(_, cap) => write!(f, "max rounds reached ({cap})"),
            Self::Failure(_) => f.write_str("failure heuristic matched"),
            Self::UserRequest(_) => f.write_str("user-input heuristic matched"),
            Self::QueueExhausted => f.write_str("queue exhausted, no replan condition met"),
        }
    }
}

/// The first condition of the policy that holds: goals, experiments or tokens.
///
/// # Errors
/// `OverflowError` for a metric that is an integer too large for a double.
pub fn stop_policy(
    policy: Option<&AutomationPolicy>,
    plan: Plan<'_>,
    scope: MetricsScope,
    tokens_used: i128,
) -> Result<Option<AutoStopReason>, Raised> {
    let Some(policy) = policy else { return Ok(None) };
    if policy.names_goals && goals_met(policy, &plan::metrics(plan, scope)?) {
        return Ok(Some(AutoStopReason::Goals));
    }
    let completed = plan::completed_count(plan, scope);
    if let Some(max) = policy.max_experiments.as_ref().filter(|max| completed as i128 >= max.value()) {
        return Ok(Some(AutoStopReason::MaxExperiments(completed, max.clone())));
    }
    let spent = policy.max_tokens.as_ref().filter(|max| tokens_used >= max.value());
    Ok(spent.map(|max| AutoStopReason::Tokens(tokens_used, max.clone())))
}

/// A goal whose metric is missing is not met, whatever its operator.
fn goals_met(policy: &AutomationPolicy, metrics: &[(String, f64)]) -> bool {
    let mut met = policy.goals.iter().map(|goal| {
        let value = metrics.iter().find(|(name, _)| *name == goal.metric).map(|(_, value)| *value);
        matches!((value, goal.operator), (Some(value), Some(operator)) if operator.passes(value, goal.target))
    });
    if policy.goals.is_empty() {
        return false;
    }
    if policy.all_goals { met.all(|met| met) } else { met.any(|met| met) }
}
