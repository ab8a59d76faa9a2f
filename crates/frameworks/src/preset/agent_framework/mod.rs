//! Microsoft Agent Framework: the function-invocation layer's limits, and the loop around an agent.

use serde_json::Value;

use super::frame::rounds::{AgentLoop, AgentLoopMachine, AnsweredCall, Flow, answered};
use super::frame::{
    Action, ActionSink, Recipe, Settings, SettingsError, native, rules_on, seconds_between, wrong_kind,
};
use crate::decision::Need;
use crate::framework::{Parameter, params};
use crate::python::{self, Dict};
use crate::transcript::{Instant, Message, PointView, ToolCall};

const ITERATIONS: &str = "max_iterations";
const CALLS: &str = "max_function_calls";
const ERRORS: &str = "max_consecutive_errors_per_request";
const DURATION: &str = "max_duration_seconds";
const UNKNOWN: &str = "terminate_on_unknown_calls";
const CALLER: &str = "returned_to_caller";
const LOOP: &str = "agent_loop";

params! {
    MAX_ITERATIONS: "max_iterations" = 40, "requests of one run that may have calls";
    MAX_FUNCTION_CALLS: "max_function_calls" = null, off null, "calls of one run";
    MAX_CONSECUTIVE_ERRORS_PER_REQUEST: "max_consecutive_errors_per_request" = 3,
        "replies in a row with a failed call";
    MAX_DURATION_SECONDS: "max_duration_seconds" = null, off null, "seconds of one run";
    TERMINATE_ON_UNKNOWN_CALLS: "terminate_on_unknown_calls" = false, off false, "an unknown tool raises";
    ENABLED: "enabled" = true, "false: calls go back to the caller";
    APPROVAL_TOOLS: "approval_tools" = [], off [], "tools with approval_mode always";
    DECLARATION_ONLY: "declaration_only" = [], off [], "tools without an implementation";
    LOOP: "loop" = null, off null, "AgentLoopMiddleware: max_iterations, until_text, should_continue";
}

/// Limits, including those set on the finished client (`later`), which are not validated.
struct InvocationLimits<'s> {
    settings: &'s Settings,
    later: &'s Value,
}

impl InvocationLimits<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        self.later.get(name).or_else(|| self.settings.get(name))
    }

    fn is_checked(&self, name: &str) -> bool {
        *self.later != true && self.later.get(name).is_none()
    }

    /// A required number.
    fn number(&self, parameter: &Parameter, least: f64, words: &str) -> Result<f64, SettingsError> {
        match self.get(parameter.name) {
            None => self.settings.number(parameter),
            Some(Value::Null) => {
                Err(SettingsError::refused("TypeError", "'<' not supported between instances of 'NoneType' and 'int'"))
            }
            Some(value) => self.checked(parameter.name, value, |number| number >= least, words),
        }
    }

    /// An optional number.
    fn optional(
        &self,
        parameter: &Parameter,
        holds: fn(f64) -> bool,
        words: &str,
    ) -> Result<Option<f64>, SettingsError> {
        match self.get(parameter.name).filter(|value| !value.is_null()) {
            None => Ok(None),
            Some(value) if value.as_str() == Some("none") => Ok(None),
            Some(value) => self.checked(parameter.name, value, holds, words).map(Some),
        }
    }

    fn checked(
        &self,
        name: &str,
        value: &Value,
        holds: impl Fn(f64) -> bool,
        words: &str,
    ) -> Result<f64, SettingsError> {
        let number = python::as_number(value).ok_or_else(|| wrong_kind(name, "a number", value))?;
        if self.is_checked(name) && !holds(number) {
            return Err(SettingsError::refused("ValueError", words));
        }
        Ok(number)
    }
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    with_program(settings, &AgentFrameworkProgram::default())
}

/// What the program around the agent does; a recording does not say it.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct AgentFrameworkProgram {
    /// Tools after which its middleware ends the loop.
    pub terminate_after: Vec<String>,
    /// Limits that it sets on the finished client, which are not validated; true if it sets all of them there.
    pub set_later: Value,
}

