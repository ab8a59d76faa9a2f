//! The processing of one inbound message: the loop around the agent runs, including repair runs.

use serde_json::{Map, Value};

use super::decide::{AfterRun, RunKind, Situation};
use super::export;
use super::guardrail::{AgentProfile, Contract, GuardrailFindings, ProjectFolder, guard};
use super::plan;
use super::policy::AutomationPolicy;
use super::rules::{MiraRules, Order, Repair, TokenScope};
use super::stop::AutoStopReason;
use crate::python::{self, Raised};

/// The loop's output and decision after a run.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopOutput {
    /// Progress messages, in order.
    pub progress: Vec<String>,
    /// What follows.
    pub next: AfterRun,
}

/// The state of the loop for one inbound message.
#[derive(Clone, Debug)]
pub struct MessageLoop {
    /// The rules in force.
    pub rules: MiraRules,
    /// The policy; it may change between runs.
    pub policy: Option<AutomationPolicy>,
    /// Whether the mode is `auto`; it may change between runs.
    pub is_auto: bool,
    /// The loop's agent profile.
    pub agent_profile: Option<AgentProfile>,
    /// Whether the export guards apply.
    pub guards_export: bool,
    /// The project folder, whose plan is changed by runs.
    pub project: ProjectFolder,
    /// Follow-up runs so far.
    pub auto_round: u32,
    /// Whether a missing plan means that the recording lacks it, rather than the project.
    pub plan_may_be_unrecorded: bool,
    /// Tokens of this message's runs so far.
    pub tokens: i128,
    /// Tokens of the session's earlier messages.
    pub tokens_before: i128,
    before: Option<Map<String, Value>>,
    after: Option<Map<String, Value>>,
    last_guard: GuardrailFindings,
    guard_repairs: u32,
    checkpoint_repairs: u32,
}

impl MessageLoop {
    /// The state before the initial run answers the message.
    pub fn new(rules: MiraRules, policy: Option<AutomationPolicy>, is_auto: bool, project: ProjectFolder) -> Self {
        let before = project.plan().cloned();
        Self {
            rules,
            policy,
            is_auto,
            agent_profile: None,
            guards_export: false,
            project,
            auto_round: 0,
            plan_may_be_unrecorded: false,
            tokens: 0,
            tokens_before: 0,
            before,
            after: None,
            last_guard: GuardrailFindings::default(),
            guard_repairs: 0,
            checkpoint_repairs: 0,
        }
    }

    /// Takes in a finished run: its last reply and its tokens. The project must already contain the run's plan.
    ///
    /// # Errors
    /// See [`Raised`]: the original does not catch these exceptions.
    pub fn after_run(&mut self, text: &str, tokens: i128) -> Result<LoopOutput, Raised> {
        self.tokens += tokens;
        let mut progress = Vec::new();
        self.reload();
        if self.guards_export {
            let guarded = export::apply(&mut self.project, self.before.as_ref(), self.rules.keeps_open)?;
            if guarded.result_restored {
                progress.push(export::RESULT_NOTE.to_owned());
            }
            if guarded.status_kept {
                progress.push(export::STATUS_NOTE.to_owned());
            }
            self.reload();
        }
        let next = self.judge(text, &mut progress)?;
        if matches!(next, AfterRun::Run(_)) {
            self.auto_round += 1;
            self.before.clone_from(&self.after);
        }
        Ok(LoopOutput { progress: self.announce(progress, &next), next })
    }

    /// Starts a new inbound message: follow-ups and tokens are counted from 0.
    pub fn restart(&mut self) {
        self.tokens_before += self.tokens;
        self.tokens = 0;
        self.auto_round = 0;
        self.guard_repairs = 0;
        self.checkpoint_repairs = 0;
        self.before = self.project.plan().cloned();
    }

    /// `/new`: resets the token counters; the mode stays, and the policy, which the host and the command line send with
    /// every message.
    pub fn reset_session(&mut self) {
        self.restart();
        self.tokens_before = 0;
    }

    /// The tokens compared with `maxTokens`: the message's, or, as documented, the session's.
    pub fn counted_tokens(&self) -> i128 {
        match self.rules.tokens {
            TokenScope::Message => self.tokens,
            TokenScope::Session => self.tokens_before + self.tokens,
        }
    }

    fn reload(&mut self) {
        self.after = self.project.plan().cloned();
    }

    /// Appends the loop's announcement of the next run.
    fn announce(&self, mut progress: Vec<String>, next: &AfterRun) -> Vec<String> {
        progress.extend(match next {
            AfterRun::Stop(_) => None,
            AfterRun::Run(RunKind::Continue) => {
                let what = if self.rules.says_why { "experiment cycle" } else { "pending experiment" };
                Some(format!("auto-run round {}: continuing to next {what}", self.auto_round))
            }
            AfterRun::Run(RunKind::CheckpointRepair) => Some(format!(
                "auto-run checkpoint repair {}: forcing task_plan sync for running experiment",
                self.checkpoint_repairs
            )),
            AfterRun::Run(RunKind::GuardrailRepair) => {
                let what = match self.rules.repair {
                    Repair::Blocked => "completing strict task_plan contract fields",
                    Repair::Any | Repair::Never => "filling required evidence fields",
                };
                Some(format!("auto-run guardrail repair {}: {what}", self.guard_repairs))
            }
            AfterRun::Run(RunKind::StrictContractRepair) => Some(
                "auto-run strict contract repair: required fields still missing; \
                 requesting targeted completion before next experiment"
                    .to_owned(),
            ),
        });
        progress
    }

