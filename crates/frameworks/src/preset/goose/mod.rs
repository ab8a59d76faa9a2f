//! Goose: the limit of turns, and the repetition inspector, as documented and as shipped.

use std::collections::BTreeSet;

use serde_json::Value;

use super::frame::counters::StreakCounter;
use super::frame::identity::arguments;
use super::frame::rounds::{AgentLoop, AgentLoopMachine, Flow};
use super::frame::{Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, reading};
use crate::decision::Need;
use crate::framework::params;
use crate::transcript::{Message, Name, PointView, ToolCall};

const TURNS: &str = "max_turns";
const REPETITION: &str = "REP-001";
const ERRORS: &str = "REP-002";
/// Equal errors of one tool in a row after which its next calls are denied; a constant.
const EQUAL_ERRORS: u32 = 3;
/// How often an empty reply is asked for again; a constant.
const RETRIES: u32 = 3;
/// How many characters of an error are compared.
const ERROR_HEAD: usize = 100;

params! {
    MAX_TURNS: "max_turns" = 1000, "model requests of one prompt (`--max-turns`, `GOOSE_MAX_TURNS`)",
        trap |n| if n <= 0.0 => "`max_turns` of 0 is not off: no request is made";
    MAX_REPETITIONS: "max_repetitions" = null, off null, "identical calls in a row that are let through",
        trap with |s| if s.amount(&MAX_REPETITIONS).is_finite() && !s.is_profile("documented") =>
            "as shipped, `max_repetitions` never fires, whatever the limit; profile `documented` does",
        trap with |s| if s.amount(&MAX_REPETITIONS) <= 0.0 && s.is_profile("documented") =>
            "`max_repetitions` of 0 is not off and behaves as 1";
}

#[derive(Clone, Debug)]
struct GooseMachine {
    turns: AgentLoopMachine<TurnLoop>,
    /// `None` if the check has no effect, either because it is off or in the shipped version.
    max: Option<i64>,
    streak: StreakCounter<(Name, Value)>,
    errors: Option<RepeatedError>,
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    checked(settings, settings.is_profile("repeated-error"))
}

/// The rules of the profile, with or without the check for repeated errors.
#[doc(hidden)]
pub fn checked(settings: &Settings, for_errors: bool) -> Result<Recipe, SettingsError> {
    let max = Some(settings.value(&param::MAX_REPETITIONS)).filter(|max| !max.is_null());
    let max = max.map(|max| number(&max)).transpose()?.filter(|_| settings.is_profile("documented")).map(i64::from);
    let errors = if for_errors { Some(RepeatedError::default()) } else { None };
    let rules: &[&str] = if errors.is_some() { &[TURNS, REPETITION, ERRORS] } else { &[TURNS, REPETITION] };
    let turns = AgentLoopMachine::new(TurnLoop { max: number(&settings.value(&param::MAX_TURNS))?, done: 0, empty: 0 });
    let machine = GooseMachine { turns, max, streak: StreakCounter::default(), errors };
    let recipe = Recipe::new(machine, rules).compares_calls(&[REPETITION]).blind(&[TURNS, REPETITION]);
    Ok(recipe.keeps_own_state().requests_before_prompts().needs(ERRORS, Need::ErrorFlags))
}

/// An unsigned number of 32 bits; the command line takes nothing else.
fn number(given: &Value) -> Result<u32, SettingsError> {
    match given.as_u64().map(u32::try_from) {
        Some(Ok(number)) => Ok(number),
        _ => Err(SettingsError::refused("refused", "not a whole number from 0 to 4294967295")),
    }
}

/// The turns of one prompt. An empty reply is none: it is asked for again.
#[derive(Clone, Debug)]
struct TurnLoop {
    max: u32,
    done: u32,
    empty: u32,
}

impl AgentLoop for TurnLoop {
    fn starts(&mut self, _: &Message) -> bool {
        self.done = 0;
        self.empty = 0;
        true
    }

    fn before_request(&mut self, _: &PointView<'_>, acts: &mut ActionSink<'_, '_>) -> Flow {
        if self.done < self.max {
            return Flow::GoesOn;
        }
        acts.act(Action::Stop, TURNS).code(TURNS).evidence(f64::from(self.done), f64::from(self.max));
        Flow::Over
    }

    fn replied(&mut self, _: &PointView<'_>, reply: &Message, _: &mut ActionSink<'_, '_>) -> Flow {
        if reply.tool_calls.is_empty() && reply.text().is_empty() {
            self.empty += 1;
        } else {
            self.empty = 0;
            self.done = self.done.saturating_add(1);
        }
        Flow::GoesOn
    }

    fn said(&mut self, _: &PointView<'_>, _: &Message, _: &mut ActionSink<'_, '_>) -> Flow {
        if (1..=RETRIES).contains(&self.empty) { Flow::GoesOn } else { Flow::Over }
    }
}

/// Counts the same error of one tool in a row.
#[derive(Clone, Debug, Default)]
struct RepeatedError {
    streak: StreakCounter<(Name, String)>,
    denied: BTreeSet<Name>,
    calls: Vec<(Option<Name>, Name)>,
}

impl RepeatedError {
    fn batch(&mut self, calls: &[ToolCall], acts: &mut ActionSink<'_, '_>) {
        self.calls = calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
        self.denied.clear();
        let count = self.streak.count();
        let Some((tool, _)) = self.streak.last().filter(|_| count >= EQUAL_ERRORS && !calls.is_empty()) else { return };
        for call in calls.iter().filter(|call| call.name == *tool) {
            let act = acts.act(Action::Deny, ERRORS).code("REP-002").call(call.id.as_deref());
            act.evidence(f64::from(count), f64::from(EQUAL_ERRORS));
            self.denied.extend(call.id.clone());
        }
        self.streak.clear();
    }

    fn result(&mut self, result: &Message) {
        let Some(is_error) = result.is_error else { return };
        let id = result.tool_call_id.as_ref();
        if id.is_some_and(|id| self.denied.contains(id)) {
            return;
        }
        if !is_error {
            self.streak.clear();
            return;
        }
        let called = self.calls.iter().find(|(call, _)| call.is_some() && call.as_ref() == id).map(|(_, name)| name);
        let tool = called.or(result.name.as_ref()).cloned().unwrap_or_default();
        self.streak.push((tool, result.text().chars().take(ERROR_HEAD).collect()));
    }
}

impl Machine for GooseMachine {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        self.turns.message(message, acts);
        if message.is_step() {
            if let Some(max) = self.max {
                for call in &message.tool_calls {
                    let count = i64::from(self.streak.push((call.name.clone(), arguments(call).into_owned())));
                    if count > max.max(1) {
                        let act = acts.act(Action::Deny, REPETITION).code("check_tool_call=false");
                        act.call(call.id.as_deref()).evidence(count as f64, max as f64);
                    }
                }
            }
            if let Some(errors) = &mut self.errors {
                errors.batch(&message.tool_calls, acts);
            }
        } else if let Some(errors) = self.errors.as_mut().filter(|_| message.is_result()) {
            errors.result(message);
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        self.turns.point(view, acts);
    }

    fn readings(&self) -> Vec<RuleReading> {
        let streak = f64::from(self.streak.count());
        // The limit itself is allowed; one more is refused.
        let same = self.max.map(|max| reading(REPETITION, "same call in a row", streak, max.max(1) as f64 + 1.0));
        let errors = self.errors.iter().map(|errors| {
            reading(ERRORS, "same error in a row", f64::from(errors.streak.count()), f64::from(EQUAL_ERRORS))
        });
        same.into_iter().chain(errors).collect()
    }
}
