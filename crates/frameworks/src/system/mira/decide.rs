//! One end-of-round decision: the stop policy and the continuation decision, in the order the profile sets.

use super::guardrail::{AgentProfile, GuardrailFindings, PlanFile, ProjectFolder, guard};
use super::plan;
use super::policy::AutomationPolicy;
use super::rules::{MiraRules, Order, ProviderCheck, Replan};
use super::stop::{AutoStopReason, stop_policy};
use crate::python::{self, Dict, Raised};
use crate::text::failure::failure;
use crate::text::provider_error::provider_error;
use crate::text::user_request::user_request;
use crate::transcript::named;

named! {
    /// The reason for another agent run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RunKind {
        /// The next cycle.
        Continue = "continue",
        /// A running experiment's record was not updated.
        CheckpointRepair = "checkpoint_repair",
        /// The guardrail blocked.
        GuardrailRepair = "guardrail_repair",
        /// The guardrail still blocks, under contract version 2.
        StrictContractRepair = "strict_contract_repair",
    }
}

/// What follows a run.
#[derive(Clone, Debug, PartialEq)]
pub enum AfterRun {
    /// Start another run.
    Run(RunKind),
    /// End the message, with the last reason printed for it; without one if the mode is not `auto`.
    Stop(Option<AutoStopReason>),
}

/// The inputs of a decision.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'s> {
    /// The rules in force.
    pub rules: MiraRules,
    /// The policy, if there is one.
    pub policy: Option<&'s AutomationPolicy>,
    /// Whether the mode is `auto`; only `auto` loops.
    pub is_auto: bool,
    /// The loop's agent profile.
    pub agent_profile: Option<AgentProfile>,
    /// The last reply.
    pub text: &'s str,
    /// Follow-up runs so far.
    pub auto_round: u32,
    /// Tokens counted against `maxTokens`.
    pub tokens: i128,
    /// Whether a missing plan means that the recording lacks it. Then it is unknown what is queued or approved, and
    /// neither ends the run.
    pub plan_may_be_unrecorded: bool,
}

impl Situation<'_> {
    fn is_strict(&self) -> bool {
        !self.rules.strict_switch || self.policy.is_none_or(|policy| policy.strict)
    }

    /// The text heuristics; failure is checked first.
    pub fn heuristic(&self) -> Option<AutoStopReason> {
        if !self.is_strict() {
            return None;
        }
        let wording = self.rules.wording;
        match failure(self.text, wording) {
            Some(words) => Some(AutoStopReason::Failure(words)),
            None => user_request(self.text, wording).map(AutoStopReason::UserRequest),
        }
    }

    /// Applies the stop policy to the plan on disk.
    ///
    /// # Errors
    /// See [`Raised`].
    pub fn stop_policy(&self, project: &ProjectFolder) -> Result<Option<AutoStopReason>, Raised> {
        stop_policy(self.policy, project.plan(), self.rules.metrics, self.tokens)
    }

    /// The continuation decision. If the guardrail is checked, its findings are stored in `last`.
    ///
    /// # Errors
    /// See [`Raised`].
    pub fn continuation(&self, project: &mut ProjectFolder, last: &mut GuardrailFindings) -> Result<AfterRun, Raised> {
        if !self.is_auto {
            return Ok(AfterRun::Stop(None));
        }
        let stop = |reason| Ok(AfterRun::Stop(Some(reason)));
        if self.rules.approval && !self.plan_is_unrecorded(project) && awaits_approval(project) {
            return stop(AutoStopReason::PlanApproval);
        }
        if self.rules.provider == ProviderCheck::First
            && let Some(marker) = self.provider_error()
        {
            return stop(AutoStopReason::ProviderError(marker));
        }
        *last = guard(project, self.agent_profile, self.rules)?;
        if last.blocks(self.rules, project) {
            return stop(AutoStopReason::Guardrail);
        }
        if self.auto_round >= self.rules.max_rounds {
            return stop(AutoStopReason::MaxRounds(self.auto_round, self.rules.max_rounds));
        }
        if self.rules.provider == ProviderCheck::Heuristic
            && self.is_strict()
            && let Some(marker) = self.provider_error()
        {
            return stop(AutoStopReason::ProviderErrorLater(marker));
        }
        if let Some(reason) = self.heuristic() {
            return stop(reason);
        }
        if self.rules.order == Order::Documented
            && let Some(reason) = self.stop_policy(project)?
        {
            return stop(reason);
        }
        if self.plan_is_unrecorded(project) || plan::has_pending_work(project.plan())? || self.replans(project)? {
            return Ok(AfterRun::Run(RunKind::Continue));
        }
        stop(AutoStopReason::QueueExhausted)
    }

    /// Whether the plan's content is unknown because the recording has no plan.
    fn plan_is_unrecorded(&self, project: &ProjectFolder) -> bool {
        self.plan_may_be_unrecorded && project.plan == PlanFile::Absent
    }

    fn provider_error(&self) -> Option<&'static str> {
        provider_error(self.text, self.rules.wording)
    }

    /// Whether the run continues although nothing is queued.
    ///
    /// # Errors
    /// See [`Raised`].
    pub fn replans(&self, project: &ProjectFolder) -> Result<bool, Raised> {
        if plan::has_pending_work(project.plan())? {
            return Ok(false);
        }
        if self.rules.replan == Replan::Never {
            return Ok(false);
        }
        let Some(policy) = self.policy else { return Ok(self.rules.replan == Replan::Liberal) };
        if self.stop_policy(project)?.is_some() {
            return Ok(false);
        }
        let completed = plan::completed_count(project.plan(), self.rules.metrics) as i128;
        let room = policy.max_experiments.as_ref().map(|max| completed < max.value());
        Ok(match self.rules.replan {
            Replan::Never => false,
            Replan::WithinBudget => room.unwrap_or(false),
            Replan::Liberal | Replan::NeedsPolicy => !policy.goals.is_empty() || room.unwrap_or(true),
        })
    }
}

/// From 0.3.3 on, a project waits until the phase of its plan is `approved`, even if it has no plan.
fn awaits_approval(project: &ProjectFolder) -> bool {
    plan_phase(project).map(python::strip) != Some("approved")
}

fn plan_phase(project: &ProjectFolder) -> Option<&str> {
    project.plan()?.dict("plan")?.text("phase")
}
