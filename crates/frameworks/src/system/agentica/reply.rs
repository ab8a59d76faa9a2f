//! Reads a judge's reply as agentica does, tolerating code fences, surrounding prose and the phrasing of weak models.

use serde_json::Value;

use crate::python::{self, Strictness, is_true, loads, strip};

/// A judge's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JudgeAnswer {
    /// The goal is reached.
    Done(String),
    /// The goal is not reached.
    Continue(String),
    /// The reply cannot be read.
    Unreadable(String),
    /// The call failed, which counts neither as a verdict nor as an unreadable reply.
    Unavailable(String),
}

impl JudgeAnswer {
    /// agentica's text for the reason.
    pub fn reason(&self) -> &str {
        match self {
            Self::Done(reason) | Self::Continue(reason) | Self::Unreadable(reason) | Self::Unavailable(reason) => {
                reason
            }
        }
    }
}

/// How much of an unreadable reply is quoted, in characters.
const QUOTED: usize = 120;

/// Reads a reply.
pub fn read(raw: &str) -> JudgeAnswer {
    if raw.is_empty() {
        return JudgeAnswer::Unreadable("empty judge response".to_owned());
    }
    let candidate = unfenced(strip(raw));
    let Some(payload) = loads(candidate, Strictness::Strict).or_else(|| first_flat_object(candidate)) else {
        let quoted: String = candidate.chars().take(QUOTED).collect();
        return JudgeAnswer::Unreadable(format!("unparseable judge output: {quoted}"));
    };
    let Some(done) = python::dict(&payload).and_then(|payload| payload.get("done")) else {
        return JudgeAnswer::Unreadable("judge JSON missing 'done' field".to_owned());
    };
    let done = is_yes(done);
    let reason = payload.get("reason").map(python::text).unwrap_or_default();
    match (strip(&reason), done) {
        ("", true) => JudgeAnswer::Done("done".to_owned()),
        ("", false) => JudgeAnswer::Continue("continue".to_owned()),
        (reason, true) => JudgeAnswer::Done(reason.to_owned()),
        (reason, false) => JudgeAnswer::Continue(reason.to_owned()),
    }
}

/// Removes a code fence at the start and one at the end, independently of each other.
fn unfenced(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```") else { return text };
    let inner = inner.strip_prefix("json").unwrap_or(inner).trim_start_matches(python::is_space);
    // Python's `$` also matches before a final line break.
    let closed = inner.strip_suffix('\n').unwrap_or(inner).strip_suffix("```");
    if let Some(closed) = closed { closed.trim_end_matches(python::is_space) } else { inner }
}

/// The first `{…}` without nested braces.
fn first_flat_object(text: &str) -> Option<Value> {
    let mut rest = text;
    loop {
        let (_, from) = rest.split_at(rest.find('{')?);
        let inner = from.get(1..)?;
        let length = inner.find(['{', '}'])?;
        if inner.as_bytes().get(length) == Some(&b'}') {
            return loads(from.get(..length + 2)?, Strictness::Strict);
        }
        rest = inner;
    }
}

/// Whether the value means yes in the words that weak judges use; any other text means no.
fn is_yes(done: &Value) -> bool {
    match done {
        Value::String(word) => ["true", "yes", "1", "done", "y"].contains(&python::lower(strip(word)).as_str()),
        other => is_true(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_as_far_as_agentica_reads_them() {
        let cases = [
            (r#"{"done": "Yes ", "reason": " ok "}"#, JudgeAnswer::Done("ok".into())),
            ("```json\n{\"done\": 1}\n```", JudgeAnswer::Done("done".into())),
            ("so: {\"done\": false} and {\"done\": true}", JudgeAnswer::Continue("continue".into())),
            (r#"{"done": "complete"}"#, JudgeAnswer::Continue("continue".into())),
            (r#"{"done": true, "reason": ["a", null]}"#, JudgeAnswer::Done("['a', None]".into())),
            (r#"{"Done": true}"#, JudgeAnswer::Unreadable("judge JSON missing 'done' field".into())),
            ("", JudgeAnswer::Unreadable("empty judge response".into())),
            ("{done: true}", JudgeAnswer::Unreadable("unparseable judge output: {done: true}".into())),
        ];
        for (raw, verdict) in cases {
            assert_eq!(read(raw), verdict, "{raw}");
        }
    }
}
