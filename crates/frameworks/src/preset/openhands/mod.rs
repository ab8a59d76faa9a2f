//! OpenHands SDK: the stuck detector, and the limits of its run loop.

mod detector;

use serde_json::{Map, Value};

use super::frame::{
    Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, cost_in_dollars, native, reading,
    rules_on,
};
use crate::decision::Need;
use crate::framework::{Parameter, params};
use crate::python;
use crate::transcript::{Message, Moment, PointView, Role};

use detector::{DetectorEvent, StuckDetector, StuckThresholds, deed};

const ACTION_OBSERVATION: &str = "stuck_detector.action_observation";
const ACTION_ERROR: &str = "stuck_detector.action_error";
const MONOLOGUE: &str = "stuck_detector.monologue";
const ALTERNATING: &str = "stuck_detector.alternating_pattern";
const CORRECTIVE: &str = "corrective_nudge";
const ITERATIONS: &str = "max_iteration_per_run";
const BUDGET: &str = "max_budget_per_run";

params! {
    STUCK_DETECTION: "stuck_detection" = true, off false, "the detector as a whole";
    ACTION_OBSERVATION: "thresholds.action_observation" = 4, "equal actions with equal observations; at least 1",
        trap with |s| if s.amount(&ACTION_OBSERVATION).max(s.amount(&ALTERNATING_PATTERN)) > 10.0 =>
            "a threshold above 10 pairs does not fit into the window of 20 events and never fires";
    ACTION_ERROR: "thresholds.action_error" = 3,
        "equal actions answered by agent errors: nudge at this many, stuck one later; at least 1",
        trap |n| if n >= 9.0 =>
            "`action_error` of 9 or more never gets stuck: nudges take places in the window of 20 events";
    MONOLOGUE: "thresholds.monologue" = 3, "agent messages at the tail; at least 1";
    ALTERNATING_PATTERN: "thresholds.alternating_pattern" = 6,
        "actions (and observations) equal to the one two before; at least 1";
    MAX_ITERATION_PER_RUN: "max_iteration_per_run" = 500, "model calls of one run(); at least 1";
    SCHEMA_DEFAULTS: "schema_defaults" = {}, off {},
        "arguments that the tools' schemas fill in when a call leaves them out; no recording holds the schemas";
    MAX_BUDGET_PER_RUN: "max_budget_per_run" = null, off null, "dollars spent; 0 stops after one step";
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    driven_by(settings, Drive::Recording)
}

/// The rules of a conversation that is run like this.
#[doc(hidden)]
pub fn driven_by(settings: &Settings, drive: Drive) -> Result<Recipe, SettingsError> {
    let max_iterations = settings.int(&param::MAX_ITERATION_PER_RUN)?;
    if max_iterations < 1 {
        return Err(SettingsError::refused("ValidationError", "1 validation error for ConversationState"));
    }
    let thresholds = StuckThresholds {
        action_observation: threshold(settings, &param::ACTION_OBSERVATION)?,
        action_error: threshold(settings, &param::ACTION_ERROR)?,
        monologue: threshold(settings, &param::MONOLOGUE)?,
        alternating_pattern: threshold(settings, &param::ALTERNATING_PATTERN)?,
    };
    let conversation = OpenHandsConversation {
        drive,
        detector: if settings.flag(&param::STUCK_DETECTION)? { Some(StuckDetector::new(thresholds)) } else { None },
        max_iterations,
        max_budget: settings.opt_number(&param::MAX_BUDGET_PER_RUN)?,
        schema_defaults: settings.in_force(&param::SCHEMA_DEFAULTS).as_object().cloned().unwrap_or_default(),
        iterations: 0,
        spent: 0.0,
        finished: false,
        finishing: false,
    };
    let mut rules = Vec::new();
    if conversation.detector.is_some() {
        rules.extend([ACTION_ERROR, ACTION_OBSERVATION, MONOLOGUE, ALTERNATING]);
    }
    let corrects = conversation.drive == Drive::Run;
    rules.extend(rules_on(&[(BUDGET, conversation.max_budget.is_some()), (ITERATIONS, true), (CORRECTIVE, corrects)]));
    // The detector's own test driver asks it only where the recording has a reply, up to the first stop.
    let recipe = match conversation.drive {
        Drive::Detector => Recipe::new(conversation, &rules),
        Drive::Run | Drive::Recording => Recipe::new(conversation, &rules).requests_before_prompts().resumes_at_user(),
    };
    Ok(recipe
        .blind(&[BUDGET, ITERATIONS, CORRECTIVE])
        .reads_calls(&[ACTION_OBSERVATION, ALTERNATING])
        .needs(ACTION_ERROR, Need::ErrorFlags)
        .needs(BUDGET, Need::Cost)
        .needs(BUDGET, Need::WholeSession))
}

fn threshold(settings: &Settings, parameter: &Parameter) -> Result<usize, SettingsError> {
    let value = settings.int(parameter)?;
    usize::try_from(value)
        .ok()
        .filter(|value| *value >= 1)
        .ok_or_else(|| SettingsError::refused("ValidationError", "1 validation error for StuckDetectionThresholds"))
}

