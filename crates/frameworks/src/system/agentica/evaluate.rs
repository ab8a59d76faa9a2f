//! Evaluates one turn: agentica's checks in order.

use super::goal::{AgenticaGoal, GoalStatus};
use super::reply::JudgeAnswer;
use super::ruling::{Cause, GoalEvent, PromptKind, Ruling};
use super::{GoalRules, Version};
use crate::python::grouped;

/// How many failures in a row pause the goal: unreadable judge replies, or turns in which all tools failed.
const LIMIT: u32 = 3;

/// What a turn used and did.
#[derive(Clone, Debug, Default)]
pub struct TurnUsage {
    /// Input and output tokens; negative values count as 0.
    pub tokens: i128,
    /// Duration in seconds; negative values count as 0.
    pub seconds: f64,
    /// The tools used and whether each failed.
    pub tools: Vec<(String, bool)>,
}

/// A verifier's answer (1.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Whether the goal is reached.
    pub done: bool,
    /// The reason; if empty, a stock phrase is used.
    pub reason: String,
    /// A status that it sets instead of continuing.
    pub status: Option<GoalStatus>,
}

/// Decides whether the goal is reached. Each method is called only when agentica would ask.
pub trait Referee {
    /// The verifier's answer; `None` leaves it to the judge.
    fn verify(&mut self) -> Option<Verified>;

    /// The judge's answer; `None` if it is not known.
    fn judge(&mut self, goal: &AgenticaGoal, turn: &TurnUsage) -> Option<JudgeAnswer>;
}

/// Evaluates a turn: charges it, then makes the checks in order.
pub(super) fn evaluate(
    rules: GoalRules,
    goal: &mut AgenticaGoal,
    turn: &TurnUsage,
    referee: &mut dyn Referee,
) -> Ruling {
    charge(goal, turn);
    if let Some(ruling) = blown_budget(rules, goal) {
        return ruling;
    }
    if goal.status != GoalStatus::Active {
        return after_tool(goal);
    }
    if goal.tool_failures >= LIMIT {
        return tool_stuck(goal);
    }
    if let Some(verified) = referee.verify() {
        return after_verifier(rules, goal, verified);
    }
    if !rules.auto_judge {
        return without_judge(rules, goal);
    }
    if !rules.has_judge {
        goal.halt(GoalStatus::Paused, "judge-broken");
        let reason = match rules.version {
            Version::V15 => "no judge model configured and verifier deferred",
            Version::V14 | Version::Documented => "no judge model configured",
        };
        return Ruling::stop(Cause::JudgeBroken, goal, "parse_failed", reason);
    }
    match referee.judge(goal, turn) {
        Some(verdict) => after_judge(rules, goal, verdict),
        None => after_unknown(rules, goal),
    }
}

/// Charges the turn whatever the result; only a cleared goal is not charged.
fn charge(goal: &mut AgenticaGoal, turn: &TurnUsage) {
    if goal.status != GoalStatus::Cleared {
        goal.turns_used += 1;
        goal.tokens_used = goal.tokens_used.saturating_add(turn.tokens.max(0));
        if turn.seconds > 0.0 {
            goal.seconds_used += turn.seconds;
        }
    }
    if turn.tools.is_empty() {
        return;
    }
    goal.tool_failures = if turn.tools.iter().all(|(_, failed)| *failed) { goal.tool_failures + 1 } else { 0 };
}

/// The exhausted token or wall-clock budget, checked in this order. The documentation also checks the turn budget here.
fn exhausted(rules: GoalRules, goal: &AgenticaGoal) -> Option<(Cause, String)> {
    if let Some(limit) = goal.budgets.tokens.filter(|limit| limit.is_reached_by(goal.tokens_used)) {
        let (used, limit) = match rules.version {
            Version::V15 => (grouped(goal.tokens_used), limit.grouped()),
            Version::V14 | Version::Documented => (goal.tokens_used.to_string(), limit.to_string()),
        };
        let words = format!("token budget exhausted ({used}/{limit})");
        return Some((Cause::Tokens, words));
    }
    if let Some(limit) = goal.budgets.seconds.filter(|limit| goal.seconds_used >= *limit) {
        let words = format!("wall-clock budget exhausted ({:.0}s/{limit:.0}s)", goal.seconds_used);
        return Some((Cause::Seconds, words));
    }
    let turns_too = rules.version == Version::Documented && turns_exhausted(goal);
    if turns_too { Some((Cause::Turns, turn_words(goal))) } else { None }
}

