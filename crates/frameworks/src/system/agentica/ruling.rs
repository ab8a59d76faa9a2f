//! What an evaluated turn comes to, and what is announced of it.

use std::fmt;

use serde::Serialize;

use super::goal::{Budgets, Goal, Status};

/// The prompt that keeps the loop going.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Prompt {
    /// Go on toward the goal.
    Continuation,
    /// 1.5: a budget is used up; wrap up.
    BudgetWrapup,
}

/// The rule a ruling is owed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// There is no active goal.
    NoGoal,
    /// The token budget.
    Tokens,
    /// The wall-clock budget.
    Seconds,
    /// The turn budget.
    Turns,
    /// The model's own tool.
    Tool,
    /// The user paused the goal, or opened the session again.
    User,
    /// Three turns of failed tools.
    ToolStuck,
    /// The verifier.
    Verifier,
    /// No judge, or three unreadable replies.
    JudgeBroken,
    /// The judge.
    Judge,
    /// The judge would have been asked, and its answer is not known.
    Unknown,
}

impl Cause {
    /// What it counts, in a word; `None` where it is not about a number.
    pub(super) fn counts(self) -> Option<&'static str> {
        match self {
            Self::Tokens => Some("tokens"),
            Self::Seconds => Some("seconds"),
            Self::Turns => Some("turns"),
            Self::ToolStuck => Some("turns of failed tools in a row"),
            Self::JudgeBroken => Some("unreadable judge replies in a row"),
            Self::NoGoal | Self::Tool | Self::User | Self::Verifier | Self::Judge | Self::Unknown => None,
        }
    }
}

/// What a turn's evaluation comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    /// The rule it is owed to.
    pub cause: Cause,
    /// The status told to the loop; 1.5's wrap-up says active whatever the goal's own status.
    pub status: Status,
    /// Another turn?
    pub should_continue: bool,
    /// Who decided, in agentica's word.
    pub verdict: &'static str,
    /// Why.
    pub reason: String,
    /// The prompt of the next turn.
    pub prompt: Option<Prompt>,
    /// What was announced.
    pub event: Option<Event>,
}

/// An announcement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// Its name.
    pub event: &'static str,
    /// Why the goal waits: `None` where the event does not say, `Some(None)` where it says null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_reason: Option<Option<String>>,
    /// Who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<&'static str>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Which budget is used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_message: Option<String>,
    /// The goal's status.
    pub status: Status,
    /// Turns evaluated.
    pub turns_used: i64,
}

/// `goal.paused after 3 turns: tool-stuck`.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} after {} turns", self.event, self.turns_used)?;
        let paused = self.paused_reason.iter().flatten().map(String::as_str);
        let why = paused.chain(self.verdict).chain(self.reason.as_deref()).chain(self.budget_message.as_deref());
        for (nth, why) in why.filter(|why| !why.is_empty()).enumerate() {
            write!(f, "{}{why}", if nth == 0 { ": " } else { ", " })?;
        }
        Ok(())
    }
}

impl Event {
    /// An event about `goal` as it stands.
    pub fn about(goal: &Goal, event: &'static str) -> Self {
        Self {
            event,
            paused_reason: None,
            verdict: None,
            reason: None,
            budget_message: None,
            status: goal.status,
            turns_used: goal.turns_used,
        }
    }

    /// The user, or an evaluation, pauses the goal.
    pub fn paused(goal: &Goal) -> Self {
        Self { paused_reason: Some(goal.paused_reason.clone()), ..Self::about(goal, "goal.paused") }
    }

    pub(super) fn said(goal: &Goal, event: &'static str, verdict: &'static str, reason: &str) -> Self {
        Self { verdict: Some(verdict), reason: Some(reason.to_owned()), ..Self::about(goal, event) }
    }
}

impl Ruling {
    pub(super) fn stop(cause: Cause, goal: &Goal, verdict: &'static str, reason: impl Into<String>) -> Self {
        Self {
            cause,
            status: goal.status,
            should_continue: false,
            verdict,
            reason: reason.into(),
            prompt: None,
            event: None,
        }
    }

    pub(super) fn go_on(cause: Cause, verdict: &'static str, reason: impl Into<String>) -> Self {
        Self {
            cause,
            status: Status::Active,
            should_continue: true,
            verdict,
            reason: reason.into(),
            prompt: Some(Prompt::Continuation),
            event: None,
        }
    }

    /// Is the goal written to the log? Not when it was no longer pursued and nothing else was left to
    /// say: the turn then counts until the log is read again.
    pub fn is_written(&self) -> bool {
        self.cause != Cause::NoGoal
    }

    pub(super) fn announcing(mut self, event: Event) -> Self {
        self.event = Some(event);
        self
    }

    /// The ruling without a goal.
    pub fn no_goal() -> Self {
        Self {
            status: Status::Cleared,
            ..Self::stop(Cause::NoGoal, &Goal::new(Budgets::default()), "continue", "no active goal")
        }
    }
}