/// The rules in such a program.
#[doc(hidden)]
pub fn with_program(settings: &Settings, program: &AgentFrameworkProgram) -> Result<Recipe, SettingsError> {
    let limits = InvocationLimits { settings, later: &program.set_later };
    let agent_loop = match settings.get(param::LOOP.name) {
        None | Some(Value::Null) => None,
        Some(value) => Some(LoopMiddleware::from_value(value)?),
    };
    let agent = FunctionLoop {
        iterations: limits.number(&param::MAX_ITERATIONS, 1.0, "max_iterations must be at least 1.")?,
        calls: limits.optional(
            &param::MAX_FUNCTION_CALLS,
            |n| n >= 1.0,
            "max_function_calls must be at least 1 or None.",
        )?,
        errors: limits.number(
            &param::MAX_CONSECUTIVE_ERRORS_PER_REQUEST,
            0.0,
            "max_consecutive_errors_per_request must be 0 or more.",
        )?,
        duration: limits.optional(
            &param::MAX_DURATION_SECONDS,
            |n| n > 0.0,
            "max_duration_seconds must be greater than 0 or None.",
        )?,
        raises_unknown: settings.flag(&param::TERMINATE_ON_UNKNOWN_CALLS)?,
        runs_tools: settings.flag(&param::ENABLED)?,
        approval_tools: settings.texts(&param::APPROVAL_TOOLS)?,
        declared_tools: settings.texts(&param::DECLARATION_ONLY)?,
        terminate_after: program.terminate_after.clone(),
        agent_loop,
        ..FunctionLoop::default()
    };
    let keeps_all =
        agent.approval_tools.is_empty() && agent.declared_tools.is_empty() && agent.terminate_after.is_empty();
    let has_caller = !(agent.runs_tools && keeps_all);
    let rules = rules_on(&[
        (ERRORS, true),
        (DURATION, agent.duration.is_some()),
        (CALLS, agent.calls.is_some()),
        (ITERATIONS, true),
        (UNKNOWN, agent.raises_unknown),
        (CALLER, has_caller),
        (LOOP, agent.agent_loop.is_some()),
    ]);
    Ok(Recipe::new(AgentLoopMachine::new(agent), &rules)
        .blind(&[ERRORS, DURATION, CALLS, ITERATIONS, UNKNOWN, CALLER])
        .reads_calls(&[CALLS, UNKNOWN])
        .needs(ERRORS, Need::ErrorFlags)
        .needs(DURATION, Need::Times)
        .needs(UNKNOWN, Need::Field("invalid_call"))
        .keeps_own_state())
}

/// The middleware that runs the agent repeatedly.
#[derive(Clone, Debug)]
struct LoopMiddleware {
    max: Option<f64>,
    until_text: Option<String>,
    continues: bool,
}

impl LoopMiddleware {
    fn from_value(value: &Value) -> Result<Self, SettingsError> {
        let fields = value.as_object().ok_or_else(|| wrong_kind(param::LOOP.name, "a table", value))?;
        let max = match fields.get("max_iterations") {
            None => Some(10.0),
            Some(Value::Null) => None,
            Some(value) => Some(value.as_f64().ok_or_else(|| wrong_kind("loop.max_iterations", "a number", value))?),
        };
        if matches!(max, Some(max) if max < 1.0) {
            let words = "max_iterations must be None or a positive integer (>= 1).";
            return Err(SettingsError::refused("ValueError", words));
        }
        let until_text = fields.text("until_text").map(str::to_owned);
        Ok(Self { max, until_text, continues: fields.get("should_continue") != Some(&Value::Bool(false)) })
    }
}

#[derive(Clone, Debug, Default)]
pub struct FunctionLoop {
    iterations: f64,
    calls: Option<f64>,
    errors: f64,
    duration: Option<f64>,
    raises_unknown: bool,
    runs_tools: bool,
    approval_tools: Vec<String>,
    declared_tools: Vec<String>,
    terminate_after: Vec<String>,
    agent_loop: Option<LoopMiddleware>,
    requests: u64,
    n_calls: u64,
    failing: u64,
    started_at: Option<Instant>,
    /// Runs of the agent in the current call.
    agent_runs: u64,
}

/// Tools are switched off and one more request is made, which is not in the recording.
fn force_final(rule: &'static str, words: String, seen: f64, limit: f64, acts: &mut ActionSink<'_, '_>) -> Flow {
    let act = acts.act(Action::ForceFinal, rule).code(rule).detail(words).evidence(seen, limit).ends_run();
    act.at_next_request();
    Flow::Over
}

const REST: &str = "Stopping further function calls for this request.";

impl FunctionLoop {
    /// The limits that are looked at before the first request and after each batch of calls. An unknown time is NaN and
    /// reaches no limit.
    fn batch_limit(&self, elapsed: f64, acts: &mut ActionSink<'_, '_>) -> Option<Flow> {
        if let Some(limit) = self.duration.filter(|limit| elapsed >= *limit) {
            let words = format!("Maximum duration reached ({elapsed:.2}s / {limit:.2}s). {REST}");
            return Some(force_final(DURATION, words, elapsed, limit, acts));
        }
        let n_calls = self.n_calls as f64;
        let limit = self.calls.filter(|limit| n_calls >= *limit)?;
        let words = format!("Maximum function calls reached ({n_calls}/{limit}). {REST}");
        Some(force_final(CALLS, words, n_calls, limit, acts))
    }

    fn needs_approval(&self, call: &ToolCall) -> bool {
        self.approval_tools.iter().any(|tool| *tool == *call.name)
    }

    fn is_declared_only(&self, call: &ToolCall) -> bool {
        self.declared_tools.iter().any(|tool| *tool == *call.name)
    }

    /// Whether the framework can tell from the reply alone what becomes of its calls: an unknown tool raises before
    /// anything else, and that a tool exists is otherwise known only from its result.
    fn knows_all(&self, reply: &Message) -> bool {
        !self.raises_unknown
            || reply.tool_calls.iter().all(|call| self.needs_approval(call) || self.is_declared_only(call))
    }

