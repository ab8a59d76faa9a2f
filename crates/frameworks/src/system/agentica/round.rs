//! Extracts what a recorded round contributes to the goal: tokens and time used, tools, and the goal's own log rows.

use serde::Deserialize;
use serde_json::Value;

use super::evaluate::{Referee, TurnUsage, Verified};
use super::goal::AgenticaGoal;
use super::reply::{self, JudgeAnswer};
use crate::judge::{self, Judge};
use crate::transcript::{Carries, Event, Lane, Message, Millis, PointView, Role, Truth};

/// The events of a round that has just ended.
#[derive(Clone, Copy)]
pub(super) struct RoundEvents<'v, 'r> {
    /// The point at which it ended.
    pub view: &'v PointView<'r>,
    /// Its events.
    pub events: &'r [Event],
}

/// A goal row of agentica's session log, with the fields that matter for a turn.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GoalRow {
    pub status: String,
    pub turns_used: i64,
    pub tokens_used: f64,
    pub wall_clock_used_sec: f64,
    pub last_verdict: Option<String>,
    pub last_reason: Option<String>,
    pub paused_reason: Option<String>,
    pub final_answer: Option<String>,
}

/// A change to the goal from outside between two evaluations, according to the session's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UserDeed {
    /// `/goal pause`, an interruption, or a reopened session; with the recorded reason.
    Pause(Option<String>),
    /// `/goal resume`.
    Resume,
    /// `/goal clear`.
    Clear,
    /// A new goal, so all counts start again.
    Set,
}

/// What the model passed to its goal tool.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolWord {
    pub status: String,
    pub reason: String,
    pub final_answer: Option<String>,
}

impl RoundEvents<'_, '_> {
    fn messages(&self) -> impl Iterator<Item = &Message> {
        self.events.iter().filter_map(Event::message)
    }

    /// The last goal row that counts more turns than `before`.
    pub(super) fn goal_row(&self, before: Option<&GoalRow>) -> Option<GoalRow> {
        let turns = if let Some(row) = before { row.turns_used } else { 0 };
        self.rows().rfind(|row| row.turns_used > turns)
    }

    /// A user's changes to the goal in this round: rows that count no new turn and change the status. For what the
    /// model's own tool did, see [`Self::tool_words`].
    pub(super) fn user_deeds(&self, before: Option<&GoalRow>) -> Vec<UserDeed> {
        let (mut turns, mut status) = match before {
            Some(row) => (row.turns_used, row.status.clone()),
            None => (0, "active".to_owned()),
        };
        let mut deeds = Vec::new();
        for row in self.rows() {
            let is_between = row.turns_used == turns && row.status != status;
            let by_tool = match row.paused_reason.as_deref() {
                Some(why) => why == "agent-tool",
                // A redacted row still says who gave the last verdict.
                None => row.last_verdict.as_deref() == Some("tool_signal"),
            };
            let is_new = row.turns_used < turns || (status == "cleared" && row.status == "active");
            match row.status.as_str() {
                _ if is_new => deeds.push(UserDeed::Set),
                _ if !is_between => {}
                "paused" if !by_tool => deeds.push(UserDeed::Pause(row.paused_reason.clone())),
                "active" => deeds.push(UserDeed::Resume),
                "cleared" => deeds.push(UserDeed::Clear),
                _ => {}
            }
            (turns, status) = (row.turns_used, row.status);
        }
        deeds
    }

    /// The goal rows, in order.
    fn rows(&self) -> impl DoubleEndedIterator<Item = GoalRow> {
        self.events.iter().filter_map(|event| match event {
            Event::Note(note) if note.carries() == Carries::GoalRow => read_row(note.body.get()),
            _ => None,
        })
    }

