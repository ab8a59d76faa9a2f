//! The standing goal: after each turn, a judge says done, continue or wait.

use serde_json::Value;

use super::super::frame::{Action, ActionSink};
use super::GOAL;
use crate::decision::Evidence;
use crate::python;
use crate::transcript::{Event, Message};

const MAX_TRANSPORT_FAILURES: u32 = 5;
const MAX_PARSE_FAILURES: u32 = 3;

#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct HermesGoal {
    max_turns: i64,
    used: i64,
    parse_failures: u32,
    transport_failures: u32,
    /// What is reported after each turn.
    pub turns: Vec<GoalReport>,
}

/// The judge's verdict, and the goal's status after it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct GoalReport {
    pub verdict: &'static str,
    pub status: &'static str,
    pub should_continue: bool,
}

/// The judge's verdict on a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
enum GoalVerdict {
    Done,
    Continue,
    Wait,
    Unreadable,
    Unreachable,
}

impl HermesGoal {
    pub(super) fn new(max_turns: i64) -> Self {
        Self { max_turns, used: 0, parse_failures: 0, transport_failures: 0, turns: Vec::new() }
    }

    /// A turn ends with the judge's reply; a blank answer is not judged.
    pub(super) fn event(&mut self, event: &Event, acts: &mut ActionSink<'_, '_>) {
        match event {
            Event::Message(message) if is_blank_answer(message) => self.turn(GoalVerdict::Continue, acts),
            Event::Judge(judge) => {
                let verdict = match &judge.reply {
                    Some(reply) => read(&reply.as_str()),
                    None => GoalVerdict::Unreachable,
                };
                self.turn(verdict, acts);
            }
            _ => {}
        }
    }

    fn turn(&mut self, verdict: GoalVerdict, acts: &mut ActionSink<'_, '_>) {
        self.used += 1;
        self.parse_failures = if verdict == GoalVerdict::Unreadable { self.parse_failures + 1 } else { 0 };
        self.transport_failures = if verdict == GoalVerdict::Unreachable { self.transport_failures + 1 } else { 0 };
        let transport = Evidence::new(f64::from(self.transport_failures), f64::from(MAX_TRANSPORT_FAILURES));
        let parse = Evidence::new(f64::from(self.parse_failures), f64::from(MAX_PARSE_FAILURES));
        let turns = Evidence::new(self.used as f64, self.max_turns as f64);
        if verdict == GoalVerdict::Wait {
            self.stop("wait", Evidence::NONE, ("wait", "active"), acts);
        } else if verdict == GoalVerdict::Done {
            self.stop("done", Evidence::NONE, ("done", "done"), acts);
        } else if self.transport_failures >= MAX_TRANSPORT_FAILURES {
            self.stop("judge API unreachable", transport, ("continue", "paused"), acts);
        } else if self.parse_failures >= MAX_PARSE_FAILURES {
            self.stop("judge unparseable", parse, ("continue", "paused"), acts);
        } else if self.used >= self.max_turns {
            self.stop("turn budget exhausted", turns, ("continue", "paused"), acts);
        } else {
            acts.act(Action::Inject, GOAL).code("continuation");
            self.turns.push(GoalReport { verdict: "continue", status: "active", should_continue: true });
        }
    }

    fn stop(
        &mut self,
        code: &'static str,
        evidence: Evidence,
        (verdict, status): (&'static str, &'static str),
        acts: &mut ActionSink<'_, '_>,
    ) {
        acts.act(Action::Stop, GOAL).code(code).decision.evidence = evidence;
        self.turns.push(GoalReport { verdict, status, should_continue: false });
    }
}

fn is_blank_answer(message: &Message) -> bool {
    message.is_step() && message.tool_calls.is_empty() && python::strip(&message.text()).is_empty()
}

/// Reads a judge's reply: JSON, possibly in a code fence or surrounded by prose. Older replies have a field `done`
/// instead.
fn read(reply: &str) -> GoalVerdict {
    let Some(Value::Object(data)) = json_in(reply) else { return GoalVerdict::Unreadable };
    let done = match data.get("done") {
        Some(Value::String(word)) => {
            matches!(python::lower(python::strip(word)).as_str(), "true" | "yes" | "1" | "done")
        }
        Some(value) => python::is_true(value),
        None => false,
    };
    let verdict = match data.get("verdict") {
        Some(Value::String(word)) => python::lower(python::strip(word)),
        _ if done => "done".to_owned(),
        _ => "continue".to_owned(),
    };
    match verdict.as_str() {
        "done" => GoalVerdict::Done,
        "wait" if has_target(&data) => GoalVerdict::Wait,
        _ => GoalVerdict::Continue,
    }
}

/// The whole text as JSON, or else the text from the first `{` to the next `}`.
fn json_in(reply: &str) -> Option<Value> {
    let mut text = python::strip(reply);
    if text.starts_with("```") {
        text = text.trim_matches('`');
        if let Some((_, rest)) = text.split_once('\n') {
            text = rest;
        }
    }
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let from = text.find('{')?;
    let to = from + text[from..].find('}')?;
    serde_json::from_str(&text[from..=to]).ok()
}

/// Whether there is something to wait for: a named session, a process, or a positive number of seconds.
fn has_target(data: &serde_json::Map<String, Value>) -> bool {
    let sessions = ["wait_on_session", "session_id", "wait_session"];
    let session = sessions.iter().filter_map(|key| data.get(*key)).find(|value| python::is_true(value));
    let numbers = ["wait_on_pid", "pid", "wait_pid", "wait_for_seconds", "seconds", "wait_seconds"];
    matches!(session, Some(Value::String(name)) if !python::strip(name).is_empty())
        || numbers.iter().filter_map(|key| python::small_int(data.get(*key)?)).any(|number| number > 0)
}
