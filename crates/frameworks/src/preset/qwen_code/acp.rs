//! Qwen Code's guards in daemon and ACP sessions: repeated failures, invalid parameters, the call cap, and duplicates.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use serde_json::Value;

use super::calls::{CallCap, DUPLICATES, key_of};
use super::{CAP, DUPLICATE, FAILURES, INVALID};
use crate::preset::frame::identity::arguments;
use crate::preset::frame::{Action, ActionSink, Machine, native, starts_run};
use crate::transcript::{Fingerprint, Message, Moment, PointView};

/// How many calls of one tool with invalid parameters trigger the guard.
const INVALID_CALLS: u32 = 3;
/// How many failures trigger the guard, and in how many batches at least.
const FAILED: u32 = 8;
const BATCHES: u32 = 2;

/// What the guard against repeated failures is allowed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GuardMode {
    Off,
    Shadow,
    Warn,
    Enforce,
}

impl GuardMode {
    /// Reads the environment variable; an unknown value means the default.
    pub(super) fn from_word(word: Option<&str>) -> Self {
        match word.unwrap_or_default().trim().to_lowercase().as_str() {
            "off" => Self::Off,
            "warn" => Self::Warn,
            "enforce" => Self::Enforce,
            _ => Self::Shadow,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Acp {
    pub(super) mode: GuardMode,
    pub(super) opted_in: bool,
    pub(super) cap: CallCap,
    pub(super) prompt: PromptState,
}

/// The state of one prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct PromptState {
    calls: u64,
    by_key: HashMap<Fingerprint, u32>,
    most: u32,
    invalid: BTreeMap<String, u32>,
    failures: Failures,
    over: bool,
}

/// A tool and the type of its error.
type Failure = (String, String);

#[derive(Clone, Debug, Default)]
struct Failures {
    of: Option<Failure>,
    count: u32,
    batches: u32,
    reminded: bool,
    latched: bool,
    /// After one unclear result, the guard does no more than remind.
    unclear: bool,
}

/// What a result means to the guard.
enum Observed {
    Success(String),
    Failure(Failure),
    /// Counts nothing and restarts the count; the flag says whether the result was unclear.
    Reset(bool),
}

fn observed(result: &Message) -> Observed {
    let native = native::field(result, "native").unwrap_or_default();
    let word = |name: &str| native[name].as_str();
    let tool = result.name.as_deref().unwrap_or_default().to_owned();
    if native["invalid_params"] == true {
        return Observed::Reset(false);
    }
    let failed = result.is_error == Some(true);
    let terminal = if failed { word("terminal").unwrap_or("error") } else { "success" };
    let execution = word("execution").unwrap_or(if failed { "error" } else { "success" });
    match (terminal, execution) {
        ("cancelled", _) => Observed::Reset(false),
        ("success", "success" | "not_started") if !tool.is_empty() => Observed::Success(tool),
        ("success", _) | (_, "unknown") => Observed::Reset(true),
        (_, "cancelled" | "not_started" | "success") => Observed::Reset(false),
        (_, "error") => match word("error_type").unwrap_or("execution_failed") {
            "unknown" => Observed::Reset(true),
            _ if tool.is_empty() => Observed::Reset(true),
            kind => Observed::Failure((tool, kind.to_owned())),
        },
        _ => Observed::Reset(true),
    }
}

impl Failures {
    fn restart(&mut self) {
        *self = Self { unclear: self.unclear, ..Self::default() };
    }

    /// Takes in a batch of results; returns the guard's action, if any.
    fn batch(&mut self, results: &[&Message], mode: GuardMode) -> Option<Action> {
        if mode == GuardMode::Off || self.latched || results.is_empty() {
            return None;
        }
        let (mut failures, mut successes, mut restarts) = (Vec::new(), BTreeSet::new(), false);
        for result in results {
            match observed(result) {
                Observed::Success(tool) => {
                    successes.insert(tool);
                }
                Observed::Failure(failure) => failures.push(failure),
                Observed::Reset(unclear) => {
                    restarts = true;
                    self.unclear |= unclear;
                }
            }
        }
        if restarts {
            self.restart();
            return None;
        }
        failures.retain(|(tool, _)| !successes.contains(tool));
        let Some(first) = failures.first() else {
            if matches!(&self.of, Some((tool, _)) if successes.contains(tool)) {
                self.restart();
            }
            return None;
        };
        if failures.iter().any(|failure| failure != first) {
            self.restart();
            return None;
        }
        let count = u32::try_from(failures.len()).unwrap_or(u32::MAX);
        if self.of.as_ref() != Some(first) {
            let of = Some(first.clone());
            *self = Self { of, count, batches: 1, unclear: self.unclear, ..Self::default() };
            return None;
        }
        self.count = self.count.saturating_add(count);
        self.batches += 1;
        let enforces = mode == GuardMode::Enforce && !self.unclear;
        if self.reminded {
            self.latched = true;
            return if enforces { Some(Action::Stop) } else { None };
        }
        if self.count < FAILED || self.batches < BATCHES {
            return None;
        }
        self.reminded = true;
        if mode == GuardMode::Shadow { None } else { Some(Action::Inject) }
    }
}

impl Acp {
    fn stop(&mut self, rule: &'static str, code: &str, seen: u32, limit: f64, acts: &mut ActionSink<'_, '_>) {
        self.prompt.over = true;
        acts.act(Action::Stop, rule).code(format!("LoopDetected:{code}")).evidence(f64::from(seen), limit);
    }

    fn asked(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        let prompt = &mut self.prompt;
        prompt.calls += reply.tool_calls.len() as u64;
        for call in &reply.tool_calls {
            let count = prompt.by_key.entry(key_of(&call.name, &arguments(call))).or_default();
            *count += 1;
            prompt.most = prompt.most.max(*count);
        }
        if self.cap.is_passed(prompt.calls, prompt.most) {
            let calls = u32::try_from(prompt.calls).unwrap_or(u32::MAX);
            self.stop(CAP, CAP, calls, self.cap.calls, acts);
        } else if self.opted_in && self.prompt.most >= DUPLICATES {
            self.stop(DUPLICATE, DUPLICATE, self.prompt.most, f64::from(DUPLICATES), acts);
        }
    }
}

impl Machine for Acp {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if starts_run(message) {
            self.prompt = PromptState::default();
        } else if self.prompt.over {
        } else if message.is_step() && !message.tool_calls.is_empty() {
            self.asked(message, acts);
        } else if message.is_result() && is_invalid(message) {
            let tool = message.name.as_deref().unwrap_or_default().to_owned();
            let count = self.prompt.invalid.entry(tool).or_default();
            *count += 1;
            let count = *count;
            if count >= INVALID_CALLS {
                self.stop(INVALID, "invalid_tool_params_stagnation", count, f64::from(INVALID_CALLS), acts);
            }
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if self.prompt.over || view.moment() != Moment::AfterTools {
            return;
        }
        let results: Vec<&Message> = view.results().collect();
        let Some(action) = self.prompt.failures.batch(&results, self.mode) else { return };
        let count = f64::from(self.prompt.failures.count);
        let code = match action {
            Action::Stop => "LoopDetected:repeated_tool_execution_failure",
            _ => "repeated_tool_failure_reminder",
        };
        self.prompt.over = action == Action::Stop;
        acts.act(action, FAILURES).code(code).evidence(count, f64::from(FAILED)).at_next_request();
    }
}

/// Whether the tool's own check rejected the parameters.
fn is_invalid(result: &Message) -> bool {
    native::own(result, "invalid_params") == Some(Value::Bool(true))
}
