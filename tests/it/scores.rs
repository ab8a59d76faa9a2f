//! `compare --scores`, `corpus --forecast` and `tune --by` through the program: the identities that hold exactly, and what is refused.

use std::fmt::Write as _;

use serde_json::Value;

use crate::scratch::Scratch;

const STACKS: &str = "[[stack]]\nname = \"never\"\nany = [{ signal = \"steps\", at_least = 1000 }]\n\n\
                      [[stack]]\nname = \"cap\"\nany = [{ signal = \"steps\", at_least = 6 }]\n";

/// A run of so many steps.
fn run(text: &mut String, task: usize, model: &str, trial: usize, more: &str, success: bool, steps: usize) {
    let _ = writeln!(
        text,
        r#"{{"type":"run","run_id":"{task}-{model}-{trial}","task_id":"{task}","suite":"{}","model":"{model}"{more}}}"#,
        ["shop", "bank"][task % 2],
    );
    for step in 1..steps {
        let _ = writeln!(
            text,
            r#"{{"type":"message","role":"assistant","content":"{step}","tool_calls":[{{"id":"{step}","name":"look","arguments":{{"p":{step}}}}}]}}
{{"type":"message","role":"tool","tool_call_id":"{step}","content":"{step}"}}"#
        );
    }
    let _ = writeln!(
        text,
        "{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"done\"}}\n{{\"type\":\"outcome\",\"success\":{success}}}"
    );
}

/// Forty tasks, two models, three trials each.
fn scratch(more: impl Fn(usize) -> String) -> Scratch {
    let mut text = String::new();
    for task in 0..40 {
        for (model, easy) in [("a", 3), ("b", 2)] {
            for trial in 0..3 {
                let success = (task * 7 + trial * 5) % 4 < easy;
                run(&mut text, task, model, trial, &more(trial), success, 3 + (task * 5 + trial * 3) % 7);
            }
        }
    }
    Scratch::with(&[("runs.jsonl", &text), ("stacks.toml", STACKS)])
}

fn json(scratch: &Scratch, arguments: &str) -> Value {
    let (code, stdout, stderr) = scratch.run(&format!("{arguments} --format json --quiet"));
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

fn line<'v>(document: &'v Value, stack: &str) -> &'v Value {
    document["lines"].as_array().unwrap().iter().find(|line| line["stack"] == stack).unwrap()
}

