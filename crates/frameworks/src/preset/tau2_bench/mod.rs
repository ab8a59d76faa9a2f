//! tau2-bench: the orchestrator's limits on steps (messages passed on) and on tool errors.

use super::frame::{Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, reading};
use crate::decision::{Evidence, Need};
use crate::framework::params;
use crate::python;
use crate::transcript::{Message, Role};

const STEPS: &str = "max_steps";
const ERRORS: &str = "max_errors";
const COMMUNICATION: &str = "validate_communication";
const STOP_WORDS: &str = "stop_words";
const EMPTY: &str = "empty_message";

/// What the simulated user says to end the conversation.
const USER_STOPS: [&str; 3] = ["###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"];
const AGENT_STOP: &str = "###STOP###";

params! {
    MAX_STEPS: "max_steps" = 200, when ORCHESTRATOR_DEFAULTS = true => 100, "messages passed on",
        trap |n| if n <= 0.0 => "`max_steps` of 0 is not off: one step is made";
    MAX_ERRORS: "max_errors" = 10, "tool results flagged as errors";
    VALIDATE_COMMUNICATION: "validate_communication" = false, off false, "text and calls may not be mixed";
    ORCHESTRATOR_DEFAULTS: "orchestrator_defaults" = false, off false,
        "the defaults of the orchestrator class, not of the benchmark's configuration";
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    settings.flag(&param::ORCHESTRATOR_DEFAULTS)?;
    let machine = Orchestrator {
        max_steps: settings.number(&param::MAX_STEPS)?,
        max_errors: settings.number(&param::MAX_ERRORS)?,
        validates: settings.flag(&param::VALIDATE_COMMUNICATION)?,
        ..Orchestrator::default()
    };
    let mut rules = vec![EMPTY, STOP_WORDS, STEPS, ERRORS];
    if machine.validates {
        rules.insert(0, COMMUNICATION);
    }
    Ok(Recipe::new(machine, &rules).blind(&rules).needs(ERRORS, Need::ErrorFlags))
}

#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Orchestrator {
    max_steps: f64,
    max_errors: f64,
    validates: bool,
    /// Whether the first message has been seen.
    begun: bool,
    /// Messages passed on.
    pub steps: u32,
    /// Results flagged as errors.
    pub errors: u32,
    /// How many calls of the last message still wait for their results.
    waiting: usize,
    /// The event of the last result received, while the message's results are incomplete.
    results: Option<usize>,
}

fn is_blank(message: &Message) -> bool {
    python::strip(&message.text()).is_empty()
}

/// Why the run ends, before the limits are checked: rule and code.
type Reason = Option<(&'static str, &'static str)>;

impl Orchestrator {
    /// Passes on a message by the agent or the user.
    fn passed_on(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        self.steps += 1;
        self.waiting = message.tool_calls.len();
        let by_agent = message.role == Role::Assistant;
        let text = message.text();
        let said = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if self.waiting > 0 && self.validates && !is_blank(message) {
            acts.act(Action::Stop, COMMUNICATION).code(if by_agent { "agent_error" } else { "user_error" });
        } else if self.waiting > 0 && by_agent && said(&[AGENT_STOP]) {
            acts.act(Action::Fail, STOP_WORDS).code("ValueError");
        } else if self.waiting == 0 {
            let reason = match by_agent {
                true if said(&[AGENT_STOP]) => Some((STOP_WORDS, "agent_stop")),
                false if said(&USER_STOPS) => Some((STOP_WORDS, "user_stop")),
                _ => None,
            };
            self.check(reason, None, acts);
        }
    }

    fn result(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        self.errors += u32::from(message.is_error == Some(true));
        self.results = acts.event();
        self.waiting = self.waiting.saturating_sub(1);
        if self.waiting == 0 {
            self.results_passed_on(acts);
        }
    }

    /// Passes on the results received so far, together as one step.
    fn results_passed_on(&mut self, acts: &mut ActionSink<'_, '_>) {
        if let Some(last) = self.results.take() {
            self.steps += 1;
            self.check(None, Some(last), acts);
        }
    }

    fn out_of_steps(&self) -> bool {
        f64::from(self.steps) >= self.max_steps
    }

    fn too_many_errors(&self) -> bool {
        f64::from(self.errors) >= self.max_errors
    }

    /// Checks the limits after a step; if several apply, the later one gives the reason.
    fn check(&mut self, reason: Reason, event: Option<usize>, acts: &mut ActionSink<'_, '_>) {
        let mut reason = reason;
        let mut evidence = Evidence::NONE;
        if self.out_of_steps() {
            reason = Some((STEPS, "max_steps"));
            evidence = Evidence::new(f64::from(self.steps), self.max_steps);
        }
        if self.too_many_errors() {
            reason = Some((ERRORS, "too_many_errors"));
            evidence = Evidence::new(f64::from(self.errors), self.max_errors);
        }
        let Some((rule, code)) = reason else { return };
        acts.act(Action::Stop, rule).code(code).about_event(event).decision.evidence = evidence;
    }
}

impl Machine for Orchestrator {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if message.role == Role::System {
            return;
        }
        if message.role == Role::Tool {
            return self.result(message, acts);
        }
        // A message before all results have arrived: the missing ones are not waited for.
        let before = self.steps;
        self.results_passed_on(acts);
        if before != self.steps && (self.out_of_steps() || self.too_many_errors()) {
            return;
        }
        let greets = !self.begun && message.role == Role::Assistant && message.tool_calls.is_empty();
        self.begun = true;
        if message.tool_calls.is_empty() && is_blank(message) {
            acts.act(Action::Fail, EMPTY).code("ValueError");
        } else if greets && message.text().contains(AGENT_STOP) {
            acts.act(Action::Stop, STOP_WORDS).code("agent_stop");
        } else if !greets {
            self.passed_on(message, acts);
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        vec![
            reading(STEPS, "steps", f64::from(self.steps), self.max_steps),
            reading(ERRORS, "errors", f64::from(self.errors), self.max_errors),
        ]
    }
}
