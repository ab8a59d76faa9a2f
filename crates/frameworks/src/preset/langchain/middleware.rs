//! The call-limit middleware: hooks before and after the model.

use serde_json::{Map, Value};

use super::super::frame::{Action, ActionSink, RuleReading, SettingsError, reading, wrong_kind};
use super::{MODEL_CALLS, TOOL_CALLS};
use crate::python::{self, Dict};
use crate::transcript::Message;

const NOT_RUN: &str = "Execution stopped before this tool call could run because another tool call in the same batch \
                       exceeded the limit.";

/// What a hook does to the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum HookOutcome {
    GoesOn,
    Ended,
    Raised,
}

/// What happens at a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ExitBehavior {
    Continue,
    End,
    Error,
}

#[derive(Clone, Debug)]
pub(super) struct Middleware {
    kind: MiddlewareKind,
    thread_limit: Option<i64>,
    run_limit: Option<i64>,
    exit: ExitBehavior,
    thread: i64,
    run: i64,
}

#[derive(Clone, Debug, PartialEq)]
enum MiddlewareKind {
    Model,
    Tool { name: Option<String> },
}

/// The configured middleware, in order.
pub(super) fn list(value: Option<&Value>) -> Result<Vec<Middleware>, SettingsError> {
    let hooks: Vec<Middleware> = match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.iter().map(Middleware::read).collect::<Result<_, _>>()?,
        Some(other) => return Err(wrong_kind("middleware", "a list of tables", other)),
    };
    let twice = hooks.iter().enumerate().any(|(place, hook)| hooks.iter().take(place).any(|h| h.kind == hook.kind));
    if twice {
        return Err(SettingsError::refused("AssertionError", "Please remove duplicate middleware instances."));
    }
    Ok(hooks)
}

impl Middleware {
    fn read(value: &Value) -> Result<Self, SettingsError> {
        let bad = || wrong_kind("middleware", "tables with a known `type`", value);
        let table = value.as_object().ok_or_else(bad)?;
        let name = table.text("tool_name").map(str::to_owned);
        let kind = match table.text("type") {
            Some(MODEL_CALLS) => MiddlewareKind::Model,
            Some(TOOL_CALLS) => MiddlewareKind::Tool { name },
            _ => return Err(bad()),
        };
        let (thread_limit, run_limit) = (limit(table, "thread_limit")?, limit(table, "run_limit")?);
        if thread_limit.is_none() && run_limit.is_none() {
            let words = "At least one limit must be specified (thread_limit or run_limit)";
            return Err(SettingsError::refused("ValueError", words));
        }
        let exit = exit(&kind, table.get("exit_behavior"))?;
        if let (MiddlewareKind::Tool { .. }, Some(thread), Some(run)) = (&kind, thread_limit, run_limit)
            && run > thread
        {
            let words = format!(
                "run_limit ({run}) cannot exceed thread_limit ({thread}). The run limit should be less than or equal \
                 to the thread limit."
            );
            return Err(SettingsError::refused("ValueError", words));
        }
        Ok(Self { kind, thread_limit, run_limit, exit, thread: 0, run: 0 })
    }

