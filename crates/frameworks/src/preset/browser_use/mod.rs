//! browser-use: repeated actions, unchanged pages, failures, steps and planning, all checked before a request.

mod action;

use serde_json::Value;

use super::frame::counters::SlidingWindow;
use super::frame::{Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, native, reading};
use crate::decision::Need;
use crate::framework::params;
use crate::transcript::{Event, Message, Moment, PointView};

const REPETITION: &str = "repetition";
const STAGNATION: &str = "page_stagnation";
const FAILURES: &str = "max_failures";
const STEPS: &str = "max_steps";
const PLANNING: &str = "planning";

/// How often an action must be repeated for each message, the highest count first.
const LEVELS: [(usize, &str); 3] = [(12, "repetition_12"), (8, "repetition_8"), (5, "repetition_5")];
/// Requests in a row with an unchanged page that cause a warning.
const SAME_PAGES: u32 = 5;

params! {
    MAX_STEPS: "max_steps" = 500, "steps of a run; 0 runs nothing",
        trap |n| if n <= 0.0 => "`max_steps` of 0 or less is not off: no step is made";
    MAX_FAILURES: "max_failures" = 5, "failed steps in a row",
        trap |n| if n <= 0.0 =>
            "`max_failures` of 0 or less is not off: the first request may only say done, or is not made";
    FINAL_RESPONSE_AFTER_FAILURE: "final_response_after_failure" = true, off false,
        "one more request, done only, before failures end the run";
    MAX_ACTIONS_PER_STEP: "max_actions_per_step" = 5, "actions of one reply; the rest is cut off";
    LOOP_DETECTION_ENABLED: "loop_detection_enabled" = true, off false, "switches repetition and page_stagnation";
    LOOP_DETECTION_WINDOW: "loop_detection_window" = 20, "actions remembered",
        trap |n| if n < 5.0 =>
            "`loop_detection_window` is shorter than the lowest level, 5: no repetition is ever found";
    ENABLE_PLANNING: "enable_planning" = true, off false, "switches planning";
    PLANNING_EXPLORATION_LIMIT: "planning_exploration_limit" = 5, off 0, "requests without a plan before the nudge";
    PLANNING_REPLAN_ON_STALL: "planning_replan_on_stall" = 3, off 0,
        "failures in a row before a new plan is suggested";
}

#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct BrowserUseMachine {
    limits: BrowserUseLimits,
    last_step: LastStep,
    /// How many replies there were when the last request was made.
    asked: Option<i64>,
    /// The last actions, as they are compared.
    pub actions: SlidingWindow<String>,
    page: Option<Value>,
    same_pages: u32,
    /// Failed steps in a row.
    pub failures: i64,
    has_plan: bool,
    /// Replies so far.
    pub replies: i64,
    done: bool,
}

#[derive(Clone, Debug, Default)]
struct BrowserUseLimits {
    max_steps: i64,
    max_failures: i64,
    final_response: bool,
    actions_per_step: usize,
    detects_loops: bool,
    plans: bool,
    exploration: i64,
    replan: i64,
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    with_last_step(settings, LastStep::Succeeds)
}

/// What becomes of a forced last step.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastStep {
    /// It is not in the recording, which shows what happened without the rule: it is assumed to succeed.
    #[default]
    Succeeds,
    /// It is in the recording, and fails.
    Fails,
}

/// The rules with such last steps.
#[doc(hidden)]
pub fn with_last_step(settings: &Settings, last_step: LastStep) -> Result<Recipe, SettingsError> {
    let window = settings.int(&param::LOOP_DETECTION_WINDOW)?;
    let limits = BrowserUseLimits {
        max_steps: settings.int(&param::MAX_STEPS)?,
        max_failures: settings.int(&param::MAX_FAILURES)?,
        final_response: settings.flag(&param::FINAL_RESPONSE_AFTER_FAILURE)?,
        actions_per_step: usize::try_from(settings.int(&param::MAX_ACTIONS_PER_STEP)?).unwrap_or(0),
        detects_loops: settings.flag(&param::LOOP_DETECTION_ENABLED)?,
        plans: settings.flag(&param::ENABLE_PLANNING)?,
        exploration: settings.int(&param::PLANNING_EXPLORATION_LIMIT)?,
        replan: settings.int(&param::PLANNING_REPLAN_ON_STALL)?,
    };
    let machine = BrowserUseMachine {
        limits,
        last_step,
        actions: SlidingWindow::new(usize::try_from(window).unwrap_or(0)),
        ..BrowserUseMachine::default()
    };
    Ok(Recipe::new(machine, &[STEPS, PLANNING, REPETITION, STAGNATION, FAILURES])
        .reads_calls(&[REPETITION])
        .needs(PLANNING, Need::Field("plan_update"))
        .needs(STAGNATION, Need::Field("page"))
        .needs(FAILURES, Need::ErrorFlags)
        .compares_results(&[STAGNATION])
        .blind(&[STEPS, PLANNING, STAGNATION, FAILURES]))
}

impl BrowserUseMachine {
    /// Reads the page for this request from the last event; without one, the page counts as new.
    fn read_page(&mut self, last: Option<&Message>) {
        let page = last.and_then(|message| native::field(message, "page")).filter(|page| !page.is_null());
        if page.is_some() && page == self.page {
            self.same_pages += 1;
        } else {
            self.same_pages = 0;
        }
        self.page = page;
    }

