//! DeerFlow: the loop-detection middleware, by sets of calls and by tool frequency.

use serde_json::{Map, Value};

use super::frame::counters::SlidingWindow;
use super::frame::{Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, reading, wrong_kind};
use crate::framework::{Parameter, params};
use crate::python::{self, Dict};
use crate::transcript::fingerprint::canonical_json;
use crate::transcript::{Message, Moment, Name, PointView, ToolCall};

const SETS: &str = "repeated_calls";
const FREQUENCY: &str = "tool_frequency";
/// How many lines of a file count as the same place when it is read.
const BUCKET: i64 = 200;
/// Arguments that identify a call; all others are ignored.
const SALIENT: [&str; 7] = ["path", "url", "query", "command", "pattern", "glob", "cmd"];

params! {
    ENABLED: "enabled" = true, off false, "switches the middleware";
    WARN_THRESHOLD: "warn_threshold" = 3, "equal sets of calls that warn";
    HARD_LIMIT: "hard_limit" = 5, "equal sets of calls that end the run";
    WINDOW_SIZE: "window_size" = 20, "replies with calls that are remembered",
        trap with |s| if s.amount(&WINDOW_SIZE) < s.amount(&HARD_LIMIT) =>
            "`window_size` is shorter than `hard_limit`, which is never reached",
        trap with |s| if s.amount(&WINDOW_SIZE) < s.amount(&WARN_THRESHOLD) =>
            "`window_size` is shorter than `warn_threshold`, which is never reached";
    TOOL_FREQ_WARN: "tool_freq_warn" = 30, "calls of one tool that warn";
    TOOL_FREQ_HARD_LIMIT: "tool_freq_hard_limit" = 50, "calls of one tool that end the run";
    TOOL_FREQ_OVERRIDES: "tool_freq_overrides" = {}, "limits of single tools: tool = [warn, hard]";
}

#[derive(Clone, Copy, Debug)]
struct LoopLimits {
    warn: usize,
    hard: usize,
}

#[derive(Clone, Debug)]
struct DeerFlow {
    sets: LoopLimits,
    history: SlidingWindow<Vec<String>>,
    warned: Vec<Vec<String>>,
    frequency: LoopLimits,
    overrides: Vec<(String, LoopLimits)>,
    names: SlidingWindow<Name>,
    warned_names: Vec<Name>,
    pending: Option<(&'static str, usize, usize)>,
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    if !settings.flag(&param::ENABLED)? {
        return Ok(Recipe::new(DisabledDetection, &[SETS, FREQUENCY]));
    }
    let at_least_1 = |parameter: &Parameter| {
        let value = settings.int(parameter)?;
        usize::try_from(value).ok().filter(|value| *value > 0).ok_or_else(|| {
            SettingsError::refused("ValidationError", format!("{} must be greater than or equal to 1", parameter.name))
        })
    };
    let limits = |warn: usize, hard: usize| {
        let refused = || SettingsError::refused("ValidationError", "the hard limit must be at least the warning's");
        if hard >= warn { Ok(LoopLimits { warn, hard }) } else { Err(refused()) }
    };
    let sets = limits(at_least_1(&param::WARN_THRESHOLD)?, at_least_1(&param::HARD_LIMIT)?)?;
    let frequency = limits(at_least_1(&param::TOOL_FREQ_WARN)?, at_least_1(&param::TOOL_FREQ_HARD_LIMIT)?)?;
    let window_size = at_least_1(&param::WINDOW_SIZE)?;
    let mut overrides = Vec::new();
    if let Some(given) = settings.get(param::TOOL_FREQ_OVERRIDES.name).filter(|given| !given.is_null()) {
        let expected = "a table of tool = [warn, hard]";
        let wrong = || wrong_kind(param::TOOL_FREQ_OVERRIDES.name, expected, given);
        for (tool, pair) in given.as_object().ok_or_else(wrong)? {
            let (warn, hard) = warn_and_hard(pair).ok_or_else(wrong)?;
            overrides.push((tool.clone(), limits(warn, hard)?));
        }
    }
    let hard_limits = overrides.iter().map(|(_, limits)| limits.hard);
    let names = hard_limits.chain([frequency.hard, window_size]).max().unwrap_or(window_size);
    let machine = DeerFlow {
        sets,
        history: SlidingWindow::new(window_size),
        warned: Vec::new(),
        frequency,
        overrides,
        names: SlidingWindow::new(names),
        warned_names: Vec::new(),
        pending: None,
    };
    Ok(Recipe::new(machine, &[SETS, FREQUENCY]).reads_calls(&[SETS, FREQUENCY]).blind(&[FREQUENCY]).resumes_at_user())
}

/// `[warn, hard]`, or `{ warn, hard_limit }`.
fn warn_and_hard(pair: &Value) -> Option<(usize, usize)> {
    let number = |value: Option<&Value>| usize::try_from(value?.as_u64()?).ok();
    match pair {
        Value::Array(pair) => Some((number(pair.first())?, number(pair.get(1))?)),
        Value::Object(pair) => Some((number(pair.get("warn"))?, number(pair.get("hard_limit"))?)),
        _ => None,
    }
}

#[derive(Clone, Debug)]
struct DisabledDetection;

impl Machine for DisabledDetection {}

/// What the calls of a reply lead to.
enum LoopFinding {
    Nothing,
    Warn(usize, usize),
    Strip(usize, usize),
}

impl DeerFlow {
    fn by_set(&mut self, calls: &[ToolCall]) -> LoopFinding {
        let mut identity: Vec<String> = calls.iter().map(|call| format!("{}:{}", call.name, key(call))).collect();
        identity.sort_unstable();
        self.history.push(identity.clone());
        let history = &self.history;
        self.warned.retain(|warned| history.count(warned) > 0);
        let count = self.history.count(&identity);
        if count >= self.sets.hard {
            return LoopFinding::Strip(count, self.sets.hard);
        }
        if count >= self.sets.warn && !self.warned.contains(&identity) {
            self.warned.push(identity);
            return LoopFinding::Warn(count, self.sets.warn);
        }
        LoopFinding::Nothing
    }

