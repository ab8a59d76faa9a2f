//! OpenHands SDK: the stuck detector, and the limits of its run loop.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::frame::{Action, Acts, Machine, Recipe, Settings, SettingsError, native, python};
use super::{Parameter, Preset};
use crate::decision::Need;
use crate::transcript::{Event, Message, Moment, PointView, Role, ToolCall};

const ACTION_OBSERVATION: &str = "stuck_detector.action_observation";
const ACTION_ERROR: &str = "stuck_detector.action_error";
const MONOLOGUE: &str = "stuck_detector.monologue";
const ALTERNATING: &str = "stuck_detector.alternating_pattern";
const CORRECTIVE: &str = "corrective_nudge";
const ITERATIONS: &str = "max_iteration_per_run";
const BUDGET: &str = "max_budget_per_run";

/// How many of the latest events the detector reads.
const WINDOW: usize = 20;

const PARAMETERS: &[Parameter] = &[
    Parameter { name: "stuck_detection", default: "true", off: "false", doc: "the detector as a whole" },
    Parameter {
        name: "thresholds.action_observation",
        default: "4",
        off: "",
        doc: "equal actions with equal observations; at least 1",
    },
    Parameter {
        name: "thresholds.action_error",
        default: "3",
        off: "",
        doc: "equal actions answered by agent errors: nudge at this many, stuck one later; at least 1",
    },
    Parameter { name: "thresholds.monologue", default: "3", off: "", doc: "agent messages at the tail; at least 1" },
    Parameter {
        name: "thresholds.alternating_pattern",
        default: "6",
        off: "",
        doc: "actions (and observations) equal to the one two before; at least 1",
    },
    Parameter { name: "max_iteration_per_run", default: "500", off: "", doc: "model calls of one run(); at least 1" },
    Parameter {
        name: "schema_defaults",
        default: "{}",
        off: "{}",
        doc: "arguments that the tools' schemas fill in when a call leaves them out; no recording holds the schemas",
    },
    Parameter {
        name: "max_budget_per_run",
        default: "null",
        off: "null",
        doc: "dollars spent; 0 stops after one step",
    },
];

const MANUAL: &str = "\
## Rules, in order
Before each request, over the last 20 events, cut after the last user message: the nudge, and when it is \
given nothing else; otherwise stuck if any of four patterns holds. After each step: the budget, then the iterations.
- `stuck_detector`, action_observation (4): the last n actions are equal and the last n observations are \
equal, as two separate lists.
- `stuck_detector`, action_error (3): s trailing (action, observation) pairs, paired by position from the \
end, have an equal action and an agent error. s == n: a message is injected, once for each error. s > n: stuck.
- `stuck_detector`, monologue (3): n agent messages at the tail; their text is not compared.
- `stuck_detector`, alternating_pattern (6): the last n actions and observations are each equal to the one two places before.
- `max_budget_per_run` (none): dollars spent in the conversation, after the step.
- `max_iteration_per_run` (500): model calls of this run, after the step.
## Comparator
`>=` for both limits, for action_observation, monologue and alternating_pattern; `==` then `>` for action_error.
## Counter
Events: parallel calls count one by one; their actions come before their observations. The injected nudge takes a place.
## Window
20 events. No stuck check while it holds fewer than the smallest of the first three thresholds.
## Identity
Action: thought (the text of the reply, first call only), tool and arguments (key order free, list order kept, \
1 = 1.0 = true). The argument `summary` is not compared. Observation: tool, content, error flag. Agent error: its text. \
A rejection by the user equals nothing.
## Reset
A user message restarts the window and the iterations; a message of the environment does not. The money is never reset.
## Off value
`stuck_detection = false`, only as a whole. No threshold and no cap below 1. `max_budget_per_run` null is off.
## Traps
- action_error 9 nudges at every new error and never gets stuck; 10 nudges once; above 10 nothing can fire.
- Four erring calls in one reply jump over the nudge.
- A constant sequence also alternates; alternating_pattern 1 or 2 fires on any pairs.
- A reply that finishes on the last allowed step keeps its finish.
- A tool that ran and reports failure is no agent error. Recordings rarely tell; a flagged result counts as one.
";

/// The preset.
pub(super) fn preset() -> Preset {
    Preset {
        id: "openhands",
        version: "openhands-sdk 1.58.0",
        source: "openhands/sdk/conversation/stuck_detector.py, impl/local_conversation.py",
        summary: "stuck detector with four patterns, 500 iterations, optional budget",
        manual: MANUAL,
        parameters: PARAMETERS,
        variants: &[],
        tables: &["stuck_detector", ITERATIONS, BUDGET],
        build,
        case,
    }
}

