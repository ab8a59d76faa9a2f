//! Answers with a number: the share of the last ten calls that had been asked for before. `cargo new score`,
//! `cargo add serde_json`, and then limits are found for it here:
//!   whenstop tune RUNS --guard mine=target/release/score --signal guard:mine.score --limits 0.2..0.9
use serde_json::{Value, json};
use std::io::{BufRead, Write};

fn main() -> std::io::Result<()> {
    let mut asked: Vec<([Value; 2], bool)> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let event: Value = serde_json::from_str(&line?)?;
        let mut answer = json!({"id": event["id"], "answer": "continue"});
        match event["type"].as_str() {
            Some("hello") => answer = json!({"id": "hello", "protocol": 1, "answers": ["reading"], "rules": ["score"]}),
            Some("run") => asked.clear(),
            Some("message") if event["role"] == "assistant" && event["lane"].is_null() => {
                for call in event["tool_calls"].as_array().into_iter().flatten() {
                    let same = [&call["name"], &call["arguments"]].map(Value::clone);
                    let is_known = asked.iter().any(|(before, _)| *before == same);
                    asked.push((same, is_known));
                }
            }
            Some("point") => {
                let repeated = asked.iter().rev().take(10).filter(|(_, is_known)| *is_known).count();
                answer = json!({"id": event["id"], "answer": "reading", "reading": repeated as f64 / 10.0});
            }
            _ => {}
        }
        event["id"].is_string().then(|| writeln!(std::io::stdout(), "{answer}")).transpose()?;
    }
    Ok(())
}
