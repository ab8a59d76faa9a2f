//! Logs that somebody invented: read from the command line, each command suggested by the one before.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::scratch::Scratch;

/// Runs of an invention.
const RUNS: usize = 40;

/// A run's lines, its outcomes' name and id, and where it goes.
struct Invention {
    name: &'static str,
    files: Vec<(String, String)>,
    steps: usize,
}

/// One document a line, turns with calls and metrics.
fn conversations() -> Invention {
    let mut text = String::new();
    let mut grades = "session,closed_by,resolved\n".to_owned();
    for n in 0..RUNS {
        let metrics = json!({"prompt_tokens": 100, "completion_tokens": 20, "latency_ms": 230});
        let call = json!({"fn": "look_up", "params": {"id": n}, "outcome": {"status": "ok", "payload": "late"}});
        let turns = json!([
            {"speaker": "customer", "utterance": "where is it?", "at": "2026-10-01T10:00:00Z"},
            {"speaker": "agent", "utterance": "I look", "at": "2026-10-01T10:00:01Z", "metrics": metrics, "invocations": [call]},
            {"speaker": "agent", "utterance": "on its way", "at": "2026-10-01T10:00:02Z", "metrics": metrics},
        ]);
        let _ = writeln!(
            text,
            "{}",
            json!({"session": format!("S{n}"), "case": format!("C{}", n % 8), "llm": "acme-7b", "turns": turns})
        );
        let _ = writeln!(grades, "S{n},bot,{}", if n.is_multiple_of(2) { "yes" } else { "no" });
    }
    Invention {
        name: "conversations",
        files: vec![("logs/all.jsonl".into(), text), ("outcomes.csv".into(), grades)],
        steps: 2 * RUNS,
    }
}

/// A message a line, of several jobs at once.
fn interleaved() -> Invention {
    let mut text = String::new();
    let mut say = |n: usize, rest: Value| {
        let mut line = json!({"job": format!("job{n}"), "problem": format!("p{}", n % 10)});
        line.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        let _ = writeln!(text, "{line}");
    };
    for at in 0..4 {
        for n in 0..RUNS {
            let tokens = json!({"in": 300, "out": 30});
            let ts = 1_760_000_000 + at * 10;
            say(
                n,
                match at {
                    0 => json!({"actor": "user", "body": "build it", "ts": ts}),
                    1 => {
                        json!({"actor": "bot", "body": "", "call": {"op": "shell", "args": {"cmd": "make"}}, "tokens": tokens, "ts": ts})
                    }
                    2 => json!({"actor": "sandbox", "body": "exit 2", "exit_code": 2, "ts": ts}),
                    _ => json!({"actor": "bot", "body": "done", "tokens": tokens, "ts": ts}),
                },
            );
        }
    }
    let grades = (0..RUNS)
        .map(|n| format!("job{n},{}\n", if n.is_multiple_of(2) { "pass" } else { "fail" }))
        .collect::<Vec<_>>()
        .concat();
    let files = vec![("logs/events.log".into(), text), ("results.csv".into(), format!("job,verdict\n{grades}"))];
    Invention { name: "interleaved", files, steps: 2 * RUNS }
}

/// A file a run, steps of thought, action and observation.
fn steps() -> Invention {
    let step = |n: usize| json!({"thought": "hm", "action": {"tool": "browse", "input": {"url": n}}, "observation": "page", "usage": {"in": 500, "out": 12}});
    let run = |n: usize| json!({"episode": format!("ep{n}"), "scenario": {"id": format!("s{}", n % 7), "goal": "buy"}, "config": {"model": "m1"}, "trace": {"steps": [step(1), step(2), step(1)]}});
    let mut files: Vec<(String, String)> =
        (0..RUNS).map(|n| (format!("logs/ep{n}.json"), run(n).to_string())).collect();
    let grades = (0..RUNS).map(|n| format!("ep{n},{}\n", n % 2)).collect::<Vec<_>>().concat();
    files.push(("grades.csv".into(), format!("episode,grade\n{grades}")));
    Invention { name: "steps", files, steps: 3 * RUNS }
}

/// A file a run, events told apart by their kind, calls and what they return among them.
fn events() -> Invention {
    let run = |n: usize| {
        let usage = json!({"prompt": 100, "completion": 11});
        [
            json!({"kind": "start", "at": 1.0, "run": format!("r{n}"), "task": format!("t{}", n % 9), "model": "m-1"}),
            json!({"kind": "user_input", "at": 1.5, "data": {"text": "do it"}}),
            json!({"kind": "llm_response", "at": 2.0, "data": {"text": "I try", "usage": usage}}),
            json!({"kind": "tool_call", "at": 2.2, "data": {"tool": "bash", "args": {"cmd": "make"}, "id": "c1"}}),
            json!({"kind": "tool_call", "at": 2.3, "data": {"tool": "bash", "args": {"cmd": "ls"}, "id": "c2"}}),
            json!({"kind": "tool_return", "at": 2.5, "data": {"id": "c1", "output": "no", "exit_code": 1}}),
            json!({"kind": "tool_return", "at": 2.6, "data": {"id": "c2", "output": "a", "exit_code": 0}}),
            json!({"kind": "llm_response", "at": 9.0, "data": {"text": "done", "usage": usage}}),
            json!({"kind": "end", "at": 9.5, "reason": "finished"}),
        ]
    };
    let text = |n: usize| run(n).iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
    let mut files: Vec<(String, String)> = (0..RUNS).map(|n| (format!("logs/run_{n:02}.jsonl"), text(n))).collect();
    let grades = (0..RUNS).map(|n| format!("r{n},m-1,{}\n", n.is_multiple_of(2))).collect::<Vec<_>>().concat();
    files.push(("status.csv".into(), format!("name,model,ok\n{grades}")));
    Invention { name: "events", files, steps: 2 * RUNS }
}