    fn request(&mut self, acts: &mut ActionSink<'_, '_>) {
        let step = self.replies + 1;
        let limits = self.limits.clone();
        if step > limits.max_steps {
            acts.act(Action::Stop, STEPS).code("Failed to complete task in maximum steps");
            return;
        }
        if self.failures >= limits.max_failures.saturating_add(i64::from(limits.final_response)) {
            let code = format!("Stopped due to {} consecutive failures", limits.max_failures);
            let act = acts.act(Action::Stop, FAILURES).code(code);
            act.evidence(self.failures as f64, limits.max_failures as f64);
            return;
        }
        let is_last = step >= limits.max_steps;
        if !is_last && step.saturating_mul(4) >= limits.max_steps.saturating_mul(3) {
            acts.act(Action::Warn, STEPS).code("budget_warning");
        }
        self.plan(step, acts);
        self.nudge(acts);
        let is_forced = limits.final_response && self.failures >= limits.max_failures;
        let forced = [(is_last, STEPS, "last_step_done_only"), (is_forced, FAILURES, "max_failures_done_only")];
        for (_, rule, code) in forced.into_iter().filter(|(applies, ..)| *applies) {
            let act = acts.act(Action::ForceFinal, rule).code(code);
            if self.last_step == LastStep::Succeeds {
                act.ends_run();
                self.failures = 0;
            }
        }
    }

    fn plan(&self, step: i64, acts: &mut ActionSink<'_, '_>) {
        let limits = &self.limits;
        if !limits.plans {
            return;
        }
        if self.has_plan && limits.replan > 0 && self.failures >= limits.replan {
            let act = acts.act(Action::Warn, PLANNING).code("replan_suggested");
            act.evidence(self.failures as f64, limits.replan as f64);
        }
        if !self.has_plan && limits.exploration > 0 && step >= limits.exploration {
            let act = acts.act(Action::Warn, PLANNING).code("planning_nudge");
            act.evidence(step as f64, limits.exploration as f64);
        }
    }

    fn nudge(&self, acts: &mut ActionSink<'_, '_>) {
        if !self.limits.detects_loops {
            return;
        }
        let count = self.actions.most();
        if let Some((level, code)) = LEVELS.into_iter().find(|(level, _)| count >= *level) {
            acts.act(Action::Warn, REPETITION).code(code).evidence(count as f64, level as f64);
        }
        if self.same_pages >= SAME_PAGES {
            let act = acts.act(Action::Warn, STAGNATION).code("page_stagnation");
            act.evidence(f64::from(self.same_pages), f64::from(SAME_PAGES));
        }
    }

    fn reply(&mut self, reply: &Message) {
        self.replies += 1;
        self.has_plan |= !matches!(native::field(reply, "plan_update"), None | Some(Value::Null));
        if reply.tool_calls.is_empty() {
            self.failures += 1;
        }
        for call in reply.tool_calls.iter().take(self.limits.actions_per_step) {
            if let Some(identity) = action::identity(call) {
                self.actions.push(identity);
            }
        }
    }

    /// Takes in a step's results: after an error, the rest of its actions did not run.
    fn step_is_over(&mut self, reply: &Message, results: &[&Message]) {
        let Some(first) = results.first() else { return };
        let failed = |result: &Message| result.is_error == Some(true);
        let only_one = reply.tool_calls.len().min(self.limits.actions_per_step) == 1 || failed(first);
        self.failures = if only_one && failed(first) { self.failures + 1 } else { 0 };
        self.done = matches!(reply.tool_calls.first(), Some(call) if &*call.name == "done") && !failed(first);
    }
}

impl Machine for BrowserUseMachine {
    fn message(&mut self, message: &Message, _: &mut ActionSink<'_, '_>) {
        if message.is_step() && !self.done {
            self.reply(message);
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if self.done {
            return;
        }
        match view.moment() {
            // A reply without an action is no end: the next request follows, whether it is recorded or not.
            Moment::BeforeRequest | Moment::EndOfRound if self.asked != Some(self.replies) => {
                self.asked = Some(self.replies);
                self.read_page(view.events().last().and_then(Event::message));
                self.request(acts);
            }
            Moment::AfterTools => {
                let results: Vec<&Message> = view.results().collect();
                if let Some(reply) = view.reply().filter(|reply| !reply.tool_calls.is_empty()) {
                    self.step_is_over(reply, &results);
                }
            }
            _ => {}
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let BrowserUseLimits { max_steps, max_failures, detects_loops, .. } = &self.limits;
        let repeats = self.actions.most() as f64;
        let repeats = reading(REPETITION, "same action in the window", repeats, LEVELS[LEVELS.len() - 1].0 as f64);
        let pages = reading(STAGNATION, "same page in a row", f64::from(self.same_pages), f64::from(SAME_PAGES));
        let failures = reading(FAILURES, "failures in a row", self.failures as f64, *max_failures as f64);
        let steps = reading(STEPS, "steps", self.replies as f64, *max_steps as f64);
        let loops = [repeats, pages].into_iter().filter(|_| *detects_loops);
        loops.chain([failures, steps]).collect()
    }
}
