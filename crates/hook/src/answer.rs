//! What the hook answers: a JSON object in the hosts' terms.

use serde_json::{Value, json};

use super::payload::PayloadEvent;
use crate::decision::Decision;

/// Nothing: the agent goes on.
pub fn nothing() -> Value {
    json!({})
}

/// The agent ends its turn.
pub fn stop(reason: &str) -> Value {
    json!({ "continue": false, "stopReason": reason })
}

/// A sentence to the model.
pub fn nudge(text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": PayloadEvent::PostToolBatch.name(), "additionalContext": text } })
}

/// A question to the person.
pub fn ask(reason: &str) -> Value {
    json!({ "hookSpecificOutput": {
        "hookEventName": PayloadEvent::PreToolUse.name(),
        "permissionDecision": "ask",
        "permissionDecisionReason": reason,
    } })
}

/// The answer with a sentence to the person.
pub fn saying(mut answer: Value, text: &str) -> Value {
    answer["systemMessage"] = Value::from(text);
    answer
}

/// A decision in words: `whenstop: steps is 100 in this round (limit 100)`.
pub fn words(decision: &Decision) -> String {
    let number = |value: f64| {
        let rounded = (value * 100.0).round() / 100.0;
        rounded.to_string()
    };
    let numbers = match (decision.evidence.observed, decision.evidence.limit) {
        (Some(observed), Some(limit)) => format!(": {} (limit {})", number(observed), number(limit)),
        _ => String::new(),
    };
    let detail = decision.detail.as_ref().map(|detail| format!("; {detail}")).unwrap_or_default();
    format!("whenstop: {}{numbers}{detail}", decision.rule)
}