/// The detector is part of every run, so no rule is left out. The driver's own tool, in the loop,
/// declares `y` with the default 0.
#[expect(clippy::unnecessary_wraps, reason = "the shape of `Preset::case`, where other presets can refuse")]
fn case(_rule: &str, input: &Map<String, Value>) -> Result<Settings, String> {
    let mut settings = Settings { only: None, ..Settings::of_case("", input) };
    if settings.device("drive").and_then(Value::as_str) == Some("run") {
        settings.set.insert("schema_defaults".to_owned(), serde_json::json!({ "y": 0 }));
    }
    Ok(settings)
}

fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    let iterations = settings.int("max_iteration_per_run", 500)?;
    if iterations < 1 {
        return Err(SettingsError::refused("ValidationError", "1 validation error for ConversationState"));
    }
    let limits = Limits {
        detection: settings.flag("stuck_detection", true)?,
        action_observation: threshold(settings, "thresholds.action_observation", 4)?,
        action_error: threshold(settings, "thresholds.action_error", 3)?,
        monologue: threshold(settings, "thresholds.monologue", 3)?,
        alternating_pattern: threshold(settings, "thresholds.alternating_pattern", 6)?,
        iterations,
        budget: settings.opt_number("max_budget_per_run", None)?,
        text_finishes: settings.device("drive").and_then(Value::as_str) == Some("run"),
        schema_defaults: settings.get("schema_defaults").and_then(Value::as_object).cloned().unwrap_or_default(),
    };
    let mut rules = vec![ITERATIONS];
    if limits.detection {
        rules.splice(..0, [ACTION_ERROR, ACTION_OBSERVATION, MONOLOGUE, ALTERNATING]);
    }
    if limits.budget.is_some() {
        rules.push(BUDGET);
    }
    if limits.text_finishes {
        rules.push(CORRECTIVE);
    }
    Ok(Recipe::new(Conversation::new(limits), &rules)
        .needs(ACTION_ERROR, Need::ErrorFlags)
        .needs(BUDGET, Need::Cost)
        .asks_after_end())
}

fn threshold(settings: &Settings, name: &str, default: i64) -> Result<usize, SettingsError> {
    let value = settings.int(name, default)?;
    usize::try_from(value)
        .ok()
        .filter(|value| *value >= 1)
        .ok_or_else(|| SettingsError::refused("ValidationError", "1 validation error for StuckDetectionThresholds"))
}

#[derive(Clone, Debug)]
struct Limits {
    detection: bool,
    action_observation: usize,
    action_error: usize,
    monologue: usize,
    alternating_pattern: usize,
    iterations: i64,
    budget: Option<f64>,
    /// In the SDK's own loop a reply without calls ends the run, or is corrected when it is blank. A
    /// recording that goes on after one shows a harness that asked again.
    text_finishes: bool,
    schema_defaults: Map<String, Value>,
}

/// An event as the detector sees it. `seq` is the place in the run, for what equals only itself.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Action(Deed),
    Observation { tool: String, content: String, failed: bool },
    AgentError { text: String, seq: usize },
    Rejection { seq: usize },
    AgentMessage,
    EnvironmentMessage,
    Condensation,
}

/// An action; two are equal when thought, tool and arguments are.
#[derive(Clone, Debug)]
struct Deed {
    thought: String,
    tool: String,
    arguments: String,
    call_id: Option<String>,
}

impl PartialEq for Deed {
    fn eq(&self, other: &Self) -> bool {
        self.thought == other.thought && self.tool == other.tool && self.arguments == other.arguments
    }
}

impl Seen {
    /// Equality as the detector has it.
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::AgentError { text: a, .. }, Self::AgentError { text: b, .. }) => a == b,
            _ => self == other,
        }
    }

    fn is_observation(&self) -> bool {
        matches!(self, Self::Observation { .. } | Self::AgentError { .. } | Self::Rejection { .. })
    }
}

#[derive(Clone, Debug)]
struct Conversation {
    limits: Limits,
    window: VecDeque<Seen>,
    seq: usize,
    nudged: Option<usize>,
    iterations: i64,
    spent: f64,
    finished: bool,
    finishing: bool,
}

impl Conversation {
    fn new(limits: Limits) -> Self {
        Self {
            limits,
            window: VecDeque::new(),
            seq: 0,
            nudged: None,
            iterations: 0,
            spent: 0.0,
            finished: false,
            finishing: false,
        }
    }

    fn push(&mut self, seen: Seen) {
        self.seq += 1;
        self.window.push_back(seen);
        if self.window.len() > WINDOW {
            self.window.pop_front();
        }
    }

    fn user(&mut self, message: &Message) {
        match native::word(message, "native").as_deref() {
            Some("environment") => self.push(Seen::EnvironmentMessage),
            Some("CondensationSummaryEvent") => self.push(Seen::Condensation),
            _ => {
                self.seq += 1;
                self.window.clear();
                self.iterations = 0;
                self.finished = false;
            }
        }
    }