fn turns_exhausted(goal: &AgenticaGoal) -> bool {
    matches!(&goal.budgets.turns, Some(limit) if limit.is_reached_by(i128::from(goal.turns_used)))
}

fn turn_words(goal: &AgenticaGoal) -> String {
    let limit = goal.budgets.turns.map(|limit| limit.to_string()).unwrap_or_default();
    format!("turn budget exhausted ({}/{limit})", goal.turns_used)
}

fn blown_budget(rules: GoalRules, goal: &mut AgenticaGoal) -> Option<Ruling> {
    let (cause, words) = exhausted(rules, goal)?;
    Some(over_budget(rules, goal, cause, words))
}

/// A budget is used up, and no verdict says more: 1.5's wrap-up turn, or the end.
fn over_budget(rules: GoalRules, goal: &mut AgenticaGoal, cause: Cause, words: String) -> Ruling {
    wrap_up(rules, goal, cause, &words).unwrap_or_else(|| limited(goal, cause, "continue", words.clone(), words))
}

/// 1.5's single wrap-up turn: the loop is told to continue, whatever the goal's status.
fn wrap_up(rules: GoalRules, goal: &mut AgenticaGoal, cause: Cause, words: &str) -> Option<Ruling> {
    if rules.version != Version::V15 || goal.wrapup_sent {
        return None;
    }
    goal.wrapup_sent = true;
    goal.note("continue", words);
    let event = GoalEvent {
        budget_message: Some(words.to_owned()),
        ..GoalEvent::said(goal, "goal.continuing", "continue", words)
    };
    let ruling = Ruling::go_on(cause, "continue", words).announcing(event);
    Some(Ruling { prompt: Some(PromptKind::BudgetWrapup), ..ruling })
}

/// The goal is reached.
fn completed(goal: &mut AgenticaGoal, cause: Cause, verdict: &'static str, reason: String) -> Ruling {
    goal.status = GoalStatus::Complete;
    let event = GoalEvent::said(goal, "goal.completed", verdict, &reason);
    Ruling::stop(cause, goal, verdict, reason).announcing(event)
}

/// There is another turn.
fn continuing(goal: &AgenticaGoal, cause: Cause, verdict: &'static str, reason: String) -> Ruling {
    let event = GoalEvent::said(goal, "goal.continuing", verdict, &reason);
    Ruling::go_on(cause, verdict, reason).announcing(event)
}

fn limited(
    goal: &mut AgenticaGoal,
    cause: Cause,
    verdict: &'static str,
    reason: String,
    budget_message: String,
) -> Ruling {
    goal.halt(GoalStatus::BudgetLimited, "budget");
    let event = GoalEvent { budget_message: Some(budget_message), ..GoalEvent::paused(goal) };
    Ruling::stop(cause, goal, verdict, reason).announcing(event)
}

/// The ruling for a goal that is no longer active, because the model's tool or a user has changed it.
fn after_tool(goal: &mut AgenticaGoal) -> Ruling {
    let last = goal.last_reason.clone().filter(|reason| !reason.is_empty());
    match goal.status {
        GoalStatus::Complete => {
            let reason = last.unwrap_or_else(|| "agent marked complete".to_owned());
            completed(goal, Cause::Tool, "tool_signal", reason)
        }
        GoalStatus::Paused => {
            let reason = last.unwrap_or_else(|| "agent paused goal".to_owned());
            let why = goal.paused_reason.clone().filter(|why| !why.is_empty());
            let why = why.unwrap_or_else(|| "agent-tool".to_owned());
            let event = GoalEvent { paused_reason: Some(Some(why.clone())), ..GoalEvent::paused(goal) };
            let cause = if why == "agent-tool" { Cause::Tool } else { Cause::User };
            Ruling::stop(cause, goal, "tool_signal", reason).announcing(event)
        }
        GoalStatus::Active | GoalStatus::Cleared | GoalStatus::BudgetLimited => {
            Ruling::stop(Cause::NoGoal, goal, "continue", "no active goal")
        }
    }
}

