//! A standing goal: its state, and what users and the model's own tool do to it between evaluations.

use serde::Serialize;

use super::Version;

/// Is the goal still pursued?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Yes.
    Active,
    /// Stopped until somebody resumes it.
    Paused,
    /// Reached.
    Complete,
    /// Given up.
    Cleared,
    /// A budget is used up.
    BudgetLimited,
}

impl Status {
    /// agentica's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Complete => "complete",
            Self::Cleared => "cleared",
            Self::BudgetLimited => "budget_limited",
        }
    }
}

/// The limits of a goal; `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budgets {
    /// Turns (whole agent runs).
    pub turns: Option<i64>,
    /// Input and output tokens together.
    pub tokens: Option<i64>,
    /// Seconds the turns took.
    pub seconds: Option<f64>,
}

/// What agentica writes to its log for a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Is it still pursued?
    pub status: Status,
    /// Why it is paused or limited.
    pub paused_reason: Option<String>,
    /// The limits.
    pub budgets: Budgets,
    /// Turns evaluated.
    pub turns_used: i64,
    /// Tokens charged.
    pub tokens_used: i64,
    /// Seconds charged.
    pub seconds_used: f64,
    /// Criteria added to the objective.
    pub subgoals: Vec<String>,
    /// Unreadable judge replies in a row.
    pub parse_failures: u32,
    /// Turns in a row of which every tool call failed.
    pub tool_failures: u32,
    /// Who spoke last, in agentica's word.
    pub last_verdict: Option<&'static str>,
    /// What they said.
    pub last_reason: Option<String>,
    /// 1.5: the one wrap-up turn has been given.
    pub wrapup_sent: bool,
    /// 1.5: the answer handed in with the completion.
    pub final_answer: Option<String>,
}

impl Goal {
    /// A new goal.
    pub fn new(budgets: Budgets) -> Self {
        Self {
            status: Status::Active,
            paused_reason: None,
            budgets,
            turns_used: 0,
            tokens_used: 0,
            seconds_used: 0.0,
            subgoals: Vec::new(),
            parse_failures: 0,
            tool_failures: 0,
            last_verdict: None,
            last_reason: None,
            wrapup_sent: false,
            final_answer: None,
        }
    }
}

/// Why a goal was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No objective.
    #[error("Goal objective cannot be empty.")]
    NoObjective,
    /// 1.5: a budget of 0 or below -1.
    #[error("budget must be positive, or -1 for unlimited")]
    BadBudget,
}

impl Budgets {
    /// The budgets as `version` takes them: 1.5 refuses 0 and reads -1 as unlimited; before that
    /// every number is a limit, and a missing turn budget is the manager's.
    pub fn checked(self, default_turns: Option<i64>, version: Version) -> Result<Self, Refused> {
        let turns = self.turns.or(default_turns);
        if version != Version::V15 {
            return Ok(Self { turns: turns.or(Some(super::DEFAULT_TURNS)), ..self });
        }
        let whole = |budget: Option<i64>| match budget {
            Some(-1) | None => Ok(None),
            Some(limit @ 1..) => Ok(Some(limit)),
            Some(_) => Err(Refused::BadBudget),
        };
        let seconds = match self.seconds {
            None => None,
            Some(limit) if limit > 0.0 => Some(limit),
            Some(limit) if (limit + 1.0).abs() < f64::EPSILON => None,
            Some(_) => return Err(Refused::BadBudget),
        };
        Ok(Self { turns: whole(turns)?, tokens: whole(self.tokens)?, seconds })
    }
}

/// A goal manager and the log it writes to. The model's tool writes to the log behind its back; an
/// evaluation reads the log first.
#[derive(Clone, Debug, Default)]
pub struct Manager {
    memory: Option<Goal>,
    log: Option<Goal>,
    loaded: bool,
}

impl Manager {
    /// Sets a goal, with whatever was there forgotten.
    pub fn set(&mut self, objective: &str, goal: Goal) -> Result<(), Refused> {
        if crate::system::python::strip(objective).is_empty() {
            return Err(Refused::NoObjective);
        }
        self.memory = Some(goal);
        self.loaded = true;
        self.persist();
        Ok(())
    }

