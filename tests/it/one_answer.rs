//! "May I set this limit?" has one answer: `compare`, `tune --signal`, `tune --grid`, `ci check`, the page and Python print
//! the same bound for the same candidates, ship the same stack, and a bound never falls with a further kill. What `tune`
//! certifies of its catalogue, `compare` ships.

use std::fmt::Write as _;

use whenstop::cli::embedded::{self, KeywordArguments, OptionValue};

use crate::scratch::Scratch;

/// A run of so many steps.
fn run(task: usize, trial: usize, steps: usize, outcome: Option<bool>) -> String {
    let mut text = format!("{{\"type\":\"run\",\"run_id\":\"r-{task}-{trial}\",\"task_id\":\"t-{task}\"}}\n");
    for step in 0..steps {
        let call = format!("{{\"id\":\"{step}\",\"name\":\"ls\",\"arguments\":{{\"n\":{step}}}}}");
        let role = "\"type\":\"message\",\"role\"";
        writeln!(text, "{{{role}:\"assistant\",\"content\":\"\",\"tool_calls\":[{call}]}}").unwrap();
        writeln!(text, "{{{role}:\"tool\",\"tool_call_id\":\"{step}\",\"content\":\"{step}\"}}").unwrap();
    }
    if let Some(success) = outcome {
        writeln!(text, "{{\"type\":\"outcome\",\"success\":{success},\"end\":\"self_finish\"}}").unwrap();
    }
    text
}

/// Numbers that look random, from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n) as usize
    }
}

/// Tasks of one to three runs of 2 to 12 steps; the longer a run, the likelier it fails. Every `ungraded`-th run has no
/// outcome.
fn corpus(seed: u64, tasks: usize, ungraded: usize) -> String {
    let (mut numbers, mut text, mut runs) = (Numbers(seed), String::new(), 0);
    for task in 0..tasks {
        for trial in 0..=numbers.below(3) {
            let is_long = numbers.below(8) == 0;
            let steps = if is_long { 7 + numbers.below(6) } else { 2 + numbers.below(4) };
            let success = numbers.below(10) >= if is_long { 8 } else { 1 };
            runs += 1;
            text += &run(task, trial, steps, (ungraded == 0 || runs % ungraded != 0).then_some(success));
        }
    }
    text
}

const LIMITS: [u32; 4] = [10, 8, 6, 4];

fn named(limit: u32) -> String {
    format!("steps >= {limit}")
}

/// What one command says: the bound of each limit, and what to ship.
#[derive(Debug, PartialEq)]
struct Said {
    bounds: Vec<Option<f64>>,
    ship: Option<String>,
}

fn compared(scratch: &Scratch, command: &str) -> Said {
    let (code, stdout, stderr) = scratch.run(command);
    assert!(matches!(code, 0 | 100), "{command}: {stderr}");
    read_answer(&serde_json::from_str(&stdout).unwrap())
}

fn read_answer(answer: &serde_json::Value) -> Said {
    let summary = answer["summary"].as_array().unwrap();
    let bound = |limit: &u32| {
        let line = summary.iter().find(|line| line["stack"] == named(*limit)).unwrap();
        line["killed_at_most"].as_f64()
    };
    Said { bounds: LIMITS.iter().map(bound).collect(), ship: answer["ship"].as_str().map(str::to_owned) }
}

/// What the Python package is told, as values.
fn embedded_values(scratch: &Scratch, options: &[(&str, &str)]) -> KeywordArguments {
    let given = |value: &str| OptionValue::Given(vec![value.into()]);
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), given(value)));
    KeywordArguments { paths: vec![scratch.path("runs.jsonl")], options: options.collect() }
}

/// What the catalogue certifies, and what `compare` says of it alone: both ship it, or `tune` ships nothing.
fn is_shipped_by_compare(scratch: &Scratch) -> bool {
    let (code, _, stderr) = scratch.run("tune runs.jsonl --no-presets --out tuned");
    if code == 100 {
        return false;
    }
    assert_eq!(code, 0, "{stderr}");
    let (code, stdout, stderr) = scratch.run("compare runs.jsonl --stacks tuned/tuned.toml --format json");
    let answer: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, answer["ship"].as_str()), (0, Some("tuned")), "{stdout}{stderr}");
    true
}

/// The same from a grid, whose stacks are named by their rules.
fn swept(scratch: &Scratch) -> Said {
    let (code, stdout, stderr) = scratch.run("tune runs.jsonl --grid grid.toml --best 9 --format json");
    let answer: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(code, if answer["ship"].is_null() { 100 } else { 0 }, "{stderr}");
    let lines = answer["sweep"].as_array().unwrap();
    let bound = |limit: &u32| {
        let line = lines.iter().find(|line| line["stack"] == named(*limit)).unwrap();
        line["killed_at_most"].as_f64()
    };
    Said { bounds: LIMITS.iter().map(bound).collect(), ship: answer["ship"].as_str().map(str::to_owned) }
}

