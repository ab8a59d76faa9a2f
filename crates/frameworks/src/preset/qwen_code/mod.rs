//! Qwen Code: loops of calls, texts and thoughts, caps per turn and session, goals, and the guards of ACP sessions.

mod acp;
mod calls;
mod goal;
mod shell;
mod text;

use serde_json::Value;

use self::acp::{Acp, GuardMode, PromptState};
use self::calls::{CallCap, PromptCounts, SeenCall};
use self::goal::QwenGoal;
use self::text::{PromptTexts, RepetitionKind};
use super::frame::{
    Action, ActionSink, Machine, MachineAction, Recipe, Settings, SettingsError, native, rules_on, starts_run,
    wrong_kind,
};
use crate::decision::Need;
use crate::framework::{Parameter, params};
use crate::transcript::{Instant, Message, Moment, PointView, Usage};

const SAME: &str = "consecutive_identical_tool_calls";
const SHELL: &str = "shell_command_stagnation";
const CAP: &str = "turn_tool_call_cap";
const DUPLICATE: &str = "global_tool_call_duplicate";
const ALTERNATING: &str = "alternating_tool_call_pattern";
const READS: &str = "read_file_loop";
const STAGNATION: &str = "action_stagnation";
const CONTENT: &str = "content_loop";
const THOUGHTS: &str = "repetitive_thoughts";
const TURNS: &str = "turn_limits";
const HEADLESS: &str = "headless";
const GOAL: &str = "goal_budgets";
const NO_PROGRESS: &str = "goal_no_progress";
const FAILURES: &str = "acp_repeated_failure";
const INVALID: &str = "acp_turn_guards";

const ALWAYS: [&str; 3] = [SAME, SHELL, CAP];
const OPT_IN: [&str; 6] = [DUPLICATE, ALTERNATING, READS, STAGNATION, CONTENT, THOUGHTS];

params! {
    SKIP_LOOP_DETECTION: "model.skipLoopDetection" = true, off true, "false switches the opt-in rules on";
    MAX_TOOL_CALLS_PER_TURN: "model.maxToolCallsPerTurn" = 100, off -1, "calls of one turn; not set: only where some call is repeated, else 1000";
    MAX_SESSION_TURNS: "model.maxSessionTurns" = -1, off -1, "requests of the session",
        trap |n| if n == 0.0 => "`maxSessionTurns` of 0 is off in the client, but lets no request through with `-p`";
    SESSION_TOKEN_LIMIT: "model.sessionTokenLimit" = -1, off -1, "tokens of the last prompt";
    GOAL_TOKEN_BUDGET: "model.goalTokenBudget" = 30000000, off -1, "tokens of a goal";
    GOAL_MAX_TURNS: "model.goalMaxTurns" = -1, off -1, "turns of a goal";
    GOAL_MAX_ACTIVE_MINUTES: "model.goalMaxActiveMinutes" = -1, off -1, "active minutes of a goal";
    MAX_TOOL_CALLS: "maxToolCalls" = -1, off -1, "headless: --max-tool-calls";
    MAX_WALL_TIME: "maxWallTime" = null, off null, "headless: --max-wall-time, such as 90, 5m";
    FAILURE_GUARD: "failureGuard" = "shadow", off "off", "ACP: off, shadow, warn, enforce";
    SURFACE: "surface" = "interactive", "interactive, headless, goal or acp: each has rules of its own";
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    with_host(settings, SessionHost::default())
}

/// How the host of a session behaves; a recording does not say it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionHost {
    /// The user has switched the detection off for the session.
    pub is_off: bool,
    /// Texts arrive in pieces of this many characters; 0 means in one piece.
    pub piece: usize,
    /// Results are delivered before the next prompt is sent.
    pub delivers_results_first: bool,
}

