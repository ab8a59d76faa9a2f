//! Rows about redacted copies: what must not pass, wherever it stands.

use serde_json::{Value, json};

use super::{check, row};

/// What must not pass, in two spellings.
const SECRET: &str = "hunter2";

/// A run with this line in it.
fn around(line: &Value) -> String {
    let reply = json!({"type": "message", "role": "assistant", "content": "done", "finish_reason": "stop"});
    format!("{}\n{line}\n{reply}\n", json!({"type": "run", "run_id": "r"}))
}

#[test]
fn no_word_of_a_person_passes_wherever_it_stands() {
    let message = |more: Value| {
        let mut message = json!({"type": "message", "role": "assistant", "content": "x"});
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        message
    };
    let call = |name: &str, arguments: Value| {
        message(json!({"tool_calls": [{"id": "1", "name": name, "arguments": arguments}]}))
    };
    let goal = |goal: Value| json!({"type": "note", "kind": "agentica.goal", "body": {"goal": goal}});
    let lines = [
        ("a reply", message(json!({"content": SECRET}))),
        ("a thought", message(json!({"reasoning": SECRET}))),
        (
            "a text of parts",
            message(json!({"content": [{"type": "text", "text": SECRET}, {"type": "image", "source": SECRET}]})),
        ),
        ("a user's name", json!({"type": "message", "role": "user", "name": SECRET, "content": "x"})),
        ("a lane", message(json!({"lane": format!("side:{SECRET}")}))),
        ("an id of a call", message(json!({"tool_calls": [{"id": SECRET, "name": "ls", "arguments": {}}]}))),
        ("an argument", call("ls", json!({"path": SECRET}))),
        ("an argument deep down", call("ls", json!({"path": [{"a": {SECRET: [SECRET]}}]}))),
        ("an argument of another spelling", call("ls", json!("{\"path\":\"\\u0068unter2\"}"))),
        ("an argument that is no JSON", call("ls", json!(format!("{{{SECRET}")))),
        ("a number", call("ls", json!({"phone": 5_551_234_567_u64, "text": SECRET}))),
        ("a command", call(SECRET, json!(format!("\"{SECRET} is it\"")))),
        ("a command as it is", call(SECRET, json!(format!("{SECRET} is it")))),
        ("a tool that is a sentence", call(&format!("ask {SECRET}"), json!({}))),
        ("a reason", message(json!({"finish_reason": SECRET}))),
        ("a native field", message(json!({"native": {"x": SECRET}, "page": {"url": SECRET}}))),
        ("a kind of note", json!({"type": "note", "kind": SECRET, "body": {}})),
        ("the body of a note", json!({"type": "note", "kind": "codex.error", "body": {"x": SECRET}})),
        ("a state of a goal", goal(json!({"status": "hunterx"}))),
        ("a verdict on a goal", goal(json!({"last_verdict": "hunterx", "last_reason": SECRET}))),
        ("a state of an experiment", json!({"type": "metrics", "status": SECRET, "values": {"x": 1}})),
        ("the name of an experiment", json!({"type": "metrics", "experiment": SECRET, "values": {"x": 1}})),
        ("a plan", json!({"type": "metrics", "plan": [{"id": 1, "title": SECRET}]})),
        ("what a judge says", json!({"type": "judge", "reply": SECRET, "error": SECRET})),
        ("a placeholder with more", message(json!({"content": format!("[text 1, 5 bytes] {SECRET}")}))),
        (
            "a placeholder with marks",
            message(json!({"content": format!("[text 1, 5 bytes]\nError\n{SECRET}\n\n[closing]\n[end]")})),
        ),
    ];
    let mut rows = Vec::new();
    for (what, line) in &lines {
        for claims in [false, true] {
            let text = around(line);
            let text = if claims {
                text.replace("\"run_id\":\"r\"", "\"run_id\":\"hunter2\",\"redacted\":true")
            } else {
                text
            };
            let row = row(format!("{what}, claims to be redacted: {claims}"), "convert a.jsonl --redact");
            rows.push(
                row.file("a.jsonl", text).says("\"redacted\":true").never_says("hunter").never_says("5551234567"),
            );
        }
    }
    check(rows);
}

#[test]
fn ids_are_keyed_and_wide() {
    let lines = json!({"type": "run", "run_id": "patient-17", "task_id": "ward-3"}).to_string()
        + "\n{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}\n";
    let row = |what: &str, salt: &str| {
        row(what, &format!("convert a.jsonl --redact{salt}"))
            .file("a.jsonl", lines.clone())
            .never_says("patient")
            .never_says("ward")
    };
    let plain = "\"run_id\":\"run-";
    check(vec![row("without a salt", "").says(plain), row("with a salt", " --salt pepper").says(plain)]);
    let scratch = crate::scratch::Scratch::with(&[("a.jsonl", &lines)]);
    let id = |arguments: &str| {
        let (_, stdout, _) = scratch.run(&format!("convert a.jsonl --redact {arguments}"));
        let line: Value = serde_json::from_str(stdout.lines().next().unwrap()).unwrap();
        line["run_id"].as_str().unwrap().strip_prefix("run-").unwrap().to_owned()
    };
    let ids = ["", "--salt a", "--salt b"].map(id);
    assert!(ids.iter().all(|id| id.len() == 32), "{ids:?}");
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[1] == id("--salt a"), "{ids:?}");
    assert_eq!(scratch.run("convert a.jsonl --salt a").0, 2, "a salt without --redact does nothing");
}

#[test]
fn no_name_with_blanks_passes() {
    let names = ["Jane Doe", "password: hunter2", "+49 151 1234567", "sk-live 12 9f8e7d", "a b/c"];
    let rows = names.map(|name| {
        let head = json!({"type": "run", "run_id": "r", "suite": name, "model": name, "agent": name});
        let reply = json!({"type": "message", "role": "assistant", "content": "done", "model": name});
        row(name, "convert x.jsonl --redact --salt s")
            .file("x.jsonl", format!("{head}\n{reply}\n"))
            .says("\"redacted\":true")
            .never_says(name)
    });
    check(rows.into_iter().collect());
}
