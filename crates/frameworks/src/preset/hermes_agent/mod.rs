//! Hermes agent: tool-loop guardrails, iteration budget, and the standing goal with its judge.

#[doc(hidden)]
pub mod goal;
#[doc(hidden)]
pub mod guardrails;

use super::frame::{Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, reading};
use crate::decision::Need;
use crate::framework::params;
use crate::transcript::{Event, Message, Moment, PointView};

use goal::HermesGoal;
use guardrails::Guardrails;

const BUDGET: &str = "iteration_budget";
const GOAL: &str = "goal";

params! {
    WARNINGS_ENABLED: "tool_loop_guardrails.warnings_enabled" = true, off false, "warnings after a tool result";
    HARD_STOP_ENABLED: "tool_loop_guardrails.hard_stop_enabled" = false, off false, "refusals and halts";
    WARN_AFTER_EXACT_FAILURE: "tool_loop_guardrails.warn_after.exact_failure" = 2,
        "failures of one call; 0 and negatives mean the default";
    WARN_AFTER_SAME_TOOL_FAILURE: "tool_loop_guardrails.warn_after.same_tool_failure" = 3,
        "failures of one tool; 0 and negatives mean the default";
    WARN_AFTER_IDEMPOTENT_NO_PROGRESS: "tool_loop_guardrails.warn_after.idempotent_no_progress" = 2,
        "equal results of one read-only call; 0 and negatives mean the default";
    HARD_STOP_AFTER_EXACT_FAILURE: "tool_loop_guardrails.hard_stop_after.exact_failure" = 5,
        "failures of one call after which the next is refused";
    HARD_STOP_AFTER_SAME_TOOL_FAILURE: "tool_loop_guardrails.hard_stop_after.same_tool_failure" = 8,
        "failures of one tool at which the turn is halted";
    HARD_STOP_AFTER_IDEMPOTENT_NO_PROGRESS: "tool_loop_guardrails.hard_stop_after.idempotent_no_progress" = 5,
        "equal results of one read-only call after which the next is refused";
    EXACT_FAILURE_WARN_AFTER: "tool_loop_guardrails.exact_failure_warn_after" = null, "older spelling";
    SAME_TOOL_FAILURE_WARN_AFTER: "tool_loop_guardrails.same_tool_failure_warn_after" = null, "older spelling";
    NO_PROGRESS_WARN_AFTER: "tool_loop_guardrails.no_progress_warn_after" = null, "older spelling";
    EXACT_FAILURE_BLOCK_AFTER: "tool_loop_guardrails.exact_failure_block_after" = null, "older spelling";
    SAME_TOOL_FAILURE_HALT_AFTER: "tool_loop_guardrails.same_tool_failure_halt_after" = null, "older spelling";
    NO_PROGRESS_BLOCK_AFTER: "tool_loop_guardrails.no_progress_block_after" = null, "older spelling";
    MAX_ITERATIONS: "max_iterations" = 90, "requests of one turn; 0 asks for the summary only";
    GOAL: "goal" = false, off false,
        "a standing goal is set, so each turn is judged; without one the goal rules are not on";
    MAX_TURNS: "max_turns" = 20, "turns of the standing goal; 0 means the default, negatives stop at once";
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    let has_goal = settings.flag(&param::GOAL)?;
    parts(settings, HermesRules { guardrails: true, budget: true, goal: has_goal })
}

/// Which of its rules are built.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct HermesRules {
    /// The guardrails of the tools.
    pub guardrails: bool,
    /// The requests of a turn.
    pub budget: bool,
    /// The goal and its judge.
    pub goal: bool,
}

/// Some of the rules.
#[doc(hidden)]
pub fn parts(settings: &Settings, parts: HermesRules) -> Result<Recipe, SettingsError> {
    let max_iterations = settings.int_or_default(&param::MAX_ITERATIONS)?;
    let max_turns = match settings.int_or_default(&param::MAX_TURNS)? {
        0 => settings.default_of(&param::MAX_TURNS).as_i64().unwrap_or_default(),
        turns => turns,
    };
    let machine = Hermes {
        guardrails: if parts.guardrails { Some(Guardrails::new(settings)) } else { None },
        budget: if parts.budget { Some(IterationBudget::new(max_iterations)) } else { None },
        goal: if parts.goal { Some(HermesGoal::new(max_turns)) } else { None },
    };
    let on = [
        (machine.guardrails.is_some(), guardrails::RULES),
        (machine.budget.is_some(), &[BUDGET]),
        (machine.goal.is_some(), &[GOAL]),
    ];
    let rules: Vec<&'static str> =
        on.iter().filter(|(on, _)| *on).flat_map(|(_, rules)| rules.iter().copied()).collect();
    Ok(Recipe::new(machine, &rules)
        .blind(&[BUDGET])
        .reads_calls(&[guardrails::NO_PROGRESS])
        .requests_before_prompts()
        .needs(guardrails::EXACT, Need::ErrorFlags)
        .needs(guardrails::SAME_TOOL, Need::ErrorFlags)
        .needs(GOAL, Need::Judge))
}

#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Hermes {
    pub guardrails: Option<Guardrails>,
    pub budget: Option<IterationBudget>,
    pub goal: Option<HermesGoal>,
}

impl Machine for Hermes {
    fn event(&mut self, event: &Event, acts: &mut ActionSink<'_, '_>) {
        if let Some(message) = event.message() {
            if let Some(guardrails) = &mut self.guardrails {
                guardrails.message(message, acts);
            }
            if let Some(budget) = &mut self.budget {
                budget.message(message);
            }
        }
        if let Some(goal) = &mut self.goal {
            goal.event(event, acts);
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        match view.moment() {
            Moment::BeforeRequest => {
                if let Some(budget) = &mut self.budget {
                    budget.before_request(acts);
                }
            }
            Moment::AfterResponse => {
                if let Some(guardrails) = &mut self.guardrails {
                    guardrails.before_tools(acts);
                }
            }
            Moment::AfterTools => {
                if let Some(guardrails) = &mut self.guardrails {
                    guardrails.after_tools(acts);
                }
            }
            Moment::EndOfRound => {}
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let budget = self.budget.iter();
        budget.map(|budget| reading(BUDGET, "requests", budget.requests as f64, budget.max as f64)).collect()
    }
}

/// Counts the requests of the current turn.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct IterationBudget {
    max: i64,
    requests: i64,
    /// Whether the last reply was text, so that the turn is over.
    answered: bool,
}

impl IterationBudget {
    fn new(max: i64) -> Self {
        Self { max, requests: 0, answered: false }
    }

    fn message(&mut self, message: &Message) {
        if message.is_prompt() {
            self.requests = 0;
            self.answered = false;
        } else if message.is_step() {
            self.requests += 1;
            self.answered = message.tool_calls.is_empty();
        }
    }

    fn before_request(&mut self, acts: &mut ActionSink<'_, '_>) {
        if self.requests >= self.max && !self.answered {
            let (seen, max) = (self.requests as f64, self.max as f64);
            acts.act(Action::ForceFinal, BUDGET).code("max_iterations_reached").evidence(seen, max).ends_run();
        }
    }
}
