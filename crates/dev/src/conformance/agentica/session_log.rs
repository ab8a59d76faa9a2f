//! Summarizes agentica's session log as its golden table does.

use serde_json::{Value, json};

/// What the log says when loaded, and what it said as it grew.
#[derive(Default)]
struct SessionLogSummary {
    goal: Value,
    /// The roles of the messages that a resumed session is shown.
    roles: Vec<&'static str>,
    checkpoints: Vec<Value>,
    /// User rows since the last turn was closed.
    trailing: Vec<Value>,
}

/// Reads the log in `input.recording` into the summary the table expects.
pub(super) fn summary(input: &Value) -> Result<Value, String> {
    let text = input["recording"].as_str().ok_or("no recording: the log file is not here")?;
    let mut log = SessionLogSummary::default();
    // A corrupt line is skipped, as in the package.
    for row in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        log.take_in(&row);
    }
    let field = |name: &str| log.goal.get(name).cloned().unwrap_or(Value::Null);
    let checkpoints: Vec<&Value> = log.checkpoints.iter().chain(&log.trailing).collect();
    Ok(json!({
        "goal_status": field("status"),
        "goal_turns_used": field("turns_used"),
        "goal_tokens_used": field("tokens_used"),
        "replayed_roles": log.roles,
        "checkpoints": checkpoints,
    }))
}

impl SessionLogSummary {
    fn take_in(&mut self, row: &Value) {
        let is_replayed = row.get("replay") != Some(&Value::Bool(false));
        match row["type"].as_str() {
            Some("goal") => self.take_goal(row.get("goal").cloned().unwrap_or(Value::Null)),
            Some("user") if is_replayed => {
                self.roles.push("user");
                let checkpoint = self.checkpoint("user");
                self.trailing.push(checkpoint);
            }
            Some("assistant") if is_replayed => self.roles.push("assistant"),
            Some("system") if is_replayed => self.roles.push("system"),
            Some("tool") if is_replayed => self.roles.push("tool"),
            Some("compact_boundary") => {
                // The summary is shown as a user message, followed by an acknowledgement.
                self.roles = vec!["user", "assistant"];
                self.close("compact_boundary");
            }
            _ => {}
        }
    }

    /// A goal row closes a turn if its number of turns has changed; other rows are changes in between.
    fn take_goal(&mut self, goal: Value) {
        let before = self.goal["turns_used"].as_i64();
        let now = goal["turns_used"].as_i64();
        self.goal = goal;
        if now == Some(0) && before != Some(0) {
            self.close("set");
        } else if now != before {
            self.close("turn");
        }
    }

    fn checkpoint(&self, after: &str) -> Value {
        let status = self.goal.get("status").cloned().unwrap_or(Value::Null);
        json!({ "after": after, "load_goal_status": status, "messages": self.roles.len() })
    }

    fn close(&mut self, after: &str) {
        let checkpoint = self.checkpoint(after);
        self.checkpoints.push(checkpoint);
        self.trailing.clear();
    }
}