    fn by_name(&mut self, calls: &[ToolCall]) -> LoopFinding {
        for call in calls {
            self.names.push(call.name.clone());
            let (count, limits) = (self.names.count(&call.name), self.limits_of(&call.name));
            if count >= limits.hard {
                return LoopFinding::Strip(count, limits.hard);
            }
            if count < limits.warn {
                self.warned_names.retain(|name| *name != call.name);
            } else if !self.warned_names.contains(&call.name) {
                self.warned_names.push(call.name.clone());
                return LoopFinding::Warn(count, limits.warn);
            }
        }
        LoopFinding::Nothing
    }

    fn limits_of(&self, tool: &str) -> LoopLimits {
        let own = self.overrides.iter().find(|(name, _)| name == tool);
        if let Some((_, limits)) = own { *limits } else { self.frequency }
    }

    fn reply(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        if reply.tool_calls.is_empty() {
            return;
        }
        let (mut rule, mut finding) = (SETS, self.by_set(&reply.tool_calls));
        if matches!(finding, LoopFinding::Nothing) {
            (rule, finding) = (FREQUENCY, self.by_name(&reply.tool_calls));
        }
        match finding {
            LoopFinding::Nothing => {}
            LoopFinding::Warn(count, limit) => self.pending = Some((rule, count, limit)),
            LoopFinding::Strip(count, limit) => {
                // The reply becomes the answer without its calls: the run ends here, with no further model call. The
                // framework calls it a forced answer.
                let act = acts.act(Action::Stop, rule).code(format!("LoopDetectionMiddleware:{rule}:loop_capped"));
                act.evidence(count as f64, limit as f64);
            }
        }
    }
}

impl Machine for DeerFlow {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if message.is_step() {
            self.reply(message, acts);
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if view.moment() != Moment::BeforeRequest {
            return;
        }
        if let Some((rule, count, limit)) = self.pending.take() {
            let act = acts.act(Action::Inject, rule).code(format!("LoopDetectionMiddleware:{rule}"));
            act.evidence(count as f64, limit as f64);
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let (sets, names) = (self.history.most() as f64, self.names.most() as f64);
        vec![
            reading(SETS, "same calls in the window", sets, self.sets.hard as f64),
            reading(FREQUENCY, "same tool in the window", names, self.frequency.hard as f64),
        ]
    }
}

/// The text that identifies a call among the calls of one tool.
fn key(call: &ToolCall) -> String {
    let Some(whole @ Value::Object(given)) = call.json_arguments() else { return call.arguments.as_str().into_owned() };
    if &*call.name == "read_file" {
        return place(given);
    }
    let salient: Map<String, Value> = SALIENT
        .iter()
        .filter_map(|name| {
            given.get(*name).filter(|value| !value.is_null()).map(|value| ((*name).into(), value.clone()))
        })
        .collect();
    if matches!(&*call.name, "write_file" | "str_replace") || salient.is_empty() {
        return canonical_json(whole);
    }
    canonical_json(&Value::Object(salient))
}

/// The path, and the buckets of the first and last line read.
fn place(given: &Map<String, Value>) -> String {
    let path = given.text("path").unwrap_or_default();
    let start = given.get("start_line").and_then(python::small_int).unwrap_or(1);
    let end = given.get("end_line").and_then(python::small_int).unwrap_or(start);
    let bucket = |line: i64| (line.max(1) - 1) / BUCKET;
    format!("{path}:{}-{}", bucket(start.min(end)), bucket(start.max(end)))
}