#[test]
fn every_command_has_the_same_bound_and_ships_the_same_stack() {
    let scratch = Scratch::with(&[]);
    let mut stacks = String::new();
    for limit in LIMITS {
        let rule = format!("{{ signal = \"steps\", at_least = {limit} }}");
        writeln!(stacks, "[[stack]]\nname = \"{}\"\nany = [{rule}]", named(limit)).unwrap();
    }
    scratch.put("stacks.toml", &stacks);
    scratch.put("grid.toml", &format!("[[axis]]\nsignal = \"steps\"\nat_least = {LIMITS:?}\n"));
    let (mut shipped, mut certified) = (0, 0);
    for (seed, tasks, ungraded) in [(1, 90, 0), (2, 60, 0), (3, 150, 40), (4, 12, 0), (5, 150, 0)] {
        scratch.put("runs.jsonl", &corpus(seed, tasks, ungraded));
        let said = compared(&scratch, "compare runs.jsonl --stacks stacks.toml --format json");
        let limits: Vec<String> = LIMITS.iter().map(u32::to_string).collect();
        let tune = format!("tune runs.jsonl --signal steps --limits {} --format json", limits.join(","));
        assert_eq!(compared(&scratch, &tune), said, "seed {seed}: tune --signal");
        assert_eq!(swept(&scratch), said, "seed {seed}: tune --grid");
        let python = [("signal", "steps"), ("limits", &*limits.join(","))];
        let python = embedded::tune(embedded_values(&scratch, &python), Vec::new()).unwrap();
        assert_eq!(read_answer(&python.certificate), said, "seed {seed}: Python");
        let path = scratch.path("stacks.toml").display().to_string();
        let compared = embedded::compare(embedded_values(&scratch, &[("stacks", &path)]), Vec::new()).unwrap();
        assert_eq!(compared.answer.ship.map(|stack| stack.to_string()), said.ship, "seed {seed}: Python");
        shipped += usize::from(said.ship.is_some());
        certified += usize::from(is_shipped_by_compare(&scratch));
        // Bolder limits never have a lower bound.
        let known: Vec<f64> = said.bounds.iter().flatten().copied().collect();
        assert!(known.len() == LIMITS.len() && known.is_sorted(), "seed {seed}: {said:?}");
        // A gate holds exactly at the bound.
        scratch.put("short.toml", &stacks.replace("steps >= ", "s"));
        let inputs = "runs.jsonl --stacks short.toml --snapshot stops.snap";
        assert_eq!(scratch.run(&format!("ci accept {inputs} --all")).0, 0);
        for (above, code) in [(2e-6, 0), (-2e-6, 100)] {
            let gates = LIMITS.iter().zip(&known);
            let gates = gates.map(|(limit, bound)| format!(" --fail-on s{limit}:killed_at_most>{}", bound + above));
            let check = format!("ci check {inputs}{}", gates.collect::<String>());
            let (got, stdout, stderr) = scratch.run(&check);
            assert_eq!(got, code, "seed {seed}, {check}: {stdout}{stderr}");
        }
    }
    assert!((1..5).contains(&shipped), "some corpora ship, some do not: {shipped}");
    assert!((1..5).contains(&certified), "of some corpora the catalogue ships, of some not: {certified}");
}

/// A stack that does nothing where most runs cannot be judged says nothing about them.
#[test]
fn never_acted_is_said_of_the_judged_runs_alone() {
    let stacks = "[[stack]]\nname = \"huge\"\nany = [{ signal = \"tokens.total\", at_least = 1000000 }]\n";
    let told = |with_usage: usize| {
        let mut text = String::new();
        for task in 0..4 {
            let usage = if task < with_usage { ",\"usage\":{\"input\":5,\"output\":5}" } else { "" };
            text += &run(task, 0, 3, Some(true)).replace("\"content\":\"\"", &format!("\"content\":\"\"{usage}"));
        }
        let scratch = Scratch::with(&[("runs.jsonl", &text), ("stacks.toml", stacks)]);
        let (code, stdout, stderr) = scratch.run("compare runs.jsonl --stacks stacks.toml --notes");
        assert_eq!(code, 0, "{stderr}");
        stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (with_usage, expected, other) in [
        (1, "not judged: `huge` on 3 of 4 runs, and it did nothing on the others", "never acted"),
        (2, "never acted: `huge` (judged on 2 of 4 runs)", "not judged:"),
        (4, "never acted: `huge`", "not judged:"),
    ] {
        let said = told(with_usage);
        assert!(said.contains(expected) && !said.contains(other), "{with_usage}: {said}");
    }
    assert!(told(1).contains("None of these stacks can be judged on half of these recordings"), "{}", told(1));
    assert!(told(2).contains("None of these stacks acted on any run it could be judged on"), "{}", told(2));
}
