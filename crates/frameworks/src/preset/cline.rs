//! Cline: consecutive identical calls, and consecutive steps in which every tool failed.

use serde_json::Value;

use super::frame::counters::Streak;
use super::frame::identity::{Keys, arguments, js_text};
use super::frame::{Action, Acts, Machine, Recipe, RuleReading, Settings, SettingsError, reading, wrong_kind};
use crate::decision::Need;
use crate::framework::{Build, Framework, params};
use crate::host::{Host, Place, Slot, Syntax};
use crate::transcript::{Event, Message, Moment, Name, PointView, ToolCall};

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

const MANUAL: &str = "\
**loopDetection** (before the tools of a reply run, call by call)
- Identity: tool name and JSON arguments with keys sorted at every level (arrays keep their order, 1 = 1.0).
- Counter: identical calls in a row over the whole session, from 1; results, errors, text and user messages neither \
count nor reset; only a different call sets it back to 1. Parallel calls count one by one.
- Hard, tested first: `count >= hardThreshold` forces the mistake counter to its limit: asks the host, or aborts. \
After \"continue\" every further identical call is hard again.
- Soft: `count === softThreshold` warns, once per streak. As shipped the warning **never reaches the model**.
- Off: `false` only; absent means on with 3 / 5. 0: soft never fires, hard fires on **every** call.
- Trap: the call that trips the hard limit still runs. With `maxConsecutiveMistakes: 0` a hard hit has no effect.

**maxConsecutiveMistakes** (after the tools)
- A step in which tools failed and none succeeded counts 1; a step with a success sets 0; others change nothing.
- `count >= max`: asks the host, or aborts. Default 6 (the command line passes 3); 0 = off; \"continue\" sets 0.
- Trap: below 0 it is not off: every such step, and every hard hit, reaches it.
- A sub-agent (`spawn_agent`) counts for itself and has the defaults, whatever the session sets; its abort is a success here.
- Invalid calls and API errors count too in the product; a recording shows failed tools only.";

const HOST: Host = Host::new(
    "the agent's options", Syntax::JavaScript, r"execution: {
  maxConsecutiveMistakes: <<execution.maxConsecutiveMistakes>>,
  loopDetection: <<execution.loopDetection>>,
},
", &[
        Slot::new("errors.streak", Moment::AfterTools, Place::Is("execution.maxConsecutiveMistakes")).session(),
    ]).quiet(&[("execution.maxConsecutiveMistakes", "0"), ("execution.loopDetection", "false")]).cannot(&[("call", "loopDetection counts calls one by one, over texts and prompts; and a hit only acts through maxConsecutiveMistakes"), ("", "it counts identical calls and failed steps, nothing else")]);

pub(super) fn framework() -> Framework {
    Framework {
        id: "cline",
        version: "cline/cline 21cb8d2 (sdk 0.0.78)",
        source: "cline/cline sdk: LoopDetectionTracker, MistakeTracker, SessionRuntime",
        summary: "warns at the 3rd identical call in a row, aborts at the 5th; aborts after 6 failed steps in a row",
        manual: MANUAL,
        parameters: param::ALL,
        rules: &["loop_detection", "mistake_limit"],
        host: HOST,
        build: Build::Machine(build),
        ..Framework::PRESET
    }
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
struct Thresholds {
    soft: f64,
    hard: f64,
}

#[derive(Clone, Debug)]
struct Cline {
    thresholds: Option<Thresholds>,
    /// Only 0 is off: a negative one is reached by the first mistake.
    max_mistakes: f64,
    host: HostAnswer,
    streak: Streak<(Name, String)>,
    mistakes: f64,
}

fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    let off = matches!(settings.get(param::LOOP_DETECTION.name), Some(Value::Bool(false)));
    let thresholds =
        Thresholds { soft: settings.number(&param::SOFT_THRESHOLD)?, hard: settings.number(&param::HARD_THRESHOLD)? };
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
    let machine = Cline {
        thresholds: (!off).then_some(thresholds),
        max_mistakes: settings.number(&param::MAX_CONSECUTIVE_MISTAKES)?,
        host,
        streak: Streak::default(),
        mistakes: 0.0,
    };
    let recipe = Recipe::new(machine, &[LOOP, MISTAKES]).blind(&[LOOP, MISTAKES]);
    Ok(recipe.reads_calls(&[LOOP]).needs(MISTAKES, Need::ErrorFlags))
}

impl Cline {
    /// Without a limit of mistakes nothing acts, loops of calls included.
    fn acts(&self) -> bool {
        self.max_mistakes != 0.0
    }

    /// The mistake limit is reached, so the host decides. True if the run is over.
    fn limit_reached(&mut self, rule: &'static str, call: Option<&ToolCall>, acts: &mut Acts<'_, '_>) -> bool {
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
    fn calls(&mut self, reply: &Message, acts: &mut Acts<'_, '_>) {
        let Some(thresholds) = self.thresholds.clone() else { return };
        for call in &reply.tool_calls {
            let key = (call.name.clone(), js_text(&arguments(call), Keys::Sorted));
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

impl Machine for Cline {
    fn event(&mut self, event: &Event, acts: &mut Acts<'_, '_>) {
        if let Some(reply) = event.message().filter(|message| message.is_step()) {
            self.calls(reply, acts);
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut Acts<'_, '_>) {
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
        let mistakes = reading(MISTAKES, "mistakes in a row", self.mistakes, self.max_mistakes);
        same.chain(self.acts().then_some(mistakes)).collect()
    }
}