fn tool_stuck(goal: &mut AgenticaGoal) -> Ruling {
    goal.halt(GoalStatus::Paused, "tool-stuck");
    let reason = format!("every tool call failed for {} turns in a row", goal.tool_failures);
    Ruling::stop(Cause::ToolStuck, goal, "continue", reason).announcing(GoalEvent::paused(goal))
}

fn after_verifier(rules: GoalRules, goal: &mut AgenticaGoal, verified: Verified) -> Ruling {
    let stock = if verified.done { "verifier=done" } else { "verifier=continue" };
    let reason = if verified.reason.is_empty() { stock.to_owned() } else { verified.reason };
    goal.note("verifier", &reason);
    if verified.done {
        return completed(goal, Cause::Verifier, "verifier", reason);
    }
    if let Some(status @ (GoalStatus::Paused | GoalStatus::BudgetLimited)) = verified.status {
        goal.halt(status, if status == GoalStatus::Paused { "verifier" } else { "budget" });
        let event = GoalEvent { verdict: Some("verifier"), ..GoalEvent::paused(goal) };
        return Ruling::stop(Cause::Verifier, goal, "verifier", reason).announcing(event);
    }
    if turns_exhausted(goal) {
        let words = turn_budget_message(rules, goal);
        return limited(goal, Cause::Turns, "verifier", reason, words);
    }
    continuing(goal, Cause::Verifier, "verifier", reason)
}

/// The message of the announcement; 1.4 leaves out the numbers.
fn turn_budget_message(rules: GoalRules, goal: &AgenticaGoal) -> String {
    if rules.version == Version::V15 { turn_words(goal) } else { "turn budget exhausted".to_owned() }
}

/// In 1.5 without a judge on every turn, the loop continues up to the turn cap.
fn without_judge(rules: GoalRules, goal: &mut AgenticaGoal) -> Ruling {
    let reason = if turns_exhausted(goal) {
        "turn budget exhausted; no completion signal from verify_completion"
    } else {
        "no completion signal yet; keep working (call verify_completion when done)"
    };
    up_to_turn_cap(rules, goal, reason.to_owned())
}

/// The loop continues up to the turn cap, where 1.5 grants its wrap-up turn.
fn up_to_turn_cap(rules: GoalRules, goal: &mut AgenticaGoal, reason: String) -> Ruling {
    goal.note("continue", &reason);
    if !turns_exhausted(goal) {
        return continuing(goal, Cause::Judge, "continue", reason);
    }
    if let Some(ruling) = wrap_up(rules, goal, Cause::Turns, &turn_words(goal)) {
        return ruling;
    }
    let message = turn_budget_message(rules, goal);
    limited(goal, Cause::Turns, "continue", reason, message)
}

fn after_judge(rules: GoalRules, goal: &mut AgenticaGoal, verdict: JudgeAnswer) -> Ruling {
    match verdict {
        JudgeAnswer::Unreadable(reason) => {
            goal.note("parse_failed", &reason);
            goal.parse_failures += 1;
            if goal.parse_failures < LIMIT {
                return Ruling::go_on(Cause::Judge, "parse_failed", reason);
            }
            goal.halt(GoalStatus::Paused, "judge-broken");
            Ruling::stop(Cause::JudgeBroken, goal, "parse_failed", reason)
        }
        JudgeAnswer::Done(reason) => {
            goal.note("done", &reason);
            goal.parse_failures = 0;
            completed(goal, Cause::Judge, "done", reason)
        }
        JudgeAnswer::Continue(reason) | JudgeAnswer::Unavailable(reason) => {
            goal.parse_failures = 0;
            up_to_turn_cap(rules, goal, reason)
        }
    }
}

/// The judge's answer is not known. At the turn cap, the loop ends either way; before it, nothing can be decided.
fn after_unknown(rules: GoalRules, goal: &mut AgenticaGoal) -> Ruling {
    if turns_exhausted(goal) {
        return over_budget(rules, goal, Cause::Turns, turn_words(goal));
    }
    Ruling::go_on(Cause::Unknown, "continue", "the judge's verdict is not recorded")
}
