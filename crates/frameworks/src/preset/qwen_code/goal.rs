//! Qwen Code's budgets for a goal: tokens, goal turns, active time, and turns without a tool result.

use super::{GOAL, NO_PROGRESS, param};
use crate::framework::Parameter;
use crate::preset::frame::{Action, ActionSink, Machine, Settings, starts_run};
use crate::python::grouped;
use crate::transcript::{Instant, Message};

/// The largest accepted values.
const MOST_TOKENS: f64 = 300_000_000.0;
const MOST_TURNS: i64 = 10_000;
const MOST_MINUTES: i64 = 7 * 24 * 60;
/// Goal turns in a row without a tool result that stop the goal.
const IDLE: u32 = 3;

/// A budget: the amount granted per window, and the total at which the current window ends.
#[derive(Clone, Copy, Debug, Default)]
struct GoalBudget {
    grant: Option<f64>,
    spent: f64,
    until: f64,
}

impl GoalBudget {
    fn granted(grant: Option<f64>) -> Self {
        Self { grant, spent: 0.0, until: f64::INFINITY }
    }

    /// Starts a new window on top of what has been spent.
    fn renew(&mut self) {
        self.until = self.spent + self.grant.unwrap_or(f64::INFINITY);
    }

    fn is_spent(&self) -> bool {
        self.spent >= self.until
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct QwenGoal {
    tokens: GoalBudget,
    turns: GoalBudget,
    /// In milliseconds.
    time: GoalBudget,
    is_active: bool,
    /// The time up to which active time has been counted.
    metered_at: Option<Instant>,
    /// The current goal turn's tokens and tool results; `None` before it begins.
    turn: Option<(f64, u64)>,
    idle: u32,
    /// Whether the next turn, or the current one, is the last.
    winds_down: bool,
    is_winding_down: bool,
    last: Option<usize>,
}

impl QwenGoal {
    pub(super) fn from_settings(settings: &Settings) -> Self {
        let whole = |parameter: &Parameter| settings.value(parameter).as_f64().filter(|number| number.fract() == 0.0);
        let tokens = match whole(&param::GOAL_TOKEN_BUDGET) {
            Some(0.0 | -1.0) => None,
            Some(tokens) if tokens > 0.0 && tokens <= MOST_TOKENS => Some(tokens),
            _ => settings.default_of(&param::GOAL_TOKEN_BUDGET).as_f64(),
        };
        let within = |parameter: &Parameter, most: i64| {
            whole(parameter).filter(|number| *number >= 1.0 && *number <= most as f64)
        };
        let minutes = within(&param::GOAL_MAX_ACTIVE_MINUTES, MOST_MINUTES);
        Self {
            tokens: GoalBudget::granted(tokens),
            turns: GoalBudget::granted(within(&param::GOAL_MAX_TURNS, MOST_TURNS)),
            time: GoalBudget::granted(minutes.map(|minutes| minutes * 60_000.0)),
            ..Self::default()
        }
    }

    pub(super) fn is_timed(&self) -> bool {
        self.time.grant.is_some()
    }

    fn meter(&mut self, now: Option<Instant>) {
        if let (Some(now), Some(before)) = (now, self.metered_at)
            && self.is_active
        {
            self.time.spent += now.since(before).0.max(0) as f64;
        }
        self.metered_at = now.or(self.metered_at);
    }

    fn spoken_to(&mut self, message: &Message) {
        self.meter(message.ts);
        if self.is_active {
            return;
        }
        self.is_active = true;
        self.idle = 0;
        (self.winds_down, self.is_winding_down) = (false, false);
        [&mut self.tokens, &mut self.turns, &mut self.time].into_iter().for_each(GoalBudget::renew);
    }

    fn reply(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        self.meter(reply.ts);
        if !self.is_active {
            return;
        }
        if self.turn.is_none() && std::mem::take(&mut self.winds_down) {
            self.is_winding_down = true;
            acts.act(Action::Inject, GOAL).code("goal_wind_down").before_request(self.last);
        }
        let usage = reply.usage().unwrap_or_default();
        let tokens = usage.input.unwrap_or(0).saturating_add(usage.output.unwrap_or(0)) as f64;
        let turn = self.turn.get_or_insert((0.0, 0));
        turn.0 += tokens;
        if reply.tool_calls.is_empty() {
            self.finish(acts.event(), acts);
        }
    }

    /// Ends a goal turn.
    fn finish(&mut self, at: Option<usize>, acts: &mut ActionSink<'_, '_>) {
        let Some((tokens, results)) = self.turn.take() else { return };
        self.last = at;
        self.tokens.spent += tokens;
        self.turns.spent += 1.0;
        let spent = self.spent();
        match spent {
            Some((kind, words)) if self.is_winding_down => {
                self.is_active = false;
                let act = acts.act(Action::Stop, GOAL).code(format!("goal_usage_limited:{kind}")).detail(words);
                act.decision.event = at;
            }
            Some(_) => self.winds_down = true,
            None => {
                self.idle = if results == 0 { self.idle + 1 } else { 0 };
                if self.idle >= IDLE {
                    self.is_active = false;
                    let words = "Three Goal turns in a row recorded nothing to judge and no proposal. Resume the Goal to try \
                                 again, or edit its objective into one the model can act on and then resume it.";
                    let act = acts.act(Action::Stop, NO_PROGRESS).code("goal_paused:no_progress").detail(words);
                    act.evidence(f64::from(IDLE), f64::from(IDLE)).decision.event = at;
                }
            }
        }
    }

    /// The first budget that is used up, and the framework's message.
    fn spent(&self) -> Option<(&'static str, String)> {
        let count = |number: f64, word: &str| {
            format!("{number} {word}{}", if (1.0..=1.0).contains(&number) { "" } else { "s" })
        };
        if self.tokens.is_spent() {
            #[expect(clippy::cast_possible_truncation, reason = "a sum of whole numbers")]
            let tokens = grouped(self.tokens.until as i128);
            let words = format!(
                "The Goal spent its autonomous token budget ({tokens} tokens). Resume the Goal to authorize another budget \
                 window, or clear it."
            );
            return Some(("token_budget", words));
        }
        if self.turns.is_spent() {
            let turns = count(self.turns.until, "turn");
            let words = format!(
                "The Goal ran its Goal-turn budget ({turns}). Resume the Goal to authorize another window of turns, or clear it."
            );
            return Some(("turn_budget", words));
        }
        if !self.time.is_spent() {
            return None;
        }
        let minutes = count(self.time.until / 60_000.0, "minute");
        let words = format!(
            "The Goal ran its active-time budget ({minutes}). Resume the Goal to authorize another window of time, or clear \
             it."
        );
        Some(("time_budget", words))
    }
}

impl Machine for QwenGoal {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if starts_run(message) {
            // A turn that the user interrupted is over.
            let before = acts.event_before();
            self.finish(before, acts);
            self.spoken_to(message);
        } else if message.is_step() {
            self.reply(message, acts);
        } else if message.is_result() {
            self.meter(message.ts);
            if let Some(turn) = &mut self.turn {
                turn.1 += 1;
            }
        }
    }
}
