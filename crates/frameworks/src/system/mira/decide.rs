//! One end-of-round decision: the stop policy and the continuation decision, in either order.

use super::guardrail::{AgentProfile, Guard, Project, guard};
use super::plan;
use super::policy::Policy;
use super::rules::{Order, ProviderCheck, Replan, Rules};
use super::stop::{MAX_ROUNDS, Reason, stop_policy};
use crate::system::python::{self, Raised};
use crate::text::failure::failure;
use crate::text::provider_error::provider_error;
use crate::text::user_request::user_request;

/// What a decision is taken on.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'s> {
    /// The rules in force.
    pub rules: Rules,
    /// The policy, if there is one.
    pub policy: Option<&'s Policy>,
    /// Only `auto` loops.
    pub is_auto: bool,
    /// The loop's agent profile.
    pub agent_profile: Option<AgentProfile>,
    /// The last reply.
    pub text: &'s str,
    /// Follow-up runs so far.
    pub auto_round: u32,
    /// Tokens counted against `maxTokens`.
    pub tokens: i128,
    /// Is there no telling what is queued? Then the queue never counts as exhausted.
    pub queue_is_unknown: bool,
}

/// The answer of the continuation decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Continuation {
    /// Another run.
    Go,
    /// The end; without a reason when the mode is not `auto`.
    Stop(Option<Reason>),
}

impl Situation<'_> {
    fn is_strict(&self) -> bool {
        self.policy.is_none_or(|policy| policy.strict)
    }

    /// The text heuristics: the failure first.
    pub fn heuristic(&self) -> Option<Reason> {
        if !self.is_strict() {
            return None;
        }
        let wording = self.rules.wording;
        let asks = || user_request(self.text, wording).map(Reason::UserRequest);
        failure(self.text, wording).map(Reason::Failure).or_else(asks)
    }

    /// The stop policy on the plan as it lies on disk.
    ///
    /// # Errors
    /// See [`Raised`].
    pub fn stop_policy(&self, project: &Project) -> Result<Option<Reason>, Raised> {
        stop_policy(self.policy, project.plan(), self.rules.metrics, self.tokens)
    }

    /// The continuation decision; `last` keeps what the guardrail found when it is asked.
    ///
    /// # Errors
    /// See [`Raised`].
    pub fn continuation(&self, project: &mut Project, last: &mut Guard) -> Result<Continuation, Raised> {
        if !self.is_auto {
            return Ok(Continuation::Stop(None));
        }
        let stop = |reason| Ok(Continuation::Stop(Some(reason)));
        if self.rules.approval && awaits_approval(project) {
            return stop(Reason::PlanApproval);
        }
        if let Some(reason) = self.provider_error() {
            return stop(reason);
        }
        *last = guard(project, self.agent_profile)?;
        if self.blocks(last, project) {
            return stop(Reason::Guardrail);
        }
        if self.auto_round >= MAX_ROUNDS {
            return stop(Reason::MaxRounds(self.auto_round));
        }
        if let Some(reason) = self.heuristic() {
            return stop(reason);
        }
        let documented = self.rules.order == Order::Documented;
        if let Some(reason) = if documented { self.stop_policy(project)? } else { None } {
            return stop(reason);
        }
        if self.queue_is_unknown || plan::has_pending_work(project.plan())? || self.replans(project)? {
            return Ok(Continuation::Go);
        }
        stop(Reason::QueueExhausted)
    }

    fn provider_error(&self) -> Option<Reason> {
        let marker = || provider_error(self.text, self.rules.wording);
        match self.rules.provider {
            ProviderCheck::Never => None,
            ProviderCheck::Always => marker().map(Reason::ProviderError),
            ProviderCheck::IfStrict => marker().filter(|_| self.is_strict()).map(Reason::ProviderErrorLater),
        }
    }

    /// Do the guardrail's findings block?
    pub fn blocks(&self, guard: &Guard, project: &Project) -> bool {
        let all = self.rules.mild_issues_block || project.is_strict();
        guard.issues.iter().any(|issue| all || issue.severe)
    }

    /// Is the run continued although nothing is queued?
    ///
    /// # Errors
    /// See [`Raised`].
    pub fn replans(&self, project: &Project) -> Result<bool, Raised> {
        if plan::has_pending_work(project.plan())? {
            return Ok(false);
        }
        let Some(policy) = self.policy else { return Ok(self.rules.replan == Replan::Liberal) };
        if self.stop_policy(project)?.is_some() {
            return Ok(false);
        }
        let completed = plan::completed_count(project.plan(), self.rules.metrics) as i128;
        let room = policy.max_experiments.as_ref().map(|max| completed < max.value());
        Ok(match self.rules.replan {
            Replan::WithinBudget => room.unwrap_or(false),
            Replan::Liberal | Replan::NeedsPolicy => !policy.goals.is_empty() || room.unwrap_or(true),
        })
    }
}

/// After 0.3 a plan waits until its phase is `approved`.
fn awaits_approval(project: &Project) -> bool {
    let phase = |plan: &serde_json::Map<String, serde_json::Value>| plan.get("phase").map(python::text);
    project.plan().is_some_and(|plan| phase(plan).as_deref() != Some("approved"))
}