    fn reply(&mut self, message: &Message, acts: &mut Acts<'_, '_>) {
        match native::word(message, "native").as_deref() {
            Some("environment") => return self.push(Seen::EnvironmentMessage),
            Some("CondensationSummaryEvent") => return self.push(Seen::Condensation),
            _ => {}
        }
        if !message.is_step() {
            return;
        }
        self.iterations += 1;
        self.spent += message.cost.map_or(0.0, |cost| cost.0);
        self.finishing = message.tool_calls.iter().any(|call| &*call.name == "finish");
        let text = message.text();
        for (nth, call) in message.tool_calls.iter().enumerate() {
            let thought = if nth == 0 { text.to_string() } else { String::new() };
            let deed = deed(call, thought, &self.limits.schema_defaults);
            self.push(Seen::Action(deed));
        }
        if !message.tool_calls.is_empty() {
            return;
        }
        self.push(Seen::AgentMessage);
        if !self.limits.text_finishes {
            return;
        }
        if text.trim().is_empty() {
            acts.act(Action::Inject, CORRECTIVE).code("corrective_nudge").detail(CORRECTION);
            self.push(Seen::EnvironmentMessage);
        } else {
            self.finished = true;
        }
    }

    fn result(&mut self, message: &Message) {
        if native::flag(message, "invalid_call") {
            self.forget_arguments(message.tool_call_id.as_deref());
        }
        let content = message.text().into_owned();
        let failed = message.is_error == Some(true);
        let native = native::word(message, "native");
        let seen = match native.as_deref() {
            Some("UserRejectObservation") => Seen::Rejection { seq: self.seq },
            Some("ObservationEvent") => self.observation(message, content, failed),
            _ if failed => Seen::AgentError { text: content, seq: self.seq },
            _ => self.observation(message, content, failed),
        };
        self.push(seen);
    }

    /// An observation names the tool of the call it answers when the result itself does not.
    fn observation(&self, message: &Message, content: String, failed: bool) -> Seen {
        let tool = message.name.as_deref().map(str::to_owned).or_else(|| {
            let id = message.tool_call_id.as_deref()?;
            self.window.iter().rev().find_map(|seen| match seen {
                Seen::Action(deed) if deed.call_id.as_deref() == Some(id) => Some(deed.tool.clone()),
                _ => None,
            })
        });
        Seen::Observation { tool: tool.unwrap_or_default(), content, failed }
    }

    /// A call that could not be made is recorded with an empty action.
    fn forget_arguments(&mut self, call_id: Option<&str>) {
        let deed = self.window.iter_mut().rev().find_map(|seen| match seen {
            Seen::Action(deed) if call_id.is_none() || deed.call_id.as_deref() == call_id => Some(deed),
            _ => None,
        });
        if let Some(deed) = deed {
            deed.arguments.clear();
        }
    }

    /// The last `n` actions and observations, the latest first.
    fn latest(&self, n: usize, rejections: bool) -> (Vec<&Seen>, Vec<&Seen>) {
        let actions = self.window.iter().rev().filter(|seen| matches!(seen, Seen::Action(_))).take(n).collect();
        let observations = self
            .window
            .iter()
            .rev()
            .filter(|seen| seen.is_observation() && (rejections || !matches!(seen, Seen::Rejection { .. })))
            .take(n)
            .collect();
        (actions, observations)
    }

    /// Trailing pairs of one action and an agent error.
    fn error_streak(&self) -> usize {
        let (actions, observations) = self.latest(self.limits.action_error.saturating_add(1), true);
        let Some(reference) = actions.first() else { return 0 };
        let pairs = actions.iter().zip(&observations);
        pairs.take_while(|(action, seen)| reference.same(action) && matches!(seen, Seen::AgentError { .. })).count()
    }

    /// The pattern the agent is stuck in, with the length seen and the threshold.
    fn pattern(&self) -> Option<(&'static str, usize)> {
        let limits = &self.limits;
        if self.window.len() < limits.action_observation.min(limits.action_error).min(limits.monologue) {
            return None;
        }
        let (actions, observations) = self.latest(limits.action_observation, true);
        if full_and_equal(&actions, limits.action_observation)
            && full_and_equal(&observations, limits.action_observation)
        {
            return Some((ACTION_OBSERVATION, limits.action_observation));
        }
        if self.error_streak() > limits.action_error {
            return Some((ACTION_ERROR, limits.action_error));
        }
        if self.monologue() >= limits.monologue {
            return Some((MONOLOGUE, limits.monologue));
        }
        let n = limits.alternating_pattern;
        let (actions, observations) = self.latest(n, false);
        (self.window.len() >= n && alternates(&actions, n) && alternates(&observations, n)).then_some((ALTERNATING, n))
    }