/// A CSV table, a row a message.
fn rows() -> Invention {
    let mut text = "session,n,who,text,tool,tool_args,ts,tokens_in,tokens_out\n".to_owned();
    for n in 0..RUNS {
        let _ = write!(
            text,
            "s{n},0,user,\"do \"\"it\"\",\nnow\",,,2026-01-01T00:00:00Z,,\n\
             s{n},1,assistant,hm,bash,\"{{\"\"cmd\"\": \"\"ls\"\"}}\",2026-01-01T00:00:01Z,100,10\n\
             s{n},2,tool,a.py,,,2026-01-01T00:00:02Z,,\n\
             s{n},3,assistant,done,,,2026-01-01T00:00:03Z,100,10\n"
        );
    }
    let grades = (0..RUNS).map(|n| format!("s{n},{}\n", n % 2)).collect::<Vec<_>>().concat();
    let files = vec![("logs/messages.csv".into(), text), ("outcomes.csv".into(), format!("session,passed\n{grades}"))];
    Invention { name: "rows", files, steps: 2 * RUNS }
}

/// A document of all runs, actions in words, the outcome inside.
fn experiments() -> Invention {
    let step = |n: usize| json!({"i": n, "thought": "t", "action": format!("open file{n}.py"), "observation": "...", "prompt_tokens": 100, "completion_tokens": 5});
    let run = |n: usize| json!({"name": format!("exp{n}"), "agent": {"llm": "x"}, "problem": {"id": format!("p{}", n % 8), "statement": "do it"}, "history": [step(1), step(2), step(1)], "result": {"solved": n.is_multiple_of(2)}});
    let all = json!({"version": 2, "experiments": (0..RUNS).map(run).collect::<Vec<_>>()});
    Invention { name: "experiments", files: vec![("logs/all.json".into(), all.to_string())], steps: 3 * RUNS }
}

/// The command that a message suggests behind these words.
fn suggested(told: &str, words: &str) -> Option<String> {
    let rest = told.split(words).nth(1)?;
    Some(rest.split('`').nth(1)?.strip_prefix("whenstop ")?.to_owned())
}

#[test]
fn each_command_is_suggested_by_the_one_before() {
    let stack = "[[stack]]\nname = \"s\"\nany = [{ signal = \"steps\", at_least = 2 }]\n";
    let mut walked = String::new();
    for invention in [conversations(), interleaved(), steps(), events(), rows(), experiments()] {
        let scratch = Scratch::with(&[("s.toml", stack)]);
        for (name, text) in &invention.files {
            scratch.put(name, text);
        }
        let mut command = "compare logs --stacks s.toml".to_owned();
        let _ = writeln!(walked, "# {}", invention.name);
        for nth in 1..=5 {
            let (code, out, err) = scratch.run(&command);
            let told = format!("{out}{err}");
            let short = |line: &str| line.replace(&scratch.path("").display().to_string(), "");
            let row = told.lines().find(|line| line.starts_with("mapped")).map(short);
            let _ = writeln!(walked, "{nth} exit {code}: whenstop {command}\n    {}", row.unwrap_or_default());
            if command.starts_with("ci init") {
                break;
            }
            let next = ["say which field is what: ", "next, with the outcomes: ", "next, "];
            command = next.iter().find_map(|words| suggested(&told, words)).unwrap_or_else(|| panic!("{told}"));
        }
        let Invention { name, steps, .. } = invention;
        let found = walked.lines().rev().find(|line| line.contains("mapped")).unwrap();
        let counts: Vec<usize> = found.split_whitespace().skip(2).map_while(|word| word.parse().ok()).collect();
        assert_eq!(counts[..5], [RUNS, steps, RUNS / 2, RUNS / 2, 0], "{name}: {found}");
        // What the project file keeps is what `check` reads with.
        let (code, out, err) = scratch.run("ci check");
        assert_eq!(code, 0, "{name}: {out}{err}");
        assert!(scratch.read("whenstop.toml").contains("\nmap = \"run="), "{name}");
    }
    insta::assert_snapshot!(walked);
}

#[test]
fn calls_and_results_of_events_belong_to_the_reply_before_them() {
    let scratch = Scratch::with(&[]);
    for (name, text) in events().files {
        scratch.put(&name, &text);
    }
    let (_, out, _) = scratch.run("corpus logs");
    let (_, _, err) = scratch.run("corpus logs");
    let command = suggested(&format!("{out}{err}"), "say which field is what: ").unwrap();
    let map = command.split("--map ").nth(1).unwrap();
    let (code, _, err) = scratch.run(&format!("convert|logs/run_00.jsonl|--map|{map}|--out|x.jsonl"));
    assert_eq!(code, 0, "{err}");
    let lines: Vec<Value> = scratch.read("x.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |line: &Value| {
        let calls = line["tool_calls"].as_array().map_or(0, Vec::len);
        format!("{} {calls} {}", line["role"].as_str().unwrap_or("-"), line["is_error"])
    };
    let messages: Vec<String> = lines.iter().filter(|line| line["type"] == "message").map(told).collect();
    assert_eq!(messages, ["user 0 null", "assistant 2 null", "tool 0 true", "tool 0 false", "assistant 0 null"]);
}