    fn judge(&mut self, text: &str, progress: &mut Vec<String>) -> Result<AfterRun, Raised> {
        if self.is_auto && self.rules.checkpoint_repair && self.needs_checkpoint(progress)? {
            return Ok(AfterRun::Run(RunKind::CheckpointRepair));
        }
        self.decide(text, progress)
    }

    /// Checks for experiments that finished and for running ones; true if a repair run is needed.
    fn needs_checkpoint(&mut self, progress: &mut Vec<String>) -> Result<bool, Raised> {
        let crossed = plan::crossed(self.before.as_ref(), self.after.as_ref())?;
        if crossed.len() > 1 && self.rules.repair != Repair::Blocked {
            let names = crossed.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
            progress.push(format!("auto-run guard warning: multiple experiments advanced in one round ({names})"));
        }
        if !crossed.is_empty() {
            self.last_guard = guard(&mut self.project, self.agent_profile, self.rules)?;
            let blocks = self.last_guard.blocks(self.rules, &self.project);
            if !blocks && self.last_guard.fixed {
                let note = "auto-run guard: code-level contract normalization applied after experiment transition";
                progress.push(note.to_owned());
                self.reload();
            }
        }
        if plan::checkpoint_is_fresh(self.before.as_ref(), self.after.as_ref()) {
            return Ok(false);
        }
        if self.checkpoint_repairs > 0 {
            let warning = "auto-run guard warning: task_plan checkpoint missing after experiment round; \
                           continuing due auto mode";
            progress.push(warning.to_owned());
            return Ok(false);
        }
        self.checkpoint_repairs += 1;
        Ok(true)
    }

    fn decide(&mut self, text: &str, progress: &mut Vec<String>) -> Result<AfterRun, Raised> {
        let policy = self.policy.clone();
        let situation = Situation {
            rules: self.rules,
            policy: policy.as_ref(),
            is_auto: self.is_auto,
            agent_profile: self.agent_profile,
            text,
            auto_round: self.auto_round,
            tokens: self.counted_tokens(),
            plan_may_be_unrecorded: self.plan_may_be_unrecorded,
        };
        if self.is_auto
            && self.rules.order == Order::Code
            && let Some(reason) = situation.stop_policy(&self.project)?
        {
            progress.push(format!("{}{reason}", reason.prefix()));
            return Ok(AfterRun::Stop(Some(reason)));
        }
        let reason = match situation.continuation(&mut self.project, &mut self.last_guard)? {
            AfterRun::Stop(reason) => reason,
            run @ AfterRun::Run(_) => return Ok(run),
        };
        let told = reason.as_ref().filter(|_| self.rules.says_why);
        let told = told.map(|reason| format!("{}{reason}{}", reason.prefix(), detail(reason, text)));
        let repair = match self.rules.repair {
            Repair::Never => None,
            Repair::Any => {
                progress.extend(told);
                self.repair(&situation, progress)?
            }
            Repair::Blocked => {
                let repair = self.repair_of_block(&situation, reason.as_ref());
                progress.extend(told.filter(|_| repair.is_none()));
                repair
            }
        };
        Ok(if let Some(kind) = repair { AfterRun::Run(kind) } else { AfterRun::Stop(reason) })
    }

    /// From 0.3.1 on: one repair run, if a repair can lift the block.
    fn repair_of_block(&mut self, situation: &Situation<'_>, reason: Option<&AutoStopReason>) -> Option<RunKind> {
        let can_repair = self.is_auto
            && reason == Some(&AutoStopReason::Guardrail)
            && !self.last_guard.is_beyond_repair(self.rules)
            && situation.heuristic().is_none();
        if !can_repair || self.guard_repairs > 0 {
            return None;
        }
        self.guard_repairs += 1;
        Some(RunKind::GuardrailRepair)
    }

    /// Up to 0.3.0: another run despite a printed reason, if the guardrail's findings call for one.
    fn repair(&mut self, situation: &Situation<'_>, progress: &mut Vec<String>) -> Result<Option<RunKind>, Raised> {
        if !self.is_auto || self.last_guard.issues.is_empty() || situation.heuristic().is_some() {
            return Ok(None);
        }
        if self.guard_repairs == 0 {
            self.guard_repairs += 1;
            return Ok(Some(RunKind::GuardrailRepair));
        }
        if !plan::has_pending_work(self.project.plan())? || self.auto_round >= self.rules.max_rounds {
            return Ok(None);
        }
        // The loop's own profile applies here, not the project's.
        let contract =
            Contract::from_agent_profile(Some(self.agent_profile.unwrap_or_default()), &self.project, self.rules);
        if contract.strict && !contract.completed_fields().is_empty() {
            self.guard_repairs = 0;
            return Ok(Some(RunKind::StrictContractRepair));
        }
        let warning = "auto-run guard warning: contract issues remain after repair; \
                       continuing and deferring strict cleanup";
        progress.push(warning.to_owned());
        Ok(Some(RunKind::Continue))
    }
}

/// How many characters of a provider's error are quoted.
const QUOTED: usize = 240;

/// What is appended to a printed reason: from 0.3.1 on, the text of a provider's error.
fn detail(reason: &AutoStopReason, text: &str) -> String {
    let words: Vec<&str> = text.split(python::is_space).filter(|word| !word.is_empty()).collect();
    let snippet = words.join(" ");
    if !matches!(reason, AutoStopReason::ProviderErrorLater(_)) || snippet.is_empty() {
        return String::new();
    }
    if snippet.chars().count() <= QUOTED {
        return format!(" — {snippet}");
    }
    let cut: String = snippet.chars().take(QUOTED - 1).collect();
    format!(" — {}…", cut.trim_end_matches(python::is_space))
}