    /// Agent messages at the tail.
    fn monologue(&self) -> usize {
        self.window
            .iter()
            .rev()
            .filter(|seen| !matches!(seen, Seen::EnvironmentMessage | Seen::Condensation))
            .take_while(|seen| matches!(seen, Seen::AgentMessage))
            .count()
    }

    fn before_request(&mut self, acts: &mut Acts<'_, '_>) {
        if !self.limits.detection || self.finished {
            return;
        }
        if let Some(words) = self.nudge() {
            let threshold = self.limits.action_error as f64;
            acts.act(Action::Inject, ACTION_ERROR)
                .code("action_error_nudge")
                .detail(words)
                .evidence(threshold, threshold);
            self.push(Seen::EnvironmentMessage);
        } else if let Some((pattern, threshold)) = self.pattern() {
            let threshold = threshold as f64;
            let name = pattern.trim_start_matches("stuck_detector.");
            acts.act(Action::Stop, pattern).code("STUCK").detail(name).evidence(threshold, threshold);
        }
    }

    /// The nudge's words, once for each error.
    fn nudge(&mut self) -> Option<String> {
        let threshold = self.limits.action_error;
        if self.error_streak() != threshold {
            return None;
        }
        let (actions, observations) = self.latest(1, true);
        let (Some(Seen::Action(deed)), Some(Seen::AgentError { text, seq })) = (actions.first(), observations.first())
        else {
            return None;
        };
        if self.nudged == Some(*seq) {
            return None;
        }
        let (words, seq) = (nudge_words(&deed.tool, threshold, text), *seq);
        self.nudged = Some(seq);
        Some(words)
    }

    fn after_step(&mut self, acts: &mut Acts<'_, '_>) {
        self.finished |= self.finishing;
        self.finishing = false;
        if self.finished {
            return;
        }
        if let Some(budget) = self.limits.budget.filter(|budget| self.spent >= *budget) {
            let spent = self.spent;
            let words = format!("Agent reached maximum budget limit (${budget:.4}); accumulated cost ${spent:.4}.");
            acts.act(Action::Fail, BUDGET).code("MaxBudgetReached").detail(words).evidence(spent, budget);
        } else if self.iterations >= self.limits.iterations {
            let (seen, limit) = (self.iterations as f64, self.limits.iterations);
            let words = format!("Agent reached maximum iterations limit ({limit}).");
            acts.act(Action::Fail, ITERATIONS).code("MaxIterationsReached").detail(words).evidence(seen, limit as f64);
        }
    }
}

const CORRECTION: &str = "Your last response did not include a function call or a message. Please use a tool to \
                          proceed with the task.";

fn nudge_words(tool: &str, times: usize, error: &str) -> String {
    format!(
        "You've called `{tool}` with the same arguments {times} times in a row and gotten the same error each time: \
         {error}. Repeating the exact same call again will not work — review the error message and either correct the \
         arguments or try a different approach."
    )
}

/// The call as an action. An argument that has its schema's default counts as left out.
fn deed(call: &ToolCall, thought: String, schema_defaults: &Map<String, Value>) -> Deed {
    let arguments = match serde_json::from_str::<Value>(&call.arguments.as_str()) {
        Ok(Value::Object(mut map)) => {
            map.shift_remove("summary");
            map.retain(|name, value| {
                schema_defaults.get(name).is_none_or(|default| python::value_key(default) != python::value_key(value))
            });
            python::value_key(&Value::Object(map))
        }
        _ => python::equality_key(&call.arguments.as_str()),
    };
    Deed { thought, tool: call.name.to_string(), arguments, call_id: call.id.as_deref().map(str::to_owned) }
}

fn full_and_equal(list: &[&Seen], n: usize) -> bool {
    list.len() >= n && list.iter().all(|seen| list.first().is_some_and(|first| first.same(seen)))
}

fn alternates(list: &[&Seen], n: usize) -> bool {
    list.len() == n && list.iter().zip(list.iter().skip(2)).all(|(a, b)| a.same(b))
}

impl Machine for Conversation {
    fn event(&mut self, event: &Event, acts: &mut Acts<'_, '_>) {
        let Some(message) = event.message() else { return };
        match message.role {
            Role::User => self.user(message),
            Role::Assistant => self.reply(message, acts),
            Role::Tool if message.is_result() => self.result(message),
            _ => {}
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut Acts<'_, '_>) {
        match view.moment() {
            Moment::BeforeRequest => self.before_request(acts),
            Moment::AfterTools => self.after_step(acts),
            Moment::AfterResponse | Moment::EndOfRound => {}
        }
    }
}
