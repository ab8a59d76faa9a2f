//! Time that grows with the length and not with its square: CPU time at n and at 4 n.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::commands::calling;
use crate::scratch::Scratch;

/// Four times as much may take this many times as long: a square takes sixteen.
const MOST: f64 = 8.0;
/// Seconds below which nothing is compared: starting takes as long.
const LEAST: f64 = 0.5;

/// Seconds of CPU time of a command; `None` where GNU time is missing.
fn seconds(scratch: &Scratch, arguments: &str) -> Option<f64> {
    if !Path::new("/usr/bin/time").exists() {
        return None;
    }
    let command = scratch.command(arguments);
    let mut timed = Command::new("/usr/bin/time");
    timed
        .args(["-q", "-f", "%U %S", "-o"])
        .arg(scratch.path("time"))
        .arg(command.get_program())
        .args(command.get_args());
    timed.current_dir(scratch.path(".")).env("RAYON_NUM_THREADS", "1").stdout(Stdio::null()).stderr(Stdio::null());
    timed.status().unwrap();
    scratch.read("time").split_whitespace().map(|seconds| seconds.parse::<f64>().ok()).sum()
}

/// `text` makes a recording of a size.
fn check(what: &str, arguments: &str, n: usize, text: impl Fn(usize) -> String) {
    check_files(what, arguments, n, |n| Scratch::with(&[("x.jsonl", &text(n))]));
}

/// `files` makes what is read, of a size.
fn check_files(what: &str, arguments: &str, n: usize, files: impl Fn(usize) -> Scratch) {
    let [small, large] = [n, 4 * n].map(|n| seconds(&files(n), arguments));
    let (Some(small), Some(large)) = (small, large) else { return eprintln!("SKIPPED: there is no GNU time") };
    assert!(
        large < LEAST || large / small.max(LEAST / 16.0) < MOST,
        "{what}: {small} s at {n}, {large} s at {}",
        4 * n
    );
}

/// How a command begins, how many parts it has, and each of them.
type Case = (&'static str, usize, fn(usize) -> String);

#[test]
fn commands_are_read_in_time_that_grows_with_their_length() {
    let many = |n: usize, part: fn(usize) -> String| (0..n).map(part).collect::<String>();
    let cases: [Case; 12] = [
        ("a >f1 >f2", 7_000, |nth| format!(" >f{nth}")),
        ("tee ", 7_000, |nth| format!(" f{nth}")),
        ("rm ", 7_000, |nth| format!(" f{nth}")),
        ("git checkout -- ", 7_000, |nth| format!(" a/f{nth}")),
        ("sed -e s/a/b/ ", 7_000, |nth| format!(" -e s/{nth}/b/ f{nth}")),
        ("npm exec ", 6_000, |_| "npm exec ".to_owned()),
        ("find ", 6_000, |_| " -exec a ".to_owned()),
        ("awk '", 2_500, |_| "print > \"/dev/null\";".to_owned()),
        ("Get-Item ", 60_000, |_| "1".to_owned()),
        ("$a = 'b'; Get-Item ", 15_000, |_| " $a".to_owned()),
        ("{", 50_000, |_| "{".to_owned()),
        ("{ ", 25_000, |_| "{ ".to_owned()),
    ];
    for (head, n, part) in cases {
        let text = |n| calling("bash", &json!({ "command": format!("{head}{}", many(n, part)) }));
        check(head, "corpus x.jsonl --effects --format csv", n, text);
    }
}

#[test]
fn stacks_are_compared_and_looked_over_in_time_that_grows_with_their_number() {
    let files = |n: usize| {
        let stack = |nth| format!("[[stack]]\nname = \"s{nth}\"\nany = [{{ signal = \"steps\", at_least = {nth} }}]\n");
        let stacks: String = (2..n + 2).map(stack).collect();
        Scratch::with(&[("x.jsonl", &calling("bash", &json!({ "command": "ls" }))), ("s.toml", &stacks)])
    };
    check_files("compare", "compare x.jsonl --stacks s.toml --format csv", 400, files);
    check_files("rules lint", "rules lint s.toml x.jsonl", 400, files);
}

#[test]
fn calls_of_one_step_are_compared_in_time_that_grows_with_their_number() {
    let step = |n: usize| {
        let calls: Vec<_> =
            (0..n).map(|nth| json!({"id": nth.to_string(), "name": "ls", "arguments": {"a": nth}})).collect();
        let reply = json!({"type": "message", "role": "assistant", "content": "", "tool_calls": calls});
        let results = (0..n).map(|nth| {
            let id = nth.to_string();
            format!(
                "{}\n",
                json!({"type": "message", "role": "tool", "tool_call_id": id, "content": "x", "is_error": nth % 2 == 0})
            )
        });
        format!("{}\n{reply}\n{}", json!({"type": "run", "run_id": "r"}), results.collect::<String>())
    };
    for stack in ["preset:pydantic-ai", "preset:smolagents"] {
        check(stack, &format!("compare x.jsonl --stacks {stack}"), 5_000, step);
    }
}

#[test]
fn scripts_within_scripts_are_followed_so_far() {
    let nested = |n: usize| {
        (0..n).fold("echo x".to_owned(), |inner, nth| format!("cat > f{nth}.sh <<'E{nth}'\n{inner}\nE{nth}"))
    };
    check("a script that writes a script", "corpus x.jsonl --effects --format csv", 500, |n| {
        calling("bash", &json!({ "command": nested(n) }))
    });
}

#[test]
fn rules_are_compared_in_time_that_grows_with_their_number() {
    let rules = |n: usize| {
        let rules: Vec<String> =
            (0..n).map(|nth| format!("{{ signal = \"steps\", at_least = {} }},\n", nth + 1)).collect();
        let rules = rules.concat();
        Scratch::with(&[("s.toml", &format!("[[stack]]\nname = \"s\"\nany = [\n{rules}]\n"))])
    };
    check_files("rules", "rules lint s.toml", 1_500, rules);
}

#[test]
fn files_are_read_in_time_that_grows_with_their_number() {
    let files = |n: usize| {
        let scratch = Scratch::with(&[]);
        // All of one length.
        for nth in 0..n {
            scratch.put(&format!("runs/{nth:05}.jsonl"), &super::run(&format!("{nth:05}")));
        }
        scratch
    };
    check_files("files", "corpus runs", 1_000, files);
}
