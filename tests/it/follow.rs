//! `whenstop local --follow`: a session file that grows, and what is said of it each time.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// A session of Claude Code's in a folder of its own.
struct Session {
    folder: tempfile::TempDir,
}

impl Session {
    fn new() -> Self {
        let session = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::write(
            session.folder.path().join("stacks.toml"),
            "[[stack]]\nname = \"fuse\"\nany = [{ signal = \"steps\", at_least = 3 }, { signal = \"tokens.total\", at_least = 9000 }]\n",
        )
        .unwrap();
        session
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("sessions/one.jsonl")
    }

    /// Adds this text to the file at once, as an agent does.
    fn write(&self, text: &str) {
        std::fs::create_dir_all(self.path().parent().unwrap()).unwrap();
        OpenOptions::new().create(true).append(true).open(self.path()).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn watch(&self, more: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whenstop"));
        command.args(["local", "--follow", "sessions", "--stacks", "stacks.toml"]).args(more);
        command.current_dir(self.folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

fn line(kind: &str, nth: usize, message: &Value) -> String {
    let line = json!({
        "type": kind, "uuid": format!("u{kind}{nth}"), "sessionId": "one", "version": "2.1.240", "isSidechain": false,
        "timestamp": format!("2026-11-23T10:00:{nth:02}.000Z"), "message": message,
    });
    format!("{line}\n")
}

fn prompt() -> String {
    line("user", 0, &json!({ "role": "user", "content": "go" }))
}

fn step(nth: usize) -> String {
    let id = format!("call-{nth}");
    let call = json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": format!("echo {nth}") } });
    let reply = json!({
        "id": format!("m{nth}"), "role": "assistant", "model": "claude-opus-4-8", "content": [call],
        "usage": { "input_tokens": 1000, "output_tokens": 0 },
    });
    let result = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": "ok" }] });
    line("assistant", nth, &reply) + &line("user", nth, &result)
}

/// The readings of a line, by rule.
fn readings(line: &Value) -> Vec<(&str, f64, f64)> {
    let rule = |rule: &'_ Value| (rule["observed"].as_f64().unwrap(), rule["limit"].as_f64().unwrap());
    let rules = line["rules"].as_array().unwrap().iter();
    rules.map(|one| (one["rule"].as_str().unwrap(), rule(one).0, rule(one).1)).collect()
}

#[test]
fn each_growth_of_a_session_is_a_line_with_its_readings() {
    let session = Session::new();
    session.write(&(prompt() + &step(1)));
    let before = std::fs::read(session.path()).unwrap();
    let mut watching = session.watch(&["--format", "json"]);
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let first = next();
    assert_eq!((&first["session"], &first["round"], &first["steps"]), (&json!("one"), &json!(1), &json!(1)), "{first}");
    assert_eq!(readings(&first), [("steps >= 3", 1.0, 3.0), ("tokens.total >= 9000", 1000.0, 9000.0)]);
    assert_eq!(first["stopped"], json!([]));
    assert_eq!(std::fs::read(session.path()).unwrap(), before, "it only reads");
    // A line that is being written is no step yet.
    let (whole, torn) = (step(2), step(3));
    session.write(&(whole + &torn[..40]));
    assert_eq!(next()["steps"], 2);
    session.write(&torn[40..]);
    let third = next();
    assert_eq!(readings(&third)[0], ("steps >= 3", 3.0, 3.0));
    assert_eq!(third["stopped"], json!([{ "stack": "fuse", "rule": "steps >= 3", "step": 2 }]), "{third}");
    session.write(&(prompt().replace("u0", "u9").replace("user0", "user9") + &step(4)));
    let fourth = next();
    assert_eq!(
        (&fourth["round"], &fourth["steps"]),
        (&json!(2), &json!(1)),
        "counts begin anew with a prompt: {fourth}"
    );
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn one_look_is_a_line_for_people_or_says_that_nothing_grows() {
    let session = Session::new();
    session.write(&(prompt() + &step(1) + &step(2)));
    let output = session.watch(&["--once"]).wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    assert_eq!(said, "claude-code 2.1.240 one: round 1, 2 steps, steps 2/3, tokens.total 2000/9000\n");
    // The readings of a stack that stopped stay at its stop, while the steps go on.
    session.write(&(step(3) + &step(4)));
    let output = session.watch(&["--once"]).wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let stop = "`fuse` stops at step 2 (steps 3/3, tokens.total 3000/9000 there)";
    assert_eq!(said, format!("claude-code 2.1.240 one: round 1, 4 steps, {stop}\n"));
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_hours(1);
    OpenOptions::new().append(true).open(session.path()).unwrap().set_modified(long_ago).unwrap();
    let output = session.watch(&["--once"]).wait_with_output().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no session grew in the last 10 minutes"), "{said}");
}
