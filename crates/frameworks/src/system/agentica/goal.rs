//! A standing goal: its state, and how users and the model's own tool change it between evaluations.

use serde::Serialize;

use super::evaluate::{Referee, TurnUsage, evaluate};
use super::limit::Limit;
use super::ruling::{Cause, Ruling};
use super::{GoalRules, Version};
use crate::python;
use crate::transcript::named;

named! {
    /// The status of a goal.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum GoalStatus {
        /// Being pursued.
        #[default]
        Active = "active",
        /// Stopped until someone resumes it.
        Paused = "paused",
        /// Reached.
        Complete = "complete",
        /// Given up.
        Cleared = "cleared",
        /// Stopped because a budget is used up.
        BudgetLimited = "budget_limited",
    }
}

/// The limits of a goal; `None` means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budgets {
    /// Turns (whole agent runs).
    pub turns: Option<Limit>,
    /// Input and output tokens together.
    pub tokens: Option<Limit>,
    /// Total duration of the turns, in seconds.
    pub seconds: Option<f64>,
}

/// The state of a goal, as agentica writes it to its log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgenticaGoal {
    /// Whether it is still pursued.
    pub status: GoalStatus,
    /// Why it is paused or out of budget.
    pub paused_reason: Option<String>,
    /// The limits.
    pub budgets: Budgets,
    /// Turns evaluated.
    pub turns_used: i64,
    /// Tokens charged.
    pub tokens_used: i128,
    /// Seconds charged.
    pub seconds_used: f64,
    /// Criteria added to the objective.
    pub subgoals: Vec<String>,
    /// Unreadable judge replies in a row.
    pub parse_failures: u32,
    /// Turns in a row in which every tool call failed.
    pub tool_failures: u32,
    /// Who gave the last verdict, in agentica's terms.
    pub last_verdict: Option<&'static str>,
    /// The reason of the last verdict.
    pub last_reason: Option<String>,
    /// 1.5: whether the single wrap-up turn has been given.
    pub wrapup_sent: bool,
    /// 1.5: the answer submitted with the completion.
    pub final_answer: Option<String>,
}

impl AgenticaGoal {
    /// A new, active goal.
    pub fn new(budgets: Budgets) -> Self {
        Self { budgets, ..Self::default() }
    }

    /// Pauses it, or ends it for a budget.
    pub(super) fn halt(&mut self, status: GoalStatus, why: &str) {
        self.status = status;
        self.paused_reason = Some(why.to_owned());
    }

    /// Notes the last verdict.
    pub(super) fn note(&mut self, verdict: &'static str, reason: &str) {
        self.last_verdict = Some(verdict);
        self.last_reason = Some(reason.to_owned());
    }

    /// Stores the submitted answer, trimmed; a blank one leaves the previous answer.
    fn take_answer(&mut self, answer: Option<&str>) {
        if let Some(answer) = answer.map(python::strip).filter(|answer| !answer.is_empty()) {
            self.final_answer = Some(answer.to_owned());
        }
    }
}

/// 1.5 refuses a budget of 0 or below -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("budget must be positive, or -1 for unlimited")]
pub struct BadBudget;

impl Budgets {
    /// The budgets as `version` interprets them. 1.5 rejects 0 and numbers below -1, and reads -1 as unlimited; earlier
    /// versions take every number as a limit. A missing turn budget is replaced by the manager's own, which no version
    /// checks: 0 or less is a cap that is reached at once.
    pub fn checked(self, default_turns: Option<Limit>, version: Version) -> Result<Self, BadBudget> {
        if version != Version::V15 {
            let turns = self.turns.or(default_turns).unwrap_or(Limit::Whole(super::DEFAULT_TURNS));
            return Ok(Self { turns: Some(turns), ..self });
        }
        let checked = |budget: Option<Limit>| match budget {
            None => Ok(None),
            Some(limit) if limit.value().total_cmp(&-1.0).is_eq() => Ok(None),
            Some(limit) if limit.value() <= 0.0 => Err(BadBudget),
            Some(limit) => Ok(Some(limit)),
        };
        let turns = if self.turns.is_none() { default_turns } else { checked(self.turns)? };
        let tokens = checked(self.tokens)?;
        let seconds = checked(self.seconds.map(Limit::Real))?;
        Ok(Self { turns, tokens, seconds: seconds.map(Limit::value) })
    }
}

/// A goal manager and the log it writes to.
///
/// The manager has its own copy of the goal. The model's tools write to the log without the manager, and an evaluation
/// starts by reading the log; changes that it does not write back are lost at the next evaluation.
#[derive(Clone, Debug, Default)]
pub struct Manager {
    memory: Option<AgenticaGoal>,
    log: Option<AgenticaGoal>,
    loaded: bool,
}

impl Manager {
    /// Sets a goal, replacing any other.
    pub fn set(&mut self, goal: AgenticaGoal) {
        self.memory = Some(goal);
        self.loaded = true;
        self.persist();
    }