#[test]
fn a_rule_that_never_fires_changes_nothing_and_an_audit_of_all_is_the_full_benchmark() {
    let scratch = scratch(|_| String::new());
    let document = json(&scratch, "compare runs.jsonl --stacks stacks.toml --scores --audit 1 --by suite");
    let never = line(&document, "never");
    assert_eq!((&never["saved"], &never["largest_change"], &never["flipped"]), (&0.0.into(), &0.0.into(), &0.into()));
    for of in never["benchmarks"].as_array().unwrap() {
        assert_eq!(of["tau"], 1.0);
        for model in of["models"].as_array().unwrap() {
            assert_eq!((&model["score"], &model["killed"]), (&model["with_stops"], &0.into()));
        }
    }
    let cap = line(&document, "cap");
    assert!(cap["largest_change"].as_f64().unwrap() < 0.0);
    for model in cap["benchmarks"].as_array().unwrap().iter().flat_map(|of| of["models"].as_array().unwrap()) {
        let audit = &model["audit"];
        assert_eq!((&audit["score"]["value"], &audit["added_error"]), (&model["score"], &0.0.into()));
        assert_eq!(audit["saved"]["steps"], 0.0);
        assert!(model["saved"]["steps"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn a_stack_that_cannot_be_read_is_left_out_and_named() {
    let scratch = scratch(|_| String::new());
    let errors = "[[stack]]\nname = \"errors\"\nany = [{ signal = \"errors.streak\", at_least = 3 }]\n";
    scratch.put("stacks.toml", &format!("{STACKS}\n{errors}"));
    let document = json(&scratch, "compare runs.jsonl --stacks stacks.toml --scores");
    assert_eq!(document["not_judged"], serde_json::json!([{"stack": "errors", "runs": 240}]));
    assert!(document["lines"].as_array().unwrap().iter().all(|line| line["stack"] != "errors"));
    scratch.put("stacks.toml", errors);
    let (code, _, stderr) = scratch.run("compare runs.jsonl --stacks stacks.toml --scores");
    assert_ne!(code, 0);
    assert!(stderr.contains("no stack can be judged: the rules of `errors` (240)"), "{stderr}");
}

#[test]
fn without_models_or_grades_nothing_is_compared() {
    let ungraded = "{\"type\":\"run\",\"run_id\":\"r\",\"model\":\"m\"}\n\
                    {\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}\n";
    let scratch = Scratch::with(&[("runs.jsonl", ungraded), ("stacks.toml", STACKS)]);
    let (code, _, stderr) = scratch.run("compare runs.jsonl --stacks stacks.toml --scores");
    assert_ne!(code, 0);
    assert!(stderr.contains("no run has an outcome"), "{stderr}");
    let (code, _, stderr) = scratch.run("corpus runs.jsonl --forecast");
    assert_ne!(code, 0);
    assert!(stderr.contains("fewer than 9 tasks"), "{stderr}");
}

#[test]
fn forecasts_and_tuned_classes_are_the_same_on_any_number_of_threads() {
    let scratch = scratch(|_| String::new());
    for arguments in
        ["corpus runs.jsonl --forecast --by model", "tune runs.jsonl --by suite --max-killed 0.2 --no-presets"]
    {
        let told = |threads: u8| scratch.run(&format!("{arguments} --threads {threads} --format json"));
        let (code, one, stderr) = told(1);
        assert!(matches!(code, 0 | 100), "{stderr}");
        assert_eq!(one, told(4).1, "{arguments}");
    }
    let document = json(&scratch, "corpus runs.jsonl --forecast --at 0");
    let of = &document["forecasts"][0];
    // Runs take 3 to 9 steps.
    assert_eq!(
        (&of["amount"], &of["tasks"], &of["low"], &of["high"]),
        (&"steps".into(), &40.into(), &3.0.into(), &9.0.into())
    );
    // With a tenth of them left out there are too few tasks to measure the wider interval.
    assert_eq!((&of["covered_95"], of["covered"].as_f64().unwrap() >= 0.8), (&Value::Null, true));
}

#[test]
fn what_was_to_come_is_told_beside_what_came_and_of_a_session_that_grows() {
    let scratch = scratch(|_| String::new());
    assert_eq!(scratch.run("corpus runs.jsonl --forecast --by model --at 0,5 --out forecasts.json").0, 0);
    let (code, stdout, stderr) =
        scratch.run("explain runs.jsonl --stacks stacks.toml --run 1-a-0 --forecast forecasts.json");
    assert_eq!(code, 0, "{stderr}");
    // 3 + 5 steps, of 3 to 9.
    assert!(stdout.contains("=> after 0 steps to come: 6 (3–9) steps"), "{stdout}");
    let told = stdout.split("=> after 5 steps").nth(1).unwrap();
    assert!(told.split_whitespace().collect::<Vec<_>>().join(" ").contains("; came: 3 steps"), "{stdout}");
    let (code, stdout, stderr) =
        scratch.run("local --follow runs.jsonl --stacks stacks.toml --once --format json --forecast forecasts.json");
    assert_eq!(code, 0, "{stderr}");
    let lines: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = lines.iter().find(|line| line["session"] == "1-a-0").unwrap();
    assert_eq!((&of["forecast"][0]["class"], &of["forecast"][0]["after"]), (&"a".into(), &5.into()), "{of}");

    let (code, _, stderr) = scratch.run("explain runs.jsonl --stacks stacks.toml --forecast stacks.toml");
    assert_ne!(code, 0);
    assert!(stderr.contains("these are no forecasts"), "{stderr}");
}

#[test]
fn a_stack_is_written_for_each_class() {
    let mut text = String::new();
    for task in 0..120 {
        for trial in 0..3 {
            let success = trial < 2;
            run(&mut text, task, "a", trial, "", success, if success { 3 + (task + trial) % 4 } else { 20 + task % 9 });
        }
    }
    let scratch = Scratch::with(&[("runs.jsonl", &text)]);
    let (code, stdout, stderr) = scratch.run("tune runs.jsonl --by suite --max-killed 0.1 --no-presets --out tuned");
    assert_eq!(code, 0, "{stdout}{stderr}");
    let text = scratch.read("tuned/tuned.toml");
    let (code, ..) = scratch.run("rules lint tuned/tuned.toml");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("tuned-bank") || text.contains("tuned-shop"), "{text}");
    assert!(text.contains("over all classes together"), "{text}");
}
