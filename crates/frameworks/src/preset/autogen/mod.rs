//! AutoGen AgentChat: termination conditions, single or combined, and the turns of a team.

#[doc(hidden)]
pub mod condition;
#[doc(hidden)]
pub mod message;

use serde_json::Value;

use super::frame::{Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, reading, rules_on};
use crate::decision::{Evidence, Need};
use crate::framework::params;
use crate::transcript::{Instant, Message, Moment, PointView, Role};

use condition::{TerminationCondition, TerminationResult};
use message::{AgentTurn, TeamMessage};

#[doc(hidden)]
pub const CONDITION: &str = "termination_condition";
const MAX_TURNS: &str = "max_turns";

params! {
    CONDITION: "condition" = null, off null,
        "a table with `type` and the arguments of that condition, or { or = [..] }, { and = [..] }";
    MAX_TURNS: "max_turns" = null, off null, "agent responses of a team; at least 1";
    STARTED_AT: "started_at" = null,
        "when the conditions were made, for TimeoutTermination; by default when the run began";
}

/// The rules of a team.
#[doc(hidden)]
pub fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    let max_turns = settings.opt_int(&param::MAX_TURNS)?;
    if max_turns.is_some_and(|max| max <= 0) {
        return Err(SettingsError::refused("ValueError", "The maximum number of turns must be greater than 0."));
    }
    let condition = match settings.get(param::CONDITION.name) {
        None | Some(Value::Null) => None,
        Some(value) => Some(TerminationCondition::read(value)?),
    };
    let needs = condition.as_ref().map(TerminationCondition::needs).unwrap_or_default();
    let started_at = started_at(settings)?;
    let rules = rules_on(&[(CONDITION, condition.is_some()), (MAX_TURNS, max_turns.is_some())]);
    let recipe = Recipe::new(AutogenTeam::new(condition, max_turns, started_at), &rules).keeps_own_state();
    Ok(needs.into_iter().fold(recipe, |recipe: Recipe, need: Need| recipe.needs(CONDITION, need)))
}

/// When the team started, if the settings say so.
#[doc(hidden)]
pub fn started_at(settings: &Settings) -> Result<Option<Instant>, SettingsError> {
    Ok(settings.text(&param::STARTED_AT)?.and_then(Instant::from_iso))
}

/// Reports the result of calling a condition as an act.
#[doc(hidden)]
pub fn report(
    stopped: TerminationResult,
    code: Option<&'static str>,
    at: Option<usize>,
    acts: &mut ActionSink<'_, '_>,
) {
    let (action, own_code, detail, evidence) = match stopped {
        TerminationResult::Fired(words) => (Action::Stop, words.source, words.content, words.evidence),
        TerminationResult::Raised { class, words } => {
            (Action::Fail, class.to_owned(), words.to_owned(), Evidence::NONE)
        }
    };
    let act = acts.act(action, CONDITION).detail(detail).about_event(at);
    act.decision.evidence = evidence;
    match code {
        Some(code) => act.code(code),
        None => act.code(own_code),
    };
}

/// A team of agents that take turns.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct AutogenTeam {
    condition: Option<TerminationCondition>,
    max_turns: Option<i64>,
    turns: i64,
    started: bool,
    task: Vec<TeamMessage>,
    turn: AgentTurn,
    /// Type names of all messages, in order.
    pub messages: Vec<String>,
    over: bool,
}

impl AutogenTeam {
    fn new(mut condition: Option<TerminationCondition>, max_turns: Option<i64>, started_at: Option<Instant>) -> Self {
        if let (Some(condition), Some(at)) = (&mut condition, started_at) {
            condition.start(Some(at));
        }
        Self { condition, max_turns, started: started_at.is_some(), ..Self::default() }
    }

    fn start(&mut self, acts: &mut ActionSink<'_, '_>) {
        if self.condition.as_ref().is_some_and(TerminationCondition::is_terminated) {
            let words = "The group chat has already terminated.";
            acts.act(Action::Stop, CONDITION).code("GroupChatTermination").detail(words);
            self.over = true;
            return;
        }
        let task = std::mem::take(&mut self.task);
        self.take(&task, acts);
    }

    fn take(&mut self, delta: &[TeamMessage], acts: &mut ActionSink<'_, '_>) {
        self.messages.extend(delta.iter().map(|message| message.kind().to_owned()));
        if let Some(condition) = &mut self.condition
            && let Some(stopped) = condition.call(delta)
        {
            report(stopped, Some("GroupChatTermination"), None, acts);
            self.over = true;
        }
    }

    fn after_turn(&mut self, acts: &mut ActionSink<'_, '_>) {
        let delta = std::mem::take(&mut self.turn).into_delta();
        if delta.is_empty() {
            return;
        }
        self.take(&delta, acts);
        self.turns += 1;
        if let Some(max) = self.max_turns.filter(|max| !self.over && self.turns >= *max) {
            let words = format!("Maximum number of turns {max} reached.");
            let act = acts.act(Action::Stop, MAX_TURNS).code("GroupChatTermination").detail(words);
            act.evidence(self.turns as f64, max as f64);
            self.over = true;
        }
    }
}

impl Machine for AutogenTeam {
    fn message(&mut self, message: &Message, _acts: &mut ActionSink<'_, '_>) {
        if self.over || (self.condition.is_none() && self.max_turns.is_none()) {
            return;
        }
        if let Some(condition) = &mut self.condition {
            if !self.started {
                condition.start(message.ts);
            }
            if message.ts.is_some() {
                condition.tick(message.ts);
            }
        }
        self.started = true;
        if message.role == Role::User {
            self.task.push(TeamMessage::from_message(message));
        } else if message.is_step() || message.is_result() {
            self.turn.push(message);
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        match view.moment() {
            _ if self.over => {}
            Moment::BeforeRequest if !self.task.is_empty() => self.start(acts),
            Moment::AfterTools => self.after_turn(acts),
            _ => {}
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        self.max_turns.iter().map(|max| reading(MAX_TURNS, "turns", self.turns as f64, *max as f64)).collect()
    }
}