    pub(super) fn rule(&self) -> &'static str {
        match self.kind {
            MiddlewareKind::Model => MODEL_CALLS,
            MiddlewareKind::Tool { .. } => TOOL_CALLS,
        }
    }

    /// Calls of the thread and of the run, with their limits.
    pub(super) fn readings(&self) -> impl Iterator<Item = RuleReading> + use<> {
        let rule = self.rule();
        let limits =
            [("calls of the thread", self.thread, self.thread_limit), ("calls of the run", self.run, self.run_limit)];
        limits
            .into_iter()
            .filter_map(move |(what, count, limit)| Some(reading(rule, what, count as f64, limit? as f64)))
    }

    pub(super) fn new_run(&mut self) {
        self.run = 0;
    }

    /// The hook before the model; `None` if this middleware has none.
    pub(super) fn before_model(&self, acts: &mut ActionSink<'_, '_>) -> Option<HookOutcome> {
        if self.kind != MiddlewareKind::Model {
            return None;
        }
        let mut hit = self.limits(self.thread, self.run);
        hit.retain(|(_, count, limit)| count >= limit);
        let Some(&(_, count, limit)) = hit.first() else { return Some(HookOutcome::GoesOn) };
        let named: Vec<String> =
            hit.iter().map(|(name, count, limit)| format!("{name} limit ({count}/{limit})")).collect();
        let words = format!("Model call limits exceeded: {}", named.join(", "));
        let (action, code, outcome) = match self.exit {
            ExitBehavior::Error => (Action::Fail, "ModelCallLimitExceededError", HookOutcome::Raised),
            ExitBehavior::End | ExitBehavior::Continue => (Action::Stop, MODEL_CALLS, HookOutcome::Ended),
        };
        acts.act(action, MODEL_CALLS).code(code).detail(words).evidence(count as f64, limit as f64);
        Some(outcome)
    }

    /// The hook after the model. Indices of calls that will not run are added to `refused`.
    pub(super) fn after_model(
        &mut self,
        reply: &Message,
        refused: &mut Vec<usize>,
        acts: &mut ActionSink<'_, '_>,
    ) -> HookOutcome {
        let MiddlewareKind::Tool { name } = &self.kind else {
            self.thread += 1;
            self.run += 1;
            return HookOutcome::GoesOn;
        };
        let (mut thread, mut run) = (self.thread, self.run);
        let mut blocked = Vec::new();
        for (place, call) in reply.tool_calls.iter().enumerate() {
            if name.as_deref().is_some_and(|name| *name != *call.name) {
                continue;
            }
            let over = |count: i64, limit: Option<i64>| limit.is_some_and(|limit| count + 1 > limit);
            if over(thread, self.thread_limit) || over(run, self.run_limit) {
                blocked.push(place);
            } else {
                thread += 1;
                run += 1;
            }
        }
        let n_blocked = i64::try_from(blocked.len()).unwrap_or(i64::MAX);
        run = run.saturating_add(n_blocked);
        if blocked.is_empty() {
            (self.thread, self.run) = (thread, run);
            return HookOutcome::GoesOn;
        }
        let words = self.words(thread.saturating_add(n_blocked), run);
        let evidence = self.evidence(thread.saturating_add(n_blocked), run);
        if self.exit == ExitBehavior::Error {
            let act = acts.act(Action::Fail, TOOL_CALLS).code("ToolCallLimitExceededError").detail(words);
            act.evidence(evidence.0, evidence.1);
            return HookOutcome::Raised;
        }
        self.run = run;
        self.deny(reply, &blocked, evidence, acts);
        refused.extend(&blocked);
        if self.exit == ExitBehavior::Continue {
            self.thread = thread;
            return HookOutcome::GoesOn;
        }
        for (place, call) in reply.tool_calls.iter().enumerate().filter(|(place, _)| !blocked.contains(place)) {
            acts.act(Action::Deny, TOOL_CALLS).code(TOOL_CALLS).detail(NOT_RUN).call(call.id.as_deref());
            refused.push(place);
        }
        acts.act(Action::Stop, TOOL_CALLS).code(TOOL_CALLS).detail(words).evidence(evidence.0, evidence.1);
        HookOutcome::Ended
    }

    fn deny(&self, reply: &Message, blocked: &[usize], evidence: (f64, f64), acts: &mut ActionSink<'_, '_>) {
        let words = match &self.kind {
            MiddlewareKind::Tool { name: Some(name) } if !name.is_empty() => {
                format!("Tool call limit exceeded. Do not call '{name}' again.")
            }
            _ => "Tool call limit exceeded. Do not make additional tool calls.".to_owned(),
        };
        for call in blocked.iter().filter_map(|place| reply.tool_calls.get(*place)) {
            let act = acts.act(Action::Deny, TOOL_CALLS).code(TOOL_CALLS).detail(words.as_str());
            act.call(call.id.as_deref()).evidence(evidence.0, evidence.1);
        }
    }

    /// The limits that are set: what they limit, the count, the limit.
    fn limits(&self, thread: i64, run: i64) -> Vec<(&'static str, i64, i64)> {
        let limits = [("thread", thread, self.thread_limit), ("run", run, self.run_limit)];
        limits.into_iter().filter_map(|(name, count, limit)| Some((name, count, limit?))).collect()
    }

    fn exceeded(&self, thread: i64, run: i64) -> Vec<(&'static str, i64, i64)> {
        let mut exceeded = self.limits(thread, run);
        exceeded.retain(|(_, count, limit)| count > limit);
        exceeded
    }

    fn evidence(&self, thread: i64, run: i64) -> (f64, f64) {
        match self.exceeded(thread, run).first() {
            Some((_, count, limit)) => (*count as f64, *limit as f64),
            None => (run as f64, run as f64),
        }
    }

    /// The message for the user, with counts as if the refused calls had run.
    fn words(&self, thread: i64, run: i64) -> String {
        let tool = match &self.kind {
            MiddlewareKind::Tool { name: Some(name) } if !name.is_empty() => format!("'{name}' tool"),
            _ => "Tool".to_owned(),
        };
        let limits: Vec<String> = self
            .exceeded(thread, run)
            .into_iter()
            .map(|(name, count, limit)| format!("{name} limit exceeded ({count}/{limit} calls)"))
            .collect();
        format!("{tool} call limit reached: {}.", limits.join(" and "))
    }
}

fn limit(table: &Map<String, Value>, name: &str) -> Result<Option<i64>, SettingsError> {
    match table.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_i64().map(Some).ok_or_else(|| wrong_kind(name, "a whole number", value)),
    }
}

/// What happens at the limit; the two kinds have different defaults and refusal messages.
fn exit(kind: &MiddlewareKind, value: Option<&Value>) -> Result<ExitBehavior, SettingsError> {
    let word = match value {
        None => return Ok(if *kind == MiddlewareKind::Model { ExitBehavior::End } else { ExitBehavior::Continue }),
        Some(value) => value.as_str(),
    };
    match (kind, word) {
        (_, Some("end")) => Ok(ExitBehavior::End),
        (_, Some("error")) => Ok(ExitBehavior::Error),
        (MiddlewareKind::Tool { .. }, Some("continue")) => Ok(ExitBehavior::Continue),
        (MiddlewareKind::Model, word) => {
            let word = match word {
                Some(word) => word.to_owned(),
                None => python::repr(value.unwrap_or(&Value::Null)),
            };
            let words = format!("Invalid exit_behavior: {word}. Must be 'end' or 'error'");
            Err(SettingsError::refused("ValueError", words))
        }
        (MiddlewareKind::Tool { .. }, _) => {
            let word = python::repr(value.unwrap_or(&Value::Null));
            let words = format!("Invalid exit_behavior: {word}. Must be one of ('continue', 'error', 'end')");
            Err(SettingsError::refused("ValueError", words))
        }
    }
}
