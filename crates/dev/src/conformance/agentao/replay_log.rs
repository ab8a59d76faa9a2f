//! Summarizes agentao's replay log as its golden table does.

use serde_json::{Value, json};

/// A turn's summary while the log is being read.
#[derive(Default)]
struct TurnSummary {
    id: Value,
    llm_calls: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    tools: Vec<Value>,
    user: Value,
    injected: Vec<Value>,
    end: Value,
    /// Whether the turn's first delta, which contains the user's own message, has been read.
    seen_user: bool,
}

/// Summarizes the log in `input.recording` in the form the table expects.
pub(super) fn summary(input: &Value) -> Result<Value, String> {
    let log = input["recording"].as_str().ok_or("no recording: the log file is not here")?;
    let mut schema_version = Value::Null;
    let mut events = 0_u64;
    let mut turns: Vec<TurnSummary> = Vec::new();
    // A log whose last line is cut off is still valid.
    for event in log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        events += 1;
        let payload = event.get("payload").unwrap_or(&Value::Null);
        match event["kind"].as_str() {
            Some("replay_header") => schema_version = field(payload, "schema_version"),
            Some("turn_started") => turns.push(TurnSummary { id: field(&event, "turn_id"), ..TurnSummary::default() }),
            Some(kind) => {
                if let Some(turn) = turns.last_mut().filter(|turn| event.get("turn_id") == Some(&turn.id)) {
                    turn.take_in(kind, payload);
                }
            }
            None => {}
        }
    }
    let turns: Vec<Value> = turns.into_iter().map(TurnSummary::into_json).collect();
    Ok(json!({ "schema_version": schema_version, "events": events, "turns": turns }))
}

fn field(value: &Value, name: &str) -> Value {
    value.get(name).cloned().unwrap_or(Value::Null)
}

impl TurnSummary {
    fn take_in(&mut self, kind: &str, payload: &Value) {
        let number = |name: &str| payload[name].as_u64().unwrap_or(0);
        match kind {
            "user_message" => self.user = field(payload, "content"),
            "llm_call_started" => self.llm_calls += 1,
            "llm_call_completed" => {
                self.prompt_tokens += number("prompt_tokens");
                self.completion_tokens += number("completion_tokens");
            }
            "llm_call_delta" => self.read_delta(payload),
            "tool_lifecycle" if payload["phase"].as_str() != Some("started") => {
                let fields = ["tool_name", "phase", "outcome"].map(|name| field(payload, name));
                self.tools.push(json!(fields));
            }
            "turn_completed" => self.end = payload.clone(),
            _ => {}
        }
    }

    /// User messages that a delta adds after the turn's own one were injected.
    fn read_delta(&mut self, payload: &Value) {
        let added = payload["added_messages"].as_array().into_iter().flatten();
        for message in added.filter(|message| message["role"] == "user") {
            let content = field(message, "content");
            let opens_turn = content.as_str().unwrap_or_default().starts_with("<system-reminder>");
            if opens_turn && !self.seen_user {
                self.seen_user = true;
            } else {
                self.injected.push(content);
            }
        }
    }

    fn into_json(self) -> Value {
        json!({
            "turn_id": self.id,
            "llm_calls": self.llm_calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "tools": self.tools,
            "user": self.user,
            "final_text": field(&self.end, "final_text"),
            "status": field(&self.end, "status"),
            "incomplete_reason": field(&self.end, "incomplete_reason"),
            "tool_count": field(&self.end, "tool_count"),
            "injected_user_messages": self.injected,
        })
    }
}
