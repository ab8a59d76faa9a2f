//! The result of evaluating a turn, and what is announced about it.

use std::fmt;

use serde::Serialize;

use super::goal::{AgenticaGoal, GoalStatus};

/// The kind of prompt that continues the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptKind {
    /// Asks to continue toward the goal.
    Continuation,
    /// 1.5: says that a budget is used up, and asks to wrap up.
    BudgetWrapup,
}

/// The rule that led to a ruling.
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
    /// The user paused the goal or reopened the session.
    User,
    /// Three turns in a row in which all tools failed.
    ToolStuck,
    /// The verifier.
    Verifier,
    /// There is no judge, or it gave three unreadable replies.
    JudgeBroken,
    /// The judge.
    Judge,
    /// The judge would have been asked, but its answer is not known.
    Unknown,
}

impl Cause {
    /// What the rule counts; `None` if it does not count anything.
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

/// The result of evaluating a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    /// The rule that led to it.
    pub cause: Cause,
    /// The status reported to the loop; 1.5's wrap-up reports active whatever the goal's own status.
    pub status: GoalStatus,
    /// Whether there is another turn.
    pub should_continue: bool,
    /// Who decided, in agentica's terms.
    pub verdict: &'static str,
    /// The reason.
    pub reason: String,
    /// The prompt of the next turn.
    pub prompt: Option<PromptKind>,
    /// The announcement, if there is one.
    pub event: Option<GoalEvent>,
}

/// An announcement.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GoalEvent {
    /// Its name.
    pub event: &'static str,
    /// Why the goal is paused: `None` if the event has no such field, `Some(None)` if it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_reason: Option<Option<String>>,
    /// Who decided, in agentica's terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<&'static str>,
    /// The reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A message naming the budget that is used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_message: Option<String>,
    /// The goal's status.
    pub status: GoalStatus,
    /// Turns evaluated.
    pub turns_used: i64,
}

/// Printed as `goal.paused after 3 turns: tool-stuck`.
impl fmt::Display for GoalEvent {
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

impl GoalEvent {
    /// An event about the goal's current state.
    pub fn about(goal: &AgenticaGoal, event: &'static str) -> Self {
        Self { event, status: goal.status, turns_used: goal.turns_used, ..Self::default() }
    }

    /// The goal is paused, by the user or by an evaluation.
    pub fn paused(goal: &AgenticaGoal) -> Self {
        Self { paused_reason: Some(goal.paused_reason.clone()), ..Self::about(goal, "goal.paused") }
    }

    pub(super) fn said(goal: &AgenticaGoal, event: &'static str, verdict: &'static str, reason: &str) -> Self {
        Self { verdict: Some(verdict), reason: Some(reason.to_owned()), ..Self::about(goal, event) }
    }
}

impl Ruling {
    pub(super) fn stop(cause: Cause, goal: &AgenticaGoal, verdict: &'static str, reason: impl Into<String>) -> Self {
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
            status: GoalStatus::Active,
            should_continue: true,
            verdict,
            reason: reason.into(),
            prompt: Some(PromptKind::Continuation),
            event: None,
        }
    }

    pub(super) fn announcing(mut self, event: GoalEvent) -> Self {
        self.event = Some(event);
        self
    }

    /// The ruling if there is no goal.
    pub(super) fn no_goal() -> Self {
        let cleared = AgenticaGoal { status: GoalStatus::Cleared, ..AgenticaGoal::default() };
        Self::stop(Cause::NoGoal, &cleared, "continue", "no active goal")
    }
}
