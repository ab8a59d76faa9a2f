//! Gemini CLI: loops of tool calls, repeated ("chanted") text, a judge, and turn limits.

mod chant;

use std::collections::VecDeque;

use serde_json::Value;

use self::chant::Chant;
use super::frame::counters::SlidingWindow;
use super::frame::identity::{KeyOrder, arguments, js_text};
use super::frame::{Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, reading};
use crate::decision::{Need, RuleName};
use crate::framework::params;
use crate::transcript::{Message, Moment, PointView};

const TOOLS: &str = "tool_call_loop";
const TEXT: &str = "content_loop";
const JUDGE: &str = "llm_check";
const TURNS: &str = "turn_limits";

/// The longest cycle searched for, and how often it must repeat.
const CYCLE: usize = 5;
const REPEATS: usize = 5;
/// The judge is first asked before this request of a prompt, and then at this interval, which adapts.
const JUDGE_FROM: u32 = 30;
const JUDGE_INTERVAL: u32 = 10;
const CONFIDENT: f64 = 0.9;
/// A hard limit on nested requests that no setting can raise.
const MOST_TURNS: i64 = 100;

params! {
    DISABLE_LOOP_DETECTION: "disableLoopDetection" = false, off true, "switches the loop rules and the judge off";
    MAX_SESSION_TURNS: "maxSessionTurns" = -1, off -1, "model requests of the whole session; 0 and negatives are off";
    TURNS: "turns" = 100, "nested requests of one call, at most 100",
        trap with |s| if s.gives(&[&TURNS]) && !s.is_profile("documented") =>
            "`turns` bounds nested requests only, not tool steps; use `maxSessionTurns`";
    SKIP_NEXT_SPEAKER_CHECK: "skipNextSpeakerCheck" = true,
        "false: a text reply may be continued without a user message";
}

#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "two settings, and two facts about the next request")]
#[doc(hidden)]
pub struct Gemini {
    enabled: bool,
    max_session_turns: i64,
    turns: i64,
    /// Whether a text reply is continued without a user message.
    model_speaks_next: bool,
    documented: bool,
    /// Text arrives in pieces of this many characters; 0 means in one piece.
    piece: usize,
    pub judge: Option<LoopJudge>,
    session_turns: i64,
    /// Nested requests left in the current call.
    bound: i64,
    /// Whether the next request is nested in the current call, as feedback or a continuation.
    nested: bool,
    /// Whether the next reply answers the feedback.
    feedback_sent: bool,
    calls: SlidingWindow<String>,
    chant: Chant,
    strikes: u32,
    prompt_turns: u32,
}

/// The judges' confidences, and when they were asked.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct LoopJudge {
    replies: VecDeque<Value>,
    main_available: bool,
    interval: u32,
    last_check: u32,
    /// The last events before each question.
    pub asked_after: Vec<usize>,
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    with_models(settings, ModelBehaviour::default())
}

/// How the models around a recorded one behave; a recording does not say it.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct ModelBehaviour {
    /// Text arrives in pieces of this many characters; 0 means in one piece.
    pub piece: usize,
    /// Whether the model is found to speak next, so that a text reply is continued without a user message.
    pub speaks_next: bool,
    /// The judges' confidences by model, one table each time they are asked; `None` if nothing is known of them.
    pub confidences: Option<VecDeque<Value>>,
    /// Whether the model that checks the first judge is out of reach.
    pub is_alone: bool,
}

/// The rules with such models.
#[doc(hidden)]
pub fn with_models(settings: &Settings, models: ModelBehaviour) -> Result<Recipe, SettingsError> {
    let skip = settings.flag(&param::SKIP_NEXT_SPEAKER_CHECK)?;
    let turns = settings.int(&param::TURNS)?.min(MOST_TURNS);
    let judge = models.confidences.map(|replies| LoopJudge {
        replies,
        main_available: !models.is_alone,
        interval: JUDGE_INTERVAL,
        last_check: 0,
        asked_after: Vec::new(),
    });
    let max_session_turns = settings.int(&param::MAX_SESSION_TURNS)?;
    let machine = Gemini {
        enabled: !settings.flag(&param::DISABLE_LOOP_DETECTION)?,
        max_session_turns,
        turns,
        model_speaks_next: !skip && models.speaks_next,
        documented: settings.is_profile("documented"),
        piece: models.piece,
        judge,
        bound: turns,
        calls: SlidingWindow::new(CYCLE * REPEATS),
        chant: Chant::new(settings.is_profile("documented")),
        ..Gemini::default()
    };
    // Disabling the feature also disables the judge, so its rules need nothing from a recording.
    let rules: &[&str] = if machine.enabled { &[TOOLS, TEXT, JUDGE, TURNS] } else { &[TURNS] };
    let recipe = Recipe::new(machine, rules)
        .blind(&[TOOLS, TURNS])
        .compares_calls(&[TOOLS])
        .needs(JUDGE, Need::Unrecorded("loop judge's confidences"))
        .requests_before_prompts();
    Ok(if max_session_turns > 0 { recipe.needs(TURNS, Need::WholeSession) } else { recipe })
}

impl LoopJudge {
    /// Asks the judge before request `turn` of the prompt, if it is due. True if it finds a loop.
    fn is_loop(&mut self, turn: u32, at: Option<usize>) -> bool {
        if turn < JUDGE_FROM || turn - self.last_check < self.interval {
            return false;
        }
        self.last_check = turn;
        self.asked_after.extend(at);
        let reply = self.replies.pop_front().unwrap_or(Value::Null);
        let confidence = |model: &str| reply[model].as_f64();
        let Some(small) = confidence("loop-detection") else { return false };
        if small < CONFIDENT {
            self.adapt(small);
            return false;
        }
        if !self.main_available {
            return true;
        }
        let Some(main) = confidence("loop-detection-double-check") else { return false };
        if main < CONFIDENT {
            self.adapt(main);
        }
        main >= CONFIDENT
    }

