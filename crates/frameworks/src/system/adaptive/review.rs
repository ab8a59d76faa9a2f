//! The reviewer of the published workflow: how its verdict is read and when it ends the iterations.

use serde_json::Value;

use crate::python::{self, Strictness};

/// The quality, in [0, 1], from which a solution can be final.
pub const QUALITY: f64 = 0.7;
/// The thoroughness, in [0, 1], from which a partial solution can be final.
pub const THOROUGHNESS: f64 = 0.6;

/// A reviewer's verdict; absent fields get the original's defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// The execution failed or the code has a bug.
    pub is_buggy: bool,
    /// The reviewer recommends another iteration (the default).
    pub should_continue: bool,
    /// How complete the solution is; `unknown` by default.
    pub completion_state: String,
    /// Quality, in [0, 1].
    pub quality: f64,
    /// Thoroughness, in [0, 1].
    pub thoroughness: f64,
    /// Suggested improvements.
    pub notes: Option<String>,
}

/// What a verdict results in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewAction {
    /// One last call, for the conclusion, then the end.
    Finalise,
    /// The iterations continue.
    Continue,
}

impl Review {
    /// Reads a verdict from JSON; `None` if it is not an object.
    pub fn read(value: &Value) -> Option<Self> {
        let map = python::dict(value)?;
        let flag = |key: &str| map.get(key).and_then(Value::as_bool);
        let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
        let score = |key: &str| map.get(key).and_then(Value::as_f64).unwrap_or(0.0);
        Some(Self {
            is_buggy: flag("is_buggy").unwrap_or(false),
            should_continue: flag("should_continue").unwrap_or(true),
            completion_state: text("completion_state").unwrap_or_else(|| "unknown".to_owned()),
            quality: score("quality_score"),
            thoroughness: score("thoroughness_score"),
            notes: text("improvement_notes").filter(|notes| !notes.is_empty()),
        })
    }

    /// The verdict of a simulated reviewer: complete, or continue.
    pub fn simulated(done: bool) -> Self {
        let score = if done { 1.0 } else { 0.0 };
        let state = if done { "complete" } else { "in_progress" };
        Self {
            is_buggy: false,
            should_continue: !done,
            completion_state: state.to_owned(),
            quality: score,
            thoroughness: score,
            notes: None,
        }
    }

    /// Reads a recorded reply: JSON, possibly in a code fence or surrounded by text.
    pub fn read_reply(reply: &str) -> Option<Self> {
        let whole = python::loads(reply, Strictness::Strict);
        let within = || python::loads(reply.get(reply.find('{')?..=reply.rfind('}')?)?, Strictness::Strict);
        Self::read(&whole.or_else(within)?)
    }

    /// Decides on the verdict, and returns what the workflow logs.
    pub fn verdict(&self) -> (ReviewAction, String) {
        if self.is_buggy {
            let log = "Reviewer flagged issues; continuing iterations for improvements.";
            return (ReviewAction::Continue, log.to_owned());
        }
        if self.should_continue {
            let notes = self.notes.as_deref().unwrap_or("n/a");
            let log = format!("Reviewer recommends continuing to improve quality or depth. Notes: {notes}");
            return (ReviewAction::Continue, log);
        }
        let (quality_ok, thoroughness_ok) = (self.quality >= QUALITY, self.thoroughness >= THOROUGHNESS);
        let state = self.completion_state.as_str();
        let is_final = match state {
            "complete" | "excellent" => quality_ok,
            "partial" => quality_ok && thoroughness_ok,
            _ => false,
        };
        if is_final {
            return (
                ReviewAction::Finalise,
                "Reviewer indicates task is complete. Generating final conclusion.".to_owned(),
            );
        }
        let python = |flag: bool| if flag { "True" } else { "False" };
        let log = format!(
            "Reviewer does not yet consider the solution finish-worthy \
             (completion_state={state}, quality_ok={}, thoroughness_ok={}).",
            python(quality_ok),
            python(thoroughness_ok)
        );
        (ReviewAction::Continue, log)
    }
}