    /// The manager's copy of the goal; `None` before one is set and after it is cleared.
    pub fn goal(&self) -> Option<&AgenticaGoal> {
        self.memory.as_ref()
    }

    /// Starts a fresh manager on the same log.
    pub fn restart(&mut self) {
        self.loaded = false;
        self.memory = None;
        self.load();
    }

    fn load(&mut self) -> Option<&mut AgenticaGoal> {
        if !self.loaded {
            self.memory.clone_from(&self.log);
            self.loaded = true;
        }
        self.memory.as_mut()
    }

    fn persist(&mut self) {
        if self.memory.is_some() {
            self.log.clone_from(&self.memory);
        }
    }

    /// Reads the log and evaluates a turn. A goal that was no longer pursued is not written back if there was nothing
    /// else to report; the turn then counts only until the log is read again.
    pub fn evaluate(&mut self, rules: GoalRules, turn: &TurnUsage, referee: &mut dyn Referee) -> Ruling {
        if self.log.is_some() {
            self.memory.clone_from(&self.log);
        }
        self.loaded = true;
        let Some(goal) = &mut self.memory else { return Ruling::no_goal() };
        let ruling = evaluate(rules, goal, turn, referee);
        if ruling.cause != Cause::NoGoal {
            self.persist();
        }
        ruling
    }

    /// Pauses an active goal for the user, with an optional reason; true if this changed anything.
    pub fn pause(&mut self, reason: Option<&str>) -> bool {
        let Some(goal) = self.load().filter(|goal| goal.status == GoalStatus::Active) else { return false };
        goal.status = GoalStatus::Paused;
        goal.paused_reason = reason.map(str::to_owned);
        self.persist();
        true
    }

    /// Resumes a paused or out-of-budget goal. What was used and the limits stay the same.
    pub fn resume(&mut self) {
        let waits = |goal: &&mut AgenticaGoal| matches!(goal.status, GoalStatus::Paused | GoalStatus::BudgetLimited);
        let Some(goal) = self.load().filter(waits) else { return };
        goal.status = GoalStatus::Active;
        goal.paused_reason = None;
        goal.parse_failures = 0;
        goal.tool_failures = 0;
        goal.wrapup_sent = false;
        self.persist();
    }

    /// Gives up the goal; the log keeps it as cleared.
    pub fn clear(&mut self) {
        if let Some(goal) = self.load() {
            goal.status = GoalStatus::Cleared;
            self.persist();
            self.memory = None;
        }
    }

    /// Adds a criterion. False if the text is blank or there is no goal, which the original rejects.
    pub fn add_subgoal(&mut self, text: &str) -> bool {
        let text = python::strip(text);
        let Some(goal) = self.load().filter(|_| !text.is_empty()) else { return false };
        goal.subgoals.push(text.to_owned());
        self.persist();
        true
    }

    /// The model's `update_goal`: sets `complete` or `paused` (ignoring case), on an active goal only. Returns whether
    /// it was accepted. A blank answer leaves the previous one.
    pub fn update_from_tool(&mut self, status: &str, reason: &str, final_answer: Option<&str>) -> bool {
        let status = match python::lower(python::strip(status)).as_str() {
            "complete" => GoalStatus::Complete,
            "paused" => GoalStatus::Paused,
            _ => return false,
        };
        let words = if reason.is_empty() { format!("agent-marked {}", status.name()) } else { reason.to_owned() };
        self.change_in_log(|goal| {
            goal.status = status;
            goal.note("tool_signal", &words);
            goal.take_answer(final_answer);
            if status == GoalStatus::Paused {
                goal.paused_reason = Some("agent-tool".to_owned());
            }
        })
    }

    /// 1.5: the model's `verify_completion` asks for a command to be run. `passes` runs it, and is called only if the
    /// goal is active and the command is not blank. Returns whether the goal is now complete.
    ///
    /// # Errors
    /// Any error of `passes`.
    pub fn verify<E>(
        &mut self,
        command: &str,
        final_answer: Option<&str>,
        passes: impl FnOnce(&str) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let command = python::strip(command);
        let is_active = matches!(&self.log, Some(goal) if goal.status == GoalStatus::Active);
        if !is_active || command.is_empty() || !passes(command)? {
            return Ok(false);
        }
        Ok(self.change_in_log(|goal| {
            goal.status = GoalStatus::Complete;
            goal.note("verify_tool", &format!("verify_command passed (exit 0): {command}"));
            goal.take_answer(final_answer);
        }))
    }

    fn change_in_log(&mut self, change: impl FnOnce(&mut AgenticaGoal)) -> bool {
        let active = self.log.as_mut().filter(|goal| goal.status == GoalStatus::Active);
        let accepted = active.is_some();
        if let Some(goal) = active {
            change(goal);
        }
        accepted
    }
}