    fn adapt(&mut self, confidence: f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 5 and 15")]
        let interval = (5.0 + 10.0 * (1.0 - confidence.clamp(0.0, 1.0)) + 0.5).floor() as u32;
        self.interval = interval;
    }
}

impl Gemini {
    fn new_prompt(&mut self) {
        // Feedback that got no reply was still a request.
        self.session_turns += i64::from(std::mem::take(&mut self.feedback_sent));
        self.nested = false;
        self.calls.clear();
        self.chant.clear();
        self.strikes = 0;
        self.prompt_turns = 0;
        if let Some(judge) = &mut self.judge {
            judge.interval = JUDGE_INTERVAL;
            judge.last_check = 0;
        }
    }

    /// Whether the session has no request left.
    fn is_last_session_turn(&self) -> bool {
        self.max_session_turns > 0 && self.session_turns >= self.max_session_turns
    }

    fn request(&mut self, acts: &mut ActionSink<'_, '_>) {
        if !std::mem::take(&mut self.nested) {
            self.bound = if self.documented { self.turns - i64::from(self.prompt_turns) } else { self.turns };
        }
        self.feedback_sent = false;
        loop {
            self.session_turns += 1;
            if self.max_session_turns > 0 && self.session_turns > self.max_session_turns {
                let act = acts.act(Action::Stop, TURNS).code("MaxSessionTurns");
                act.evidence(self.session_turns as f64, self.max_session_turns as f64);
                return;
            }
            if self.bound == 0 || (self.documented && self.bound < 0) {
                acts.act(Action::Stop, TURNS).code("silent:no_turns_left");
                return;
            }
            self.prompt_turns += 1;
            let turn = self.prompt_turns;
            let judge = self.judge.as_mut().filter(|_| self.enabled);
            if !judge.is_some_and(|judge| judge.is_loop(turn, acts.event())) {
                return;
            }
            // After a loop, the client sends its feedback at once, which is another request before the reply.
            if self.strike(JUDGE, "LLM_DETECTED_LOOP", "llm_detected_loop", acts) {
                return;
            }
        }
    }

    /// Records another loop. True if the run is over.
    fn strike(&mut self, rule: &'static str, first: &'static str, second: &str, acts: &mut ActionSink<'_, '_>) -> bool {
        self.strikes += 1;
        if self.strikes > 1 {
            acts.act(Action::Stop, rule).code(format!("LoopDetected:{second}"));
            return true;
        }
        if self.bound <= 1 {
            acts.act(Action::Stop, rule).code("MaxSessionTurns:loop_without_turns_left");
            return true;
        }
        acts.act(Action::Inject, rule).code(first);
        self.bound -= 1;
        false
    }

    /// Checks a reply as it is streamed; a loop cuts it off.
    fn reply(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        if !self.enabled {
            return;
        }
        let text = reply.text();
        if !text.is_empty() && self.chant.is_loop(&text, self.piece) {
            self.cut(TEXT, "CONTENT_CHANTING_LOOP", "chanting_identical_sentences", acts);
            return;
        }
        for call in &reply.tool_calls {
            self.chant.clear();
            self.calls.push(format!("{}:{}", call.name, js_text(&arguments(call), KeyOrder::Given)));
            if ends_in_a_cycle(self.calls.items()) {
                self.cut(TOOLS, "CONSECUTIVE_IDENTICAL_TOOL_CALLS", "consecutive_identical_tool_calls", acts);
                return;
            }
        }
    }

    fn cut(&mut self, rule: &'static str, first: &'static str, second: &str, acts: &mut ActionSink<'_, '_>) {
        if !self.strike(rule, first, second, acts) {
            self.feedback_sent = true;
            self.nested = true;
            if self.documented {
                self.calls.clear();
                self.chant.clear();
            }
        }
    }
}

/// Whether the last 5k calls are a cycle of length k repeated five times, for some k.
fn ends_in_a_cycle(calls: &VecDeque<String>) -> bool {
    (1..=CYCLE).any(|k| {
        let Some(from) = calls.len().checked_sub(k * REPEATS) else { return false };
        calls.iter().skip(from).zip(calls.iter().skip(from + k)).all(|(call, later)| call == later)
    })
}

impl Machine for Gemini {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if message.is_prompt() {
            self.new_prompt();
        } else if message.is_step() {
            self.reply(message, acts);
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        match view.moment() {
            Moment::BeforeRequest => self.request(acts),
            // The feedback is sent at once, whoever speaks next.
            Moment::EndOfRound if self.feedback_sent && self.is_last_session_turn() => {
                let act = acts.act(Action::Stop, TURNS).code("MaxSessionTurns");
                act.evidence((self.session_turns + 1) as f64, self.max_session_turns as f64);
            }
            Moment::EndOfRound if self.model_speaks_next && !self.nested => {
                self.bound -= 1;
                self.nested = true;
                if self.bound == 0 && !self.is_last_session_turn() {
                    acts.act(Action::Stop, TURNS).code("silent:no_turns_left");
                }
            }
            _ => {}
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let session = reading(TURNS, "session turns", self.session_turns as f64, self.max_session_turns as f64);
        let left = RuleReading::new(RuleName::fixed(TURNS), "turns left", Some(self.bound as f64));
        let prompt = reading(JUDGE, "turns of the prompt", f64::from(self.prompt_turns), f64::from(JUDGE_FROM));
        let all = [(left, true), (session, self.max_session_turns > 0), (prompt, self.judge.is_some())];
        all.into_iter().filter(|(_, is_on)| *is_on).map(|(reading, _)| reading).collect()
    }
}