    /// Stops or asks at the reply if its calls go back to the caller; true if they do.
    fn returned(&self, view: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) -> bool {
        let calls = &reply.tool_calls;
        if let Some(call) = calls.iter().find(|call| self.runs_tools && self.needs_approval(call)) {
            let act = acts.act(Action::Ask, CALLER).code("function_approval_request").call(call.id.as_deref());
            act.at_reply(view);
        } else if !calls.is_empty() && (!self.runs_tools || calls.iter().any(|call| self.is_declared_only(call))) {
            acts.act(Action::Stop, CALLER).code("function calls returned to the caller").at_reply(view);
        } else {
            return false;
        }
        true
    }
}

impl AgentLoop for FunctionLoop {
    fn starts(&mut self, message: &Message) -> bool {
        // A message inserted by the loop starts another run of the agent within the same call.
        let is_own = native::word(message, "native").as_deref() == Some("loop");
        self.requests = 0;
        self.n_calls = 0;
        self.failing = 0;
        self.started_at = message.ts;
        if !is_own {
            self.agent_runs = 0;
        }
        !is_own
    }

    fn before_request(&mut self, _: &PointView<'_>, acts: &mut ActionSink<'_, '_>) -> Flow {
        if self.requests > 0 {
            return Flow::GoesOn;
        }
        if self.iterations.fract() != 0.0 {
            let words = "'float' object cannot be interpreted as an integer";
            acts.act(Action::Fail, ITERATIONS).code("TypeError").detail(words);
            return Flow::Over;
        }
        // A limit of 0 or less, which only a finished client can be given, is reached before the first request.
        if let Some(flow) = self.batch_limit(0.0, acts) {
            return flow;
        }
        if self.iterations <= 0.0 {
            let act = acts.act(Action::ForceFinal, ITERATIONS).code(ITERATIONS).evidence(0.0, self.iterations);
            act.ends_run();
            return Flow::Over;
        }
        Flow::GoesOn
    }

    fn replied(&mut self, view: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) -> Flow {
        self.requests += 1;
        if self.started_at.is_none() {
            self.started_at = view.now();
        }
        if self.knows_all(reply) && self.returned(view, reply, acts) { Flow::Over } else { Flow::GoesOn }
    }

    fn tools_ran(&mut self, view: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) -> Flow {
        let answered = answered(view, reply);
        if self.raises_unknown {
            let missing = answered.iter().find(|answered| native::flag(answered.result, "invalid_call"));
            if let Some(AnsweredCall { call, .. }) = missing {
                let words = format!("Error: Requested function \"{}\" not found.", call.name);
                let act = acts.act(Action::Fail, UNKNOWN).code("_UnknownFunctionCallError").detail(words);
                act.call(call.id.as_deref()).at_reply(view);
                return Flow::Over;
            }
            if self.returned(view, reply, acts) {
                return Flow::Over;
            }
        }
        let has_failed = answered.iter().any(|answered| native::has_failed(answered.result));
        self.n_calls += reply.tool_calls.len() as u64;
        self.failing = if has_failed { self.failing + 1 } else { 0 };
        // A call that fails raises through the middleware before it can end the loop.
        let ends_loop = |AnsweredCall { call, result, .. }: &AnsweredCall<'_>| {
            !native::has_failed(result) && self.terminate_after.iter().any(|tool| *tool == *call.name)
        };
        if answered.iter().any(ends_loop) {
            acts.act(Action::Stop, CALLER).code("MiddlewareTermination");
            return Flow::Over;
        }
        let (failing, requests) = (self.failing as f64, self.requests as f64);
        if has_failed && failing >= self.errors {
            let words = format!("Maximum consecutive function call errors reached ({}). {REST}", self.errors);
            return force_final(ERRORS, words, failing, self.errors, acts);
        }
        let elapsed = seconds_between(self.started_at, view.now());
        if let Some(flow) = self.batch_limit(elapsed.unwrap_or(f64::NAN), acts) {
            return flow;
        }
        if requests >= self.iterations {
            let words =
                format!("Maximum iterations reached ({}). Requesting final response without tools.", self.iterations);
            return force_final(ITERATIONS, words, requests, self.iterations, acts);
        }
        Flow::GoesOn
    }

    fn said(&mut self, _: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) -> Flow {
        let Some(agent_loop) = &self.agent_loop else { return Flow::Over };
        self.agent_runs += 1;
        let runs = self.agent_runs as f64;
        if let Some(max) = agent_loop.max.filter(|max| runs >= *max) {
            acts.act(Action::Stop, LOOP).code("loop.max_iterations").evidence(runs, max);
            return Flow::Over;
        }
        let is_said = |text: &String| reply.text().contains(text.as_str());
        if !agent_loop.continues || matches!(&agent_loop.until_text, Some(text) if is_said(text)) {
            acts.act(Action::Stop, LOOP).code("should_continue");
            return Flow::Over;
        }
        Flow::GoesOn
    }
}