/// The rules with such a host.
#[doc(hidden)]
pub fn with_host(settings: &Settings, host: SessionHost) -> Result<Recipe, SettingsError> {
    let recipe = match settings.text(&param::SURFACE)?.unwrap_or_default() {
        "goal" => {
            let goal = QwenGoal::from_settings(settings);
            let timed = goal.is_timed();
            let rules = [GOAL, NO_PROGRESS];
            let recipe = Recipe::new(goal, &rules).blind(&rules).needs(GOAL, Need::Usage);
            if timed { recipe.needs(GOAL, Need::Times) } else { recipe }
        }
        "acp" => {
            let acp = Acp {
                mode: GuardMode::from_word(settings.text(&param::FAILURE_GUARD)?),
                opted_in: !settings.flag(&param::SKIP_LOOP_DETECTION)?,
                cap: cap(settings)?,
                prompt: PromptState::default(),
            };
            let has_guard = acp.mode != GuardMode::Off;
            let rules = rules_on(&[(CAP, true), (INVALID, true), (FAILURES, has_guard), (DUPLICATE, acp.opted_in)]);
            Recipe::new(acp, &rules)
                .blind(&[CAP, DUPLICATE, FAILURES, INVALID])
                .reads_calls(&[CAP])
                .compares_calls(&[DUPLICATE])
                .needs(FAILURES, Need::ErrorFlags)
                .needs(INVALID, Need::Field("native"))
        }
        "interactive" => session(settings, host, false)?,
        "headless" => session(settings, host, true)?,
        other => {
            return Err(wrong_kind(param::SURFACE.name, "interactive, headless, goal or acp", &Value::from(other)));
        }
    };
    Ok(recipe.resumes_at_user())
}

/// `maxToolCallsPerTurn`; an explicit null counts as set, with the default value.
fn cap(settings: &Settings) -> Result<CallCap, SettingsError> {
    let parameter = &param::MAX_TOOL_CALLS_PER_TURN;
    let Some(given) = settings.get(parameter.name).filter(|given| !given.is_null()) else {
        return Ok(CallCap { calls: settings.number(parameter)?, is_set: settings.gives(&[parameter]) });
    };
    let Some(calls) = given.as_f64().filter(|calls| calls.fract() == 0.0) else {
        let got = as_written(given);
        let words = format!("Invalid maxToolCallsPerTurn: must be an integer, got {got}");
        return Err(SettingsError::refused("FatalConfigError", words));
    };
    Ok(CallCap { calls: if calls <= 0.0 { f64::INFINITY } else { calls }, is_set: true })
}

/// A text as it is, any other value as JSON.
fn as_written(value: &Value) -> String {
    if let Value::String(text) = value { text.clone() } else { value.to_string() }
}

/// A whole number of a headless option, which may be written as a string.
fn option(settings: &Settings, parameter: &Parameter, headless: bool) -> Result<i64, SettingsError> {
    let value = settings.in_force(parameter);
    let whole = match &*value {
        Value::String(text) => text.trim().parse().ok(),
        number => number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15).map(|number| {
            #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
            let whole = number as i64;
            whole
        }),
    };
    let refused = || {
        if headless {
            SettingsError::refused("refused", "not a whole number")
        } else {
            wrong_kind(parameter.name, "a whole number", &value)
        }
    };
    whole.ok_or_else(refused)
}

/// Parses `90`, `30s`, `5m`, `1h` or `500ms`; returns milliseconds and the original text.
fn wall_time(settings: &Settings) -> Result<Option<(f64, String)>, SettingsError> {
    let Some(given) = settings.get(param::MAX_WALL_TIME.name).filter(|given| !given.is_null()) else { return Ok(None) };
    let text = as_written(given).trim().to_lowercase();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "ms" => 1.0,
        "" | "s" => 1000.0,
        "m" => 60_000.0,
        "h" => 3_600_000.0,
        _ => f64::NAN,
    };
    let number = number.trim_end();
    let is_plain = number.starts_with(|c: char| c.is_ascii_digit()) && number.ends_with(|c: char| c.is_ascii_digit());
    let time = number.parse::<f64>().ok().filter(|_| is_plain).map(|number| number * unit);
    // The program accepts no limit below a second.
    match time.filter(|time| *time >= 1000.0) {
        Some(time) => Ok(Some((time, text))),
        None => Err(SettingsError::refused("refused", "not a time")),
    }
}

