//! A made session of Claude Code's: parallel calls, repeats, errors of every kind, several prompts.

use serde_json::{Value, json};
use std::fmt::Write as _;

/// The lines of a transcript, as they are added.
#[derive(Default)]
struct Lines {
    text: String,
    n: u64,
    seconds: u64,
}

impl Lines {
    fn add(&mut self, kind: &str, message: &Value) {
        self.n += 1;
        self.seconds += 7;
        let (minutes, seconds) = (self.seconds / 60, self.seconds % 60);
        let line = json!({
            "type": kind, "uuid": format!("line-{}", self.n), "sessionId": "made", "version": "2.1.240",
            "isSidechain": false, "timestamp": format!("2026-11-23T10:{minutes:02}:{seconds:02}.000Z"),
            "message": message,
        });
        let _ = writeln!(self.text, "{line}");
    }

    /// One reply: a line per call, each with the tokens known by then, and then the results.
    fn step(&mut self, calls: &[(&str, &str, bool)]) {
        let id = format!("msg-{}", self.n);
        for (nth, (command, _, _)) in calls.iter().enumerate() {
            let output = 10 + nth as u64 * 90;
            let call = json!({ "type": "tool_use", "id": format!("{id}-{nth}"), "name": "Bash", "input": { "command": command } });
            self.add("assistant", &json!({
                "id": id, "role": "assistant", "model": "claude-opus-4-8", "content": [call],
                "usage": { "input_tokens": 3, "cache_read_input_tokens": 800, "cache_creation_input_tokens": 20, "output_tokens": output },
            }));
        }
        for (nth, (_, result, failed)) in calls.iter().enumerate() {
            let mut block = json!({ "type": "tool_result", "tool_use_id": format!("{id}-{nth}"), "content": result });
            if *failed {
                block["is_error"] = json!(true);
            }
            self.add("user", &json!({ "role": "user", "content": [block] }));
        }
    }

    fn reply(&mut self, text: &str) {
        let id = format!("msg-{}", self.n);
        self.add("assistant", &json!({
            "id": id, "role": "assistant", "model": "claude-opus-4-8", "content": [{ "type": "text", "text": text }],
            "usage": { "input_tokens": 900, "output_tokens": 40 },
        }));
    }

    fn prompt(&mut self, text: &str) {
        self.add("user", &json!({ "role": "user", "content": text }));
    }
}

pub(super) fn session() -> String {
    let mut lines = Lines::default();
    for round in 0..4_usize {
        lines.prompt(&format!("prompt {round}"));
        for _ in 0..3 + round {
            lines.step(&[("make test", "FAILED (3)", true)]);
        }
        lines.step(&[("ls", "a\nb", false), ("cat a", "alpha", false), ("cat b", "beta", false)]);
        for nth in 0..round * 2 {
            let refused = "<tool_use_error>InputValidationError: command is required</tool_use_error>";
            lines.step(&[("ls", if nth % 2 == 0 { "a\nb" } else { "a" }, false), ("", refused, true)]);
        }
        lines.reply("done");
    }
    lines.text
}
