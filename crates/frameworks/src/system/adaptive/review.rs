//! The reviewer of the published workflow: how its verdict is read and when it ends the iterations.

use serde_json::Value;

use crate::python::{self, Strictness};

/// The quality, in [0, 1], from which a solution can be final.
pub const QUALITY: f64 = 0.7;
/// The thoroughness, in [0, 1], from which a partial solution can be final.
pub const THOROUGHNESS: f64 = 0.6;

/// What `completion_state` may be.
const STATES: [&str; 6] = ["blocked", "in_progress", "partial", "complete", "excellent", "unknown"];

/// A truth value as the original's model takes it: 0, 1, or a word for one of them.
fn truth(value: &Value) -> Option<bool> {
    let word = match value {
        Value::Bool(flag) => return Some(*flag),
        Value::Number(number) => {
            let number = number.as_f64()?;
            return if [0.0, 1.0].contains(&number) { Some(number != 0.0) } else { None };
        }
        Value::String(word) => word.to_ascii_lowercase(),
        _ => return None,
    };
    match word.as_str() {
        "1" | "true" | "t" | "yes" | "y" | "on" => Some(true),
        "0" | "false" | "f" | "no" | "n" | "off" => Some(false),
        _ => None,
    }
}

/// A number as the original's model takes it: also a truth value, or a text of it, with single underscores within.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            let text = text.trim();
            let has_loose = text.starts_with('_') || text.ends_with('_') || text.contains("__");
            if has_loose { None } else { text.replace('_', "").parse().ok() }
        }
        _ => None,
    }
}

/// A reviewer's verdict; absent fields get the original's defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewerVerdict {
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

impl ReviewerVerdict {
    /// Reads a verdict from JSON; `None` if it is not one. As the original's model: three fields must be there, numbers and
    /// truth values may be written as texts, scores lie in [0, 1].
    pub fn read(value: &Value) -> Option<Self> {
        let map = python::dict(value)?;
        let flag = |key: &str, default: bool| if let Some(flag) = map.get(key) { truth(flag) } else { Some(default) };
        let score = |key: &str| {
            let score = if let Some(score) = map.get(key) { number(score)? } else { 0.0 };
            if (0.0..=1.0).contains(&score) { Some(score) } else { None }
        };
        let state = if let Some(state) = map.get("completion_state") { state.as_str()? } else { "unknown" };
        let notes = match map.get("improvement_notes") {
            None | Some(Value::Null) => "",
            Some(notes) => notes.as_str()?,
        };
        // What is read, and only has to be right.
        map.get("summary")?.as_str()?;
        let metric = map.get("metric_value")?;
        if !metric.is_null() {
            number(metric)?;
        }
        flag("lower_is_better", true)?;
        if !STATES.contains(&state) {
            return None;
        }
        Some(Self {
            is_buggy: truth(map.get("is_buggy")?)?,
            should_continue: flag("should_continue", true)?,
            completion_state: state.to_owned(),
            quality: score("quality_score")?,
            thoroughness: score("thoroughness_score")?,
            notes: if notes.is_empty() { None } else { Some(notes.to_owned()) },
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

    /// Reads a recorded reply: JSON and nothing else. In a code fence it is a reviewer that failed, as for the original.
    pub fn read_reply(reply: &str) -> Option<Self> {
        Self::read(&python::loads(reply, Strictness::Strict)?)
    }

    /// Whether the verdict is final, so that one last call asks for the conclusion; and what the workflow logs.
    pub fn verdict(&self) -> (bool, String) {
        if self.is_buggy {
            let log = "Reviewer flagged issues; continuing iterations for improvements.";
            return (false, log.to_owned());
        }
        if self.should_continue {
            let notes = self.notes.as_deref().unwrap_or("n/a");
            let log = format!("Reviewer recommends continuing to improve quality or depth. Notes: {notes}");
            return (false, log);
        }
        let (quality_ok, thoroughness_ok) = (self.quality >= QUALITY, self.thoroughness >= THOROUGHNESS);
        let state = self.completion_state.as_str();
        let is_final = match state {
            "complete" | "excellent" => quality_ok,
            "partial" => quality_ok && thoroughness_ok,
            _ => false,
        };
        if is_final {
            return (true, "Reviewer indicates task is complete. Generating final conclusion.".to_owned());
        }
        let python = |flag: bool| if flag { "True" } else { "False" };
        let log = format!(
            "Reviewer does not yet consider the solution finish-worthy \
             (completion_state={state}, quality_ok={}, thoroughness_ok={}).",
            python(quality_ok),
            python(thoroughness_ok)
        );
        (false, log)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(key: &str, value: Value) -> Option<ReviewerVerdict> {
        let mut verdict = json!({"is_buggy": false, "summary": "s", "metric_value": null});
        verdict[key] = value;
        ReviewerVerdict::read(&verdict)
    }

    #[test]
    fn what_is_no_verdict_is_not_read() {
        assert!(ReviewerVerdict::read(&json!({"is_buggy": false, "summary": "s"})).is_none(), "a field is missing");
        assert!(with("quality_score", json!(1.5)).is_none());
        assert!(with("completion_state", json!("Complete")).is_none());
        assert!(with("summary", Value::Null).is_none());
        assert!(with("improvement_notes", json!(true)).is_none());
        let fenced = "```json\n{\"is_buggy\":false,\"summary\":\"s\",\"metric_value\":null}\n```";
        assert!(ReviewerVerdict::read_reply(fenced).is_none());
        assert!(ReviewerVerdict::read_reply(fenced.trim_matches(|c: char| c.is_alphabetic() || c == '`')).is_some());
    }

    #[test]
    fn texts_are_taken_for_numbers_and_truth_values() {
        for (value, read) in [
            (json!("off"), Some(false)),
            (json!("Y"), Some(true)),
            (json!(1.0), Some(true)),
            (json!(2), None),
            (json!(" true"), None),
        ] {
            assert_eq!(with("should_continue", value).map(|review| review.should_continue), read);
        }
        for (value, read) in [
            (json!(" 0_1. "), Some(1.0)),
            (json!(true), Some(1.0)),
            (json!("80%"), None),
            (json!("nan"), None),
            (json!("0__1"), None),
        ] {
            assert_eq!(with("quality_score", value).map(|review| review.quality), read);
        }
    }
}