fn session(settings: &Settings, host: SessionHost, headless: bool) -> Result<Recipe, SettingsError> {
    let session = QwenSession {
        opted_in: !settings.flag(&param::SKIP_LOOP_DETECTION)?,
        cap: cap(settings)?,
        max_turns: option(settings, &param::MAX_SESSION_TURNS, headless)?,
        token_limit: settings.number(&param::SESSION_TOKEN_LIMIT)?,
        headless,
        max_tool_calls: if headless {
            match option(settings, &param::MAX_TOOL_CALLS, headless)? {
                -1 => None,
                less if less < 0 => return Err(SettingsError::refused("refused", "not -1, 0 or more")),
                max => Some(max),
            }
        } else {
            None
        },
        wall_time: if headless { wall_time(settings)? } else { None },
        host,
        ..QwenSession::default()
    };
    let mut rules: Vec<&'static str> = ALWAYS.to_vec();
    if session.opted_in {
        rules.extend(OPT_IN);
    }
    let has_turns = session.max_turns > 0 || session.token_limit > 0.0;
    let is_limited = session.max_tool_calls.is_some() || session.wall_time.is_some() || session.max_turns >= 0;
    rules.extend(rules_on(&[(TURNS, has_turns), (HEADLESS, headless && is_limited)]));
    let (reads_tokens, is_timed) = (session.token_limit > 0.0, session.wall_time.is_some());
    let counts_session = session.max_turns > 0;
    let recipe = Recipe::new(session, &rules).blind(&[SAME, CAP, DUPLICATE, ALTERNATING, STAGNATION, TURNS, HEADLESS]);
    let recipe = recipe.reads_calls(&[SHELL, CAP, READS, STAGNATION]).compares_calls(&[SAME, DUPLICATE, ALTERNATING]);
    let recipe = if reads_tokens { recipe.needs(TURNS, Need::Usage) } else { recipe };
    let recipe = if counts_session { recipe.needs(TURNS, Need::WholeSession) } else { recipe };
    Ok(if is_timed { recipe.needs(HEADLESS, Need::Times) } else { recipe })
}

/// The client's session, or the headless program.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "two settings, and three facts about the next request")]
struct QwenSession {
    opted_in: bool,
    cap: CallCap,
    max_turns: i64,
    token_limit: f64,
    headless: bool,
    max_tool_calls: Option<i64>,
    /// The limit in milliseconds, and how it is written.
    wall_time: Option<(f64, String)>,
    host: SessionHost,
    calls: PromptCounts,
    texts: PromptTexts,
    turns: i64,
    last_prompt: u64,
    tool_calls: i64,
    started_at: Option<Instant>,
    /// Whether the next reply is another attempt at the same request.
    same_request: bool,
    /// Whether the prompt was sent again.
    is_retry: bool,
    /// Results that will be sent with the next request.
    results: Vec<Message>,
    /// Whether there are any results since the last reply.
    has_results: bool,
}

impl QwenSession {
    fn new_prompt(&mut self, message: &Message) {
        self.calls = PromptCounts::default();
        self.texts.clear();
        self.is_retry = native::word(message, "native").as_deref() == Some("retry");
        self.same_request = false;
        self.results.clear();
        self.has_results = false;
    }

