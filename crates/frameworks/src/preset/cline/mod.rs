//! Cline: consecutive identical calls, and consecutive steps in which every tool failed.

use serde_json::Value;

use super::frame::counters::StreakCounter;
use super::frame::identity::{KeyOrder, arguments, js_text};
use super::frame::{Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, reading, wrong_kind};
use crate::decision::Need;
use crate::framework::params;
use crate::transcript::{Message, Moment, Name, PointView, ToolCall};

const LOOP: &str = "loopDetection";
const MISTAKES: &str = "maxConsecutiveMistakes";

params! {
    LOOP_DETECTION: "execution.loopDetection" = {}, off false,
        "identical calls in a row; false switches both thresholds off";
    SOFT_THRESHOLD: "execution.loopDetection.softThreshold" = 3, off 0, "warns when the count equals it",
        trap with |s| if s.amount(&SOFT_THRESHOLD) >= s.amount(&HARD_THRESHOLD) =>
            "`softThreshold` is not below `hardThreshold`, which is tested first: it never warns";
    HARD_THRESHOLD: "execution.loopDetection.hardThreshold" = 5,
        "acts when the count reaches it; 0 acts on every call",
        trap |n| if n <= 0.0 => "`hardThreshold` of 0 or below is not off: it acts on every call";
    MAX_CONSECUTIVE_MISTAKES: "execution.maxConsecutiveMistakes" = 6, off 0,
        "steps in a row in which every tool failed",
        trap |n| if n == 0.0 =>
            "`maxConsecutiveMistakes` of 0 switches loop detection off with it: a hard hit has no effect",
        trap |n| if n < 0.0 => "`maxConsecutiveMistakes` below 0 is not off: the first mistake reaches it";
    ON_CONSECUTIVE_MISTAKE_LIMIT_REACHED: "onConsecutiveMistakeLimitReached" = null,
        "the host's answer: continue, continue_with_guidance, stop, throws; null: no callback, which stops";
}

/// The host's scripted answer when it is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum HostAnswer {
    Absent,
    Continue,
    Guidance,
    Stop,
}

#[derive(Clone, Debug)]
struct LoopThresholds {
    soft: f64,
    hard: f64,
}

#[derive(Clone, Debug)]
struct ClineMachine {
    thresholds: Option<LoopThresholds>,
    /// Only 0 is off: a negative one is reached by the first mistake.
    max_mistakes: f64,
    host: HostAnswer,
    streak: StreakCounter<(Name, String)>,
    mistakes: f64,
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    let off = matches!(settings.get(param::LOOP_DETECTION.name), Some(Value::Bool(false)));
    let thresholds = LoopThresholds {
        soft: settings.number(&param::SOFT_THRESHOLD)?,
        hard: settings.number(&param::HARD_THRESHOLD)?,
    };
    let host = match settings.text(&param::ON_CONSECUTIVE_MISTAKE_LIMIT_REACHED)? {
        None => HostAnswer::Absent,
        Some("continue") => HostAnswer::Continue,
        Some("continue_with_guidance") => HostAnswer::Guidance,
        Some("stop" | "throws") => HostAnswer::Stop,
        Some(other) => {
            let expected = "continue, continue_with_guidance, stop or throws";
            return Err(wrong_kind(param::ON_CONSECUTIVE_MISTAKE_LIMIT_REACHED.name, expected, &Value::from(other)));
        }
    };
    let machine = ClineMachine {
        thresholds: if off { None } else { Some(thresholds) },
        max_mistakes: settings.number(&param::MAX_CONSECUTIVE_MISTAKES)?,
        host,
        streak: StreakCounter::default(),
        mistakes: 0.0,
    };
    let recipe = Recipe::new(machine, &[LOOP, MISTAKES]).blind(&[LOOP, MISTAKES]);
    Ok(recipe.compares_calls(&[LOOP]).needs(MISTAKES, Need::ErrorFlags))
}

impl ClineMachine {
    /// Without a limit of mistakes nothing acts, loops of calls included.
    fn acts(&self) -> bool {
        self.max_mistakes != 0.0
    }

    /// The mistake limit is reached, so the host decides. True if the run is over.
    fn limit_reached(&mut self, rule: &'static str, call: Option<&ToolCall>, acts: &mut ActionSink<'_, '_>) -> bool {
        let id = call.and_then(|call| call.id.as_deref());
        if self.host != HostAnswer::Absent {
            acts.act(Action::Ask, rule).code("onConsecutiveMistakeLimitReached").call(id);
        }
        match self.host {
            HostAnswer::Absent | HostAnswer::Stop => {
                acts.act(Action::Stop, rule).code("AgentRuntime.abort").call(id);
                return true;
            }
            HostAnswer::Guidance => {
                acts.act(Action::Inject, rule).code("MistakeTracker:guidance").call(id).undelivered();
            }
            HostAnswer::Continue => {}
        }
        self.mistakes = 0.0;
        false
    }

    #[expect(clippy::float_cmp, reason = "the original compares with `===`")]
    fn calls(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        let Some(thresholds) = self.thresholds.clone() else { return };
        for call in &reply.tool_calls {
            let key = (call.name.clone(), js_text(&arguments(call), KeyOrder::Sorted));
            let count = f64::from(self.streak.push(key));
            if count >= thresholds.hard {
                if self.acts() && self.limit_reached(LOOP, Some(call), acts) {
                    return;
                }
            } else if count == thresholds.soft {
                let act = acts.act(Action::Warn, LOOP).code("LoopDetectionTracker:soft").call(call.id.as_deref());
                act.evidence(count, thresholds.soft).undelivered();
            }
        }
    }
}

impl Machine for ClineMachine {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if message.is_step() {
            self.calls(message, acts);
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if view.moment() != Moment::AfterTools || !self.acts() {
            return;
        }
        let flags: Vec<bool> = view.results().filter_map(|result| result.is_error).collect();
        if flags.contains(&false) {
            self.mistakes = 0.0;
        } else if !flags.is_empty() {
            self.mistakes += 1.0;
            if self.mistakes >= self.max_mistakes {
                self.limit_reached(MISTAKES, None, acts);
            }
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let streak = f64::from(self.streak.count());
        let same = self.thresholds.iter().map(|limits| reading(LOOP, "same call in a row", streak, limits.hard));
        let mut readings: Vec<RuleReading> = same.collect();
        if self.acts() {
            readings.push(reading(MISTAKES, "mistakes in a row", self.mistakes, self.max_mistakes));
        }
        readings
    }
}