    /// Tokens and seconds of the round, taken from the goal rows if there are any; `since` is when the previous round
    /// ended.
    pub(super) fn turn(&self, before: Option<&GoalRow>, since: Option<crate::transcript::Instant>) -> TurnUsage {
        let zero = GoalRow::default();
        let (tokens, seconds) = match (self.goal_row(before), before.unwrap_or(&zero)) {
            (Some(row), before) => {
                (row.tokens_used - before.tokens_used, row.wall_clock_used_sec - before.wall_clock_used_sec)
            }
            (None, _) => (self.tokens(), self.seconds(since)),
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "Python's int() of the turn's tokens; a float cast saturates"
        )]
        let tokens = tokens.trunc() as i128;
        TurnUsage { tokens, seconds, tools: self.tools() }
    }

    /// Tokens of the agent's own calls and of its sub-agents.
    fn tokens(&self) -> f64 {
        let own = self.messages().filter(|message| matches!(message.lane, Lane::Main | Lane::Side(_)));
        own.filter_map(Message::total_tokens).map(|tokens| tokens.0 as f64).sum()
    }

    fn seconds(&self, since: Option<crate::transcript::Instant>) -> f64 {
        let (Some(now), Some(since)) = (self.view.now(), since.or(self.view.started_at())) else { return 0.0 };
        let Millis(passed) = now.since(since);
        passed as f64 / 1000.0
    }

    /// The tools whose results say whether they failed. Empty if some result does not say and none is known to have
    /// succeeded, because then nothing can be said of the round.
    fn tools(&self) -> Vec<(String, bool)> {
        let results: Vec<&Message> = self.messages().filter(|message| message.is_result()).collect();
        let mut tools: Vec<(String, bool)> = Vec::new();
        for result in &results {
            if let Some(failed) = result.is_error {
                tools.push((result.name.as_deref().unwrap_or_default().to_owned(), failed));
            }
        }
        let some_unflagged = tools.len() < results.len();
        if some_unflagged && tools.iter().all(|(_, failed)| *failed) { Vec::new() } else { tools }
    }

    /// What the model passed to its goal tool, in order: from its recorded calls, else from a goal row (1.4 logs
    /// contain no calls).
    pub(super) fn tool_words(&self, before: Option<&GoalRow>) -> Vec<ToolWord> {
        let replies = self.messages().filter(|message| message.role == Role::Assistant && message.is_step());
        let calls = replies.flat_map(|reply| &reply.tool_calls).filter(|call| &*call.name == "update_goal");
        let said: Vec<ToolWord> =
            calls.filter_map(|call| serde_json::from_str(&call.arguments.as_str()).ok()).collect();
        if !said.is_empty() {
            return said;
        }
        let by_tool = |row: &GoalRow| matches!(row.last_verdict.as_deref(), Some("tool_signal" | "verify_tool"));
        let row = self.goal_row(before).filter(by_tool);
        row.map(|row| ToolWord {
            status: row.status,
            reason: row.last_reason.unwrap_or_default(),
            final_answer: row.final_answer,
        })
        .into_iter()
        .collect()
    }
}

fn read_row(body: &str) -> Option<GoalRow> {
    let mut value: Value = serde_json::from_str(body).ok()?;
    let goal = value.get_mut("goal").map(Value::take).unwrap_or_default();
    serde_json::from_value(if goal.is_object() { goal } else { value }).ok()
}

/// The judge of a recorded round.
pub(super) struct RoundJudge<'v, 'r> {
    /// The round.
    pub round: RoundEvents<'v, 'r>,
    /// The goal row that closed the previous round.
    pub before: Option<&'v GoalRow>,
    /// Where verdicts come from.
    pub judge: Judge,
    /// The truth that a simulated judge errs around.
    pub truth: Truth,
    /// How many questions a simulated judge has been asked.
    pub asked: u64,
}

impl Referee for RoundJudge<'_, '_> {
    fn verify(&mut self) -> Option<Verified> {
        // A verifier is the user's own code, so its answer is either in the goal row or unknown.
        let row = self.round.goal_row(self.before)?;
        if row.last_verdict.as_deref() != Some("verifier") {
            return None;
        }
        Some(Verified {
            done: row.status == "complete",
            reason: row.last_reason.unwrap_or_default(),
            status: row.status.parse().ok(),
        })
    }

    fn judge(&mut self, _goal: &AgenticaGoal, _turn: &TurnUsage) -> Option<JudgeAnswer> {
        match self.judge {
            Judge::Absent => None,
            Judge::Simulated(judge) => {
                self.asked += 1;
                Some(if judge.says_done(self.round.view, self.truth)? {
                    JudgeAnswer::Done("simulated: done".to_owned())
                } else {
                    JudgeAnswer::Continue("simulated: not done".to_owned())
                })
            }
            Judge::Recorded => self.recorded(),
        }
    }
}

impl RoundJudge<'_, '_> {
    fn recorded(&self) -> Option<JudgeAnswer> {
        if let Some(reply) = judge::recorded(self.round.events) {
            return Some(match (&reply.reply, &reply.error) {
                (Some(raw), _) => reply::read(&raw.as_str()),
                (None, error) => {
                    JudgeAnswer::Unavailable(format!("judge unavailable: {}", error.as_deref().unwrap_or_default()))
                }
            });
        }
        let row = self.round.goal_row(self.before)?;
        let reason = row.last_reason.unwrap_or_default();
        match row.last_verdict.as_deref()? {
            "done" => Some(JudgeAnswer::Done(reason)),
            "continue" => Some(JudgeAnswer::Continue(reason)),
            "parse_failed" => Some(JudgeAnswer::Unreadable(reason)),
            _ => None,
        }
    }
}