    /// Refuses the next request if a limit is reached; `None` if it is made.
    fn refusal<'a>(&mut self, acts: &'a mut ActionSink<'_, '_>) -> Option<&'a mut MachineAction> {
        if std::mem::take(&mut self.same_request) {
            return None;
        }
        if !std::mem::take(&mut self.is_retry) {
            self.turns += 1;
            let (turns, max) = (self.turns as f64, self.max_turns as f64);
            if self.headless && self.max_turns >= 0 && self.turns > self.max_turns {
                let act = acts.act(Action::Fail, HEADLESS).code("FatalTurnLimitedError");
                return Some(act.evidence(turns, max));
            }
            if self.max_turns > 0 && self.turns > self.max_turns {
                return Some(acts.act(Action::Stop, TURNS).code("MaxSessionTurns").evidence(turns, max));
            }
        }
        let prompt = self.last_prompt as f64;
        if self.token_limit > 0.0 && prompt > self.token_limit {
            let words = format!(
                "Session token limit exceeded: {prompt} tokens > {} limit. Please start a new session or increase the \
                 sessionTokenLimit in your settings.json.",
                self.token_limit
            );
            let act = acts.act(Action::Stop, TURNS).code("SessionTokenLimitExceeded").detail(words);
            return Some(act.evidence(prompt, self.token_limit));
        }
        let results = std::mem::take(&mut self.results);
        if self.host.is_off || !results.iter().any(|result| self.calls.result(result, self.opted_in)) {
            return None;
        }
        let limit = f64::from(calls::DUPLICATES);
        let act = acts.act(Action::Stop, DUPLICATE).code("LoopDetected:global_tool_call_duplicate");
        Some(act.evidence(limit, limit))
    }

    fn pieces(&self, text: &str) -> Vec<Vec<u16>> {
        let units: Vec<u16> = text.encode_utf16().collect();
        match self.host.piece {
            _ if units.is_empty() => Vec::new(),
            0 => vec![units],
            piece => units.chunks(piece).map(<[u16]>::to_vec).collect(),
        }
    }

    fn reply(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        self.has_results = false;
        let native = native::field(reply, "native").unwrap_or_default();
        let over = self.is_looping(reply, &native, acts);
        if let Some(attempt) = native["failed_attempt"].as_str() {
            self.same_request = true;
            match attempt {
                "fallback" => self.calls.fell_back(self.opted_in),
                _ => self.calls.retried(self.opted_in),
            }
            if attempt != "continuation" && self.opted_in {
                self.texts.clear();
            }
            return;
        }
        self.calls.finished();
        if let Some(Usage { input: Some(input), .. }) = reply.usage() {
            self.last_prompt = input;
        }
        if !over && let Some(max) = self.max_tool_calls {
            self.tool_calls = self.tool_calls.saturating_add(i64::try_from(reply.tool_calls.len()).unwrap_or(i64::MAX));
            if self.tool_calls > max {
                let words = format!(
                    "Run aborted: tool-call budget of {max} exceeded (--max-tool-calls); observed {}.",
                    max.saturating_add(1)
                );
                let act = acts.act(Action::Fail, HEADLESS).code("FatalBudgetExceededError").detail(words);
                act.evidence(max.saturating_add(1) as f64, max as f64);
            }
        }
    }

    /// Checks a reply as it is streamed: thoughts, text, calls.
    fn is_looping(&mut self, reply: &Message, native: &Value, acts: &mut ActionSink<'_, '_>) -> bool {
        if self.opted_in && !self.host.is_off {
            let reasoning = reply.reasoning().map(crate::transcript::Text::as_str).unwrap_or_default();
            let mut thoughts = self.pieces(&reasoning);
            let own = native["thoughts"].as_array().into_iter().flatten().filter_map(Value::as_str);
            thoughts.extend(own.filter(|text| !text.is_empty()).map(|text| text.encode_utf16().collect()));
            for piece in thoughts {
                match self.texts.thought(&piece) {
                    Some(RepetitionKind::Thoughts) => return stop(THOUGHTS, THOUGHTS, acts),
                    Some(RepetitionKind::Chant) => return stop(CONTENT, "chanting_identical_sentences", acts),
                    None => {}
                }
            }
            for piece in self.pieces(&reply.text()) {
                if self.texts.said(&piece) {
                    return stop(CONTENT, "chanting_identical_sentences", acts);
                }
            }
        }
        if self.host.is_off {
            return false;
        }
        for call in &reply.tool_calls {
            let call = SeenCall::from_call(call);
            let mut found = self.calls.always(&call, self.cap);
            if found.is_none() && self.opted_in {
                self.texts.clear();
                found = self.calls.opt_in(&call);
            }
            if let Some((rule, seen, limit)) = found {
                let act = acts.act(Action::Stop, rule).code(format!("LoopDetected:{rule}"));
                act.evidence(seen as f64, limit);
                return true;
            }
        }
        false
    }

    /// The program's timer ends whatever is in progress.
    fn clock(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) -> bool {
        let Some((limit, written)) = &self.wall_time else { return false };
        self.started_at = self.started_at.or(message.ts);
        let elapsed = message.ts.zip(self.started_at).map(|(now, start)| now.since(start).0 as f64);
        let Some(elapsed) = elapsed.filter(|elapsed| elapsed > limit) else { return false };
        let words = format!("Run aborted: wall-clock budget of {written} exceeded (--max-wall-time).");
        let before = acts.event_before();
        let act = acts.act(Action::Fail, HEADLESS).code("FatalBudgetExceededError").detail(words);
        act.evidence(elapsed, *limit).decision.event = before;
        true
    }
}

fn stop(rule: &'static str, code: &str, acts: &mut ActionSink<'_, '_>) -> bool {
    acts.act(Action::Stop, rule).code(format!("LoopDetected:{code}"));
    true
}

impl Machine for QwenSession {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if self.clock(message, acts) {
            return;
        }
        if starts_run(message) {
            let before = acts.event_before();
            if self.host.delivers_results_first
                && self.has_results
                && let Some(act) = self.refusal(acts)
            {
                act.decision.event = before;
                return;
            }
            self.new_prompt(message);
        } else if message.is_step() {
            self.reply(message, acts);
        } else if message.is_result() {
            self.has_results = true;
            if self.calls.awaits(message) {
                self.results.push(message.clone());
            }
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if view.moment() == Moment::BeforeRequest {
            self.refusal(acts);
        }
    }
}