/// What runs the conversation.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// The SDK's own loop: a reply without calls ends the run, or is corrected if it is blank.
    Run,
    /// A recording: if it continues after a reply without calls, a harness must have asked again.
    Recording,
    /// A test driver that calls only the detector.
    Detector,
}

#[derive(Clone, Debug)]
struct OpenHandsConversation {
    drive: Drive,
    detector: Option<StuckDetector>,
    max_iterations: i64,
    max_budget: Option<f64>,
    schema_defaults: Map<String, Value>,
    iterations: i64,
    spent: f64,
    finished: bool,
    finishing: bool,
}

impl OpenHandsConversation {
    fn push(&mut self, seen: DetectorEvent) {
        if let Some(detector) = &mut self.detector {
            detector.push(seen);
        }
    }

    /// Handles a message that neither the user nor the agent wrote; true if this is one.
    fn is_environment(&mut self, message: &Message) -> bool {
        let seen = match native::word(message, "native").as_deref() {
            Some("environment") => DetectorEvent::EnvironmentMessage,
            Some("CondensationSummaryEvent") => DetectorEvent::Condensation,
            _ => return false,
        };
        self.push(seen);
        true
    }

    fn user(&mut self) {
        if let Some(detector) = &mut self.detector {
            detector.restart();
        }
        self.iterations = 0;
        self.finished = false;
    }

    fn reply(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        self.iterations += 1;
        self.spent += cost_in_dollars(message);
        self.finishing = message.tool_calls.iter().any(|call| &*call.name == "finish");
        let text = message.text();
        for (nth, call) in message.tool_calls.iter().enumerate() {
            let thought = if nth == 0 { text.to_string() } else { String::new() };
            let deed = deed(call, thought, self.drive != Drive::Detector, &self.schema_defaults);
            self.push(DetectorEvent::Action(deed));
        }
        if !message.tool_calls.is_empty() {
            return;
        }
        self.push(DetectorEvent::AgentMessage);
        if self.drive != Drive::Run {
            return;
        }
        if python::strip(&text).is_empty() {
            acts.act(Action::Inject, CORRECTIVE).code("corrective_nudge").detail(CORRECTION);
            self.push(DetectorEvent::EnvironmentMessage);
        } else {
            self.finished = true;
        }
    }

    fn before_request(&mut self, acts: &mut ActionSink<'_, '_>) {
        let Some(detector) = self.detector.as_mut().filter(|_| !self.finished) else { return };
        if let Some(words) = detector.nudge() {
            let threshold = detector.action_error() as f64;
            acts.act(Action::Inject, ACTION_ERROR)
                .code("action_error_nudge")
                .detail(words)
                .evidence(threshold, threshold);
            detector.push(DetectorEvent::EnvironmentMessage);
        } else if let Some((pattern, threshold)) = detector.pattern() {
            let threshold = threshold as f64;
            let name = pattern.trim_start_matches("stuck_detector.");
            acts.act(Action::Stop, pattern).code("STUCK").detail(name).evidence(threshold, threshold);
        }
    }

    fn after_step(&mut self, acts: &mut ActionSink<'_, '_>) {
        self.finished |= self.finishing;
        self.finishing = false;
        if self.finished {
            return;
        }
        if let Some(budget) = self.max_budget.filter(|budget| self.spent >= *budget) {
            let spent = self.spent;
            let words = format!("Agent reached maximum budget limit (${budget:.4}); accumulated cost ${spent:.4}.");
            acts.act(Action::Fail, BUDGET).code("MaxBudgetReached").detail(words).evidence(spent, budget);
        } else if self.iterations >= self.max_iterations {
            let (seen, limit) = (self.iterations as f64, self.max_iterations);
            let words = format!("Agent reached maximum iterations limit ({limit}).");
            acts.act(Action::Fail, ITERATIONS).code("MaxIterationsReached").detail(words).evidence(seen, limit as f64);
        }
    }
}

const CORRECTION: &str = "Your last response did not include a function call or a message. Please use a tool to \
                          proceed with the task.";

impl Machine for OpenHandsConversation {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        match message.role {
            Role::User | Role::Assistant if self.is_environment(message) => {}
            Role::User if !message.is_prompt() => {}
            Role::User => self.user(),
            Role::Assistant if message.is_step() => self.reply(message, acts),
            Role::Tool if message.is_result() => {
                if let Some(detector) = &mut self.detector {
                    detector.result(message);
                }
            }
            _ => {}
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        match view.moment() {
            Moment::BeforeRequest => self.before_request(acts),
            Moment::AfterTools if self.drive != Drive::Detector => self.after_step(acts),
            _ => {}
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let iterations = reading(ITERATIONS, "iterations", self.iterations as f64, self.max_iterations as f64);
        let budget = self.max_budget.map(|max| reading(BUDGET, "usd", self.spent, max));
        std::iter::once(iterations).chain(budget).collect()
    }
}