    /// The goal as the log has it.
    pub fn goal(&self) -> Option<&Goal> {
        self.log.as_ref()
    }

    /// A fresh manager reads the same log.
    pub fn restart(&mut self) {
        self.memory = None;
        self.loaded = false;
    }

    fn load(&mut self) -> Option<&mut Goal> {
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

    /// Reads the log and changes the goal; `None` without a goal.
    pub(super) fn evaluate<T>(&mut self, change: impl FnOnce(&mut Goal) -> T) -> Option<T> {
        if self.log.is_some() {
            self.memory.clone_from(&self.log);
        }
        self.loaded = true;
        let said = self.memory.as_mut().map(change);
        self.persist();
        said
    }

    /// The user pauses an active goal; true when that changed anything.
    pub fn pause(&mut self, reason: &str) -> bool {
        self.pause_active(reason)
    }

    /// What opening a session again does: an active goal waits for the user.
    pub fn pause_for_safety(&mut self) -> bool {
        self.pause_active("resume-safety")
    }

    fn pause_active(&mut self, reason: &str) -> bool {
        let Some(goal) = self.load().filter(|goal| goal.status == Status::Active) else { return false };
        goal.status = Status::Paused;
        goal.paused_reason = Some(reason.to_owned());
        self.persist();
        true
    }

    /// Resumes a paused or limited goal. Neither the spent amounts nor the limits change.
    pub fn resume(&mut self) {
        let waits = |goal: &&mut Goal| matches!(goal.status, Status::Paused | Status::BudgetLimited);
        let Some(goal) = self.load().filter(waits) else { return };
        goal.status = Status::Active;
        goal.paused_reason = None;
        goal.parse_failures = 0;
        goal.tool_failures = 0;
        goal.wrapup_sent = false;
        self.persist();
    }

    /// Gives the goal up; the log keeps it as cleared.
    pub fn clear(&mut self) {
        if let Some(goal) = self.load() {
            goal.status = Status::Cleared;
            self.persist();
            self.memory = None;
        }
    }

    /// Adds a criterion.
    pub fn add_subgoal(&mut self, text: &str) {
        let text = crate::system::python::strip(text);
        if let Some(goal) = self.load().filter(|_| !text.is_empty()) {
            goal.subgoals.push(text.to_owned());
            self.persist();
        }
    }

    /// The model's `update_goal`: `complete` or `paused`, in any case, of an active goal only. Says
    /// whether it was accepted.
    pub fn update_from_tool(&mut self, status: &str, reason: &str, final_answer: Option<&str>) -> bool {
        let status = match crate::system::python::strip(status).to_lowercase().as_str() {
            "complete" => Status::Complete,
            "paused" => Status::Paused,
            _ => return false,
        };
        let words = if reason.is_empty() { format!("agent-marked {}", status.name()) } else { reason.to_owned() };
        self.change_in_log(|goal| {
            goal.status = status;
            goal.last_verdict = Some("tool_signal");
            goal.last_reason = Some(words);
            goal.final_answer = final_answer.map(str::to_owned).or(goal.final_answer.take());
            if status == Status::Paused {
                goal.paused_reason = Some("agent-tool".to_owned());
            }
        })
    }

    /// 1.5: the model's `verify_completion` ran a command that passed.
    pub fn verified_by(&mut self, command: &str, final_answer: Option<&str>) -> bool {
        self.change_in_log(|goal| {
            goal.status = Status::Complete;
            goal.last_verdict = Some("verify_tool");
            goal.last_reason = Some(format!("verify_command passed (exit 0): {command}"));
            goal.final_answer = final_answer.map(str::to_owned);
        })
    }

    fn change_in_log(&mut self, change: impl FnOnce(&mut Goal)) -> bool {
        let active = self.log.as_mut().filter(|goal| goal.status == Status::Active);
        let accepted = active.is_some();
        if let Some(goal) = active {
            change(goal);
        }
        accepted
    }
}
