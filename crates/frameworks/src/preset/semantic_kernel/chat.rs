//! Agents that take turns: the group chat, its aggregated strategies, and the rounds of an orchestration.

use serde_json::Value;

use super::super::frame::{Action, ActionSink, Machine, RuleReading, Settings, SettingsError, reading, wrong_kind};
use super::strategy::ChatTermination;
use super::{AGGREGATOR, MAXIMUM, ROUNDS, STRATEGY, param};
use crate::transcript::{Message, Moment, PointView, Role};

/// The agent's own message at the end of its turn.
fn turn<'v>(view: &PointView<'v>) -> Option<&'v Message> {
    view.reply().filter(|reply| reply.tool_calls.is_empty())
}

fn agent_of(message: &Message) -> &str {
    message.name.as_deref().unwrap_or("assistant")
}

#[derive(Clone, Debug)]
pub(super) struct GroupChat {
    strategy: ChatTermination,
    /// Agent turns in this invocation; `None` before it begins.
    turns: Option<i64>,
    messages: i64,
    complete: bool,
}

impl GroupChat {
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let strategy = ChatTermination::read(&settings.in_force(&param::TERMINATION_STRATEGY))?;
        Ok(Self { strategy, turns: None, messages: 0, complete: false })
    }

    fn begin(&mut self, acts: &mut ActionSink<'_, '_>) {
        let max = self.strategy.maximum_iterations;
        if self.complete && !self.strategy.automatic_reset {
            acts.act(Action::Fail, STRATEGY).code("AgentChatException").detail("Chat is already complete");
        } else if max <= 0 {
            acts.act(Action::Stop, MAXIMUM).code(MAXIMUM).evidence(0.0, max as f64);
        }
        self.complete = false;
        self.turns = Some(0);
    }

    fn spoken(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        let turns = self.turns.unwrap_or(0) + 1;
        let max = self.strategy.maximum_iterations;
        self.turns = Some(turns);
        self.messages += 1;
        self.complete = self.strategy.ends(agent_of(message), &message.text(), self.messages);
        if self.complete {
            acts.act(Action::Stop, STRATEGY).code(STRATEGY);
        } else if turns >= max {
            acts.act(Action::Stop, MAXIMUM).code(MAXIMUM).evidence(turns as f64, max as f64);
        }
    }
}

impl Machine for GroupChat {
    fn message(&mut self, message: &Message, _acts: &mut ActionSink<'_, '_>) {
        if message.role == Role::User {
            self.turns = None;
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        match (view.moment(), turn(view)) {
            (Moment::BeforeRequest, _) if self.turns.is_none() => self.begin(acts),
            (Moment::AfterTools, Some(message)) => self.spoken(message, acts),
            _ => {}
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Aggregator {
    parts: Vec<ChatTermination>,
    all: bool,
    messages: i64,
}

impl Aggregator {
    /// The parts must be given; there is no default.
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let parts = settings.get(param::STRATEGIES.name).unwrap_or(&Value::Null);
        let parts =
            parts.as_array().ok_or_else(|| wrong_kind(param::STRATEGIES.name, "a list of strategies", parts))?;
        let all = match settings.text(&param::CONDITION)?.unwrap_or_default() {
            "All" => true,
            "Any" => false,
            other => return Err(wrong_kind(param::CONDITION.name, "All or Any", &Value::from(other))),
        };
        let parts = parts.iter().map(ChatTermination::read).collect::<Result<_, _>>()?;
        Ok(Self { parts, all, messages: 0 })
    }
}

impl Machine for Aggregator {
    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        let Some(message) = turn(view).filter(|_| view.moment() == Moment::AfterTools) else { return };
        self.messages += 1;
        let (agent, text) = (agent_of(message), message.text());
        let mut answers = self.parts.iter().map(|part| part.ends(agent, &text, self.messages));
        let ends = if self.all { answers.all(|yes| yes) } else { answers.any(|yes| yes) };
        if ends {
            acts.act(Action::Stop, AGGREGATOR).code(AGGREGATOR);
        }
    }
}

#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct OrchestrationRounds {
    max: Option<i64>,
    /// Turns of agents so far.
    pub spoken: i64,
}

impl OrchestrationRounds {
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        Ok(Self { max: settings.opt_int(&param::MAX_ROUNDS)?, spoken: 0 })
    }
}

impl Machine for OrchestrationRounds {
    /// Checks before the first agent, and after each agent has spoken.
    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        self.spoken += i64::from(view.moment() == Moment::EndOfRound);
        let asked = view.moment() == Moment::EndOfRound || (view.moment() == Moment::BeforeRequest && self.spoken == 0);
        if let Some(max) = self.max.filter(|max| asked && self.spoken + 1 > *max) {
            let act = acts.act(Action::Stop, ROUNDS).code("Maximum rounds reached.");
            act.evidence((self.spoken + 1) as f64, max as f64);
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        // The round that is refused is the one about to begin.
        let limit = self.max.iter();
        limit.map(|max| reading(ROUNDS, "rounds", (self.spoken + 1) as f64, *max as f64 + 1.0)).collect()
    }
}
