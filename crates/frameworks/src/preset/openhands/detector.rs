//! The stuck detector: a window of events and four patterns in it.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::super::frame::native;
use super::{ACTION_ERROR, ACTION_OBSERVATION, ALTERNATING, MONOLOGUE};
use crate::python;
use crate::transcript::{Message, ToolCall};

/// How many of the latest events the detector reads.
const WINDOW: usize = 20;

#[derive(Clone, Copy, Debug)]
pub(super) struct StuckThresholds {
    pub(super) action_observation: usize,
    pub(super) action_error: usize,
    pub(super) monologue: usize,
    pub(super) alternating_pattern: usize,
}

/// An event as the detector sees it. `seq` is its position in the run, so that the event equals only itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DetectorEvent {
    Action(Deed),
    Observation { tool: String, content: String, failed: bool },
    AgentError { text: String, seq: usize },
    Rejection { seq: usize },
    AgentMessage,
    EnvironmentMessage,
    Condensation,
}

/// An action; two are equal if thought, tool and arguments are equal.
#[derive(Clone, Debug)]
pub(super) struct Deed {
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

impl DetectorEvent {
    /// Equality as the detector defines it.
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
pub(super) struct StuckDetector {
    thresholds: StuckThresholds,
    window: VecDeque<DetectorEvent>,
    seq: usize,
    nudged: Option<usize>,
}

impl StuckDetector {
    pub(super) fn new(thresholds: StuckThresholds) -> Self {
        Self { thresholds, window: VecDeque::new(), seq: 0, nudged: None }
    }

    pub(super) fn action_error(&self) -> usize {
        self.thresholds.action_error
    }

    /// A user message: earlier events are no longer considered.
    pub(super) fn restart(&mut self) {
        self.seq += 1;
        self.window.clear();
    }

    pub(super) fn push(&mut self, seen: DetectorEvent) {
        self.seq += 1;
        self.window.push_back(seen);
        if self.window.len() > WINDOW {
            self.window.pop_front();
        }
    }

    pub(super) fn result(&mut self, message: &Message) {
        if native::flag(message, "invalid_call") {
            self.forget_arguments(message.tool_call_id.as_deref());
        }
        let content = message.text().into_owned();
        let failed = message.is_error == Some(true);
        let native = native::word(message, "native");
        let seen = match native.as_deref() {
            Some("UserRejectObservation") => DetectorEvent::Rejection { seq: self.seq },
            Some("ObservationEvent") => self.observation(message, content, failed),
            _ if failed => DetectorEvent::AgentError { text: content, seq: self.seq },
            _ => self.observation(message, content, failed),
        };
        self.push(seen);
    }

    /// A result as an observation, which takes its tool's name from the call if the result has none.
    fn observation(&self, message: &Message, content: String, failed: bool) -> DetectorEvent {
        let tool = match (&message.name, message.tool_call_id.as_deref()) {
            (Some(name), _) => name.to_string(),
            (None, Some(id)) => self.called_tool(id).unwrap_or_default(),
            (None, None) => String::new(),
        };
        DetectorEvent::Observation { tool, content, failed }
    }

    /// The tool of the latest call with this id.
    fn called_tool(&self, id: &str) -> Option<String> {
        self.window.iter().rev().find_map(|seen| match seen {
            DetectorEvent::Action(deed) if deed.call_id.as_deref() == Some(id) => Some(deed.tool.clone()),
            _ => None,
        })
    }

    /// A call that could not be made is recorded with an empty action.
    fn forget_arguments(&mut self, call_id: Option<&str>) {
        for seen in self.window.iter_mut().rev() {
            if let DetectorEvent::Action(deed) = seen
                && (call_id.is_none() || deed.call_id.as_deref() == call_id)
            {
                return deed.arguments.clear();
            }
        }
    }

    /// The last `n` actions and observations, the latest first.
    fn latest(&self, n: usize, rejections: bool) -> (Vec<&DetectorEvent>, Vec<&DetectorEvent>) {
        let actions =
            self.window.iter().rev().filter(|seen| matches!(seen, DetectorEvent::Action(_))).take(n).collect();
        let observations = self
            .window
            .iter()
            .rev()
            .filter(|seen| seen.is_observation() && (rejections || !matches!(seen, DetectorEvent::Rejection { .. })))
            .take(n)
            .collect();
        (actions, observations)
    }

    /// The number of trailing pairs of the same action and an agent error.
    fn error_streak(&self) -> usize {
        let (actions, observations) = self.latest(self.thresholds.action_error.saturating_add(1), true);
        let Some(reference) = actions.first() else { return 0 };
        let pairs = actions.iter().zip(&observations);
        pairs
            .take_while(|(action, seen)| reference.same(action) && matches!(seen, DetectorEvent::AgentError { .. }))
            .count()
    }

    /// The pattern in which the agent is stuck, and its threshold.
    pub(super) fn pattern(&self) -> Option<(&'static str, usize)> {
        let limits = &self.thresholds;
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
        let alternate = self.window.len() >= n && alternates(&actions, n) && alternates(&observations, n);
        if alternate { Some((ALTERNATING, n)) } else { None }
    }

    /// The number of agent messages at the end of the window.
    fn monologue(&self) -> usize {
        self.window
            .iter()
            .rev()
            .filter(|seen| !matches!(seen, DetectorEvent::EnvironmentMessage | DetectorEvent::Condensation))
            .take_while(|seen| matches!(seen, DetectorEvent::AgentMessage))
            .count()
    }

    /// The text of the nudge, given once per error.
    pub(super) fn nudge(&mut self) -> Option<String> {
        let threshold = self.thresholds.action_error;
        if self.error_streak() != threshold {
            return None;
        }
        let (actions, observations) = self.latest(1, true);
        let (Some(DetectorEvent::Action(deed)), Some(DetectorEvent::AgentError { text, seq })) =
            (actions.first(), observations.first())
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
}

fn nudge_words(tool: &str, times: usize, error: &str) -> String {
    format!(
        "You've called `{tool}` with the same arguments {times} times in a row and gotten the same error each time: \
         {error}. Repeating the exact same call again will not work — review the error message and either correct the \
         arguments or try a different approach."
    )
}

/// The call as an action. In the run loop, the argument `summary` is removed, and an argument that equals its schema's
/// default counts as omitted.
pub(super) fn deed(call: &ToolCall, thought: String, in_loop: bool, schema_defaults: &Map<String, Value>) -> Deed {
    let arguments = match call.json_arguments() {
        Some(Value::Object(given)) => {
            let mut map = given.clone();
            if in_loop {
                map.shift_remove("summary");
            }
            map.retain(|name, value| {
                schema_defaults.get(name).is_none_or(|default| python::value_key(default) != python::value_key(value))
            });
            python::value_key(&Value::Object(map))
        }
        _ => python::equality_key(&call.arguments.as_str()),
    };
    Deed { thought, tool: call.name.to_string(), arguments, call_id: call.id.as_deref().map(str::to_owned) }
}

fn full_and_equal(list: &[&DetectorEvent], n: usize) -> bool {
    list.len() >= n && list.iter().all(|seen| list[0].same(seen))
}

fn alternates(list: &[&DetectorEvent], n: usize) -> bool {
    list.len() == n && list.iter().zip(list.iter().skip(2)).all(|(a, b)| a.same(b))
}
