//! The commands: stdout, stderr, exit code, files.

use std::fmt::Write as _;

use crate::scratch::Scratch;

const RUNS: &str = r#"{"type":"run","run_id":"loops","task_id":"t1","model":"m"}
{"type":"message","role":"assistant","content":"","tool_calls":[{"id":"1","name":"ls","arguments":{}}],"usage":{"input":900,"output":100}}
{"type":"message","role":"tool","tool_call_id":"1","content":"a.txt","is_error":false}
{"type":"message","role":"assistant","content":"","tool_calls":[{"id":"2","name":"ls","arguments":{}}],"usage":{"input":900,"output":100}}
{"type":"message","role":"tool","tool_call_id":"2","content":"a.txt","is_error":false}
{"type":"message","role":"assistant","content":"","tool_calls":[{"id":"3","name":"ls","arguments":{}}],"usage":{"input":900,"output":100}}
{"type":"message","role":"tool","tool_call_id":"3","content":"a.txt","is_error":false}
{"type":"message","role":"assistant","content":"I give up.","usage":{"input":900,"output":100}}
{"type":"outcome","success":false,"end":"self_finish"}
{"type":"run","run_id":"works","task_id":"t2","model":"m"}
{"type":"message","role":"assistant","content":"","tool_calls":[{"id":"1","name":"ls","arguments":{}}],"usage":{"input":500,"output":100}}
{"type":"message","role":"tool","tool_call_id":"1","content":"a.txt","is_error":false}
{"type":"message","role":"assistant","content":"Done.","usage":{"input":500,"output":100}}
{"type":"outcome","success":true,"end":"self_finish"}
"#;

const STACKS: &str = "[[stack]]\nname = \"loop\"\nany = [{ signal = \"call_result.streak\", at_least = 2 }]\n\
    [[stack]]\nname = \"hasty\"\nany = [{ signal = \"steps\", at_least = 1 }]\n";

/// A scratch folder with the recordings and the stack file.
fn scratch() -> Scratch {
    Scratch::with(&[("runs.jsonl", RUNS), ("stacks.toml", STACKS)])
}

/// What a log could look like is for people: no part of a document.
#[test]
fn recordings_without_a_run_are_one_json_document() {
    let scratch = Scratch::with(&[("notes.txt", "no run\n")]);
    let (_, stdout, _) = scratch.run("corpus . --format json");
    assert!(serde_json::from_str::<serde_json::Value>(&stdout).is_ok(), "{stdout}");
}

#[test]
fn latex_has_the_interval_of_savings_or_what_limits_them() {
    let args = ["compare", "traces", "--stacks", "fixtures/stacks/example.toml", "--format", "latex", "--quiet"];
    let ended = std::process::Command::new(env!("CARGO_BIN_EXE_whenstop")).args(args).output().unwrap();
    let told = String::from_utf8(ended.stdout).unwrap();
    for line in ["mixed & 136 & 2--8/278 $\\leq$8.2 & 4 \\% u & 55 \\% & 26 (20--33) &", "& 18--22 \\% & $\\leq$12 &"] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert_eq!(told.matches("{\\footnotesize ").count(), 2, "its notes: {told}");
}

#[test]
fn compare_prints_a_table_and_writes_a_folder() {
    let scratch = scratch();
    let (code, stdout, stderr) = scratch.run("compare runs.jsonl --stacks stacks.toml --out out");
    assert_eq!(code, 0, "{stderr}");
    insta::assert_snapshot!("compare_table", stdout);
    insta::assert_snapshot!("compare_rows", scratch.read("out/rows.csv"));
    let expected = "budget.csv budget.png budget.svg estimates.csv firings.csv followed.csv frontier.csv frontier.png frontier.svg manifest.json pairs.csv report.html rows.csv rules.csv spending.png \
        spending.svg stop-steps.png stop-steps.svg stories.jsonl strata.csv summary.csv summary.md";
    assert_eq!(scratch.names("out").join(" "), expected);
}

#[test]
fn summary_columns_are_a_contract() {
    let scratch = scratch();
    assert_eq!(scratch.run("compare runs.jsonl --stacks stacks.toml --out out").0, 0);
    for table in ["summary", "estimates", "pairs", "budget", "rules", "strata", "frontier", "firings"] {
        let text = scratch.read(&format!("out/{table}.csv"));
        insta::assert_snapshot!(format!("columns_{table}"), text.lines().next().unwrap_or_default().replace(',', "\n"));
    }
}

/// What is over nothing that has a name says so by null, not by an empty text.
#[test]
fn an_estimate_says_what_it_is_over_or_nothing() {
    let scratch = scratch();
    let runs = |at: usize| RUNS.replace("\"t1\"", &format!("\"t{at}-f\"")).replace("\"t2\"", &format!("\"t{at}-s\""));
    let runs = |at: usize| {
        runs(at).replace("\"loops\"", &format!("\"loops-{at}\"")).replace("\"works\"", &format!("\"works-{at}\""))
    };
    scratch.put("many.jsonl", &(0..30).map(runs).collect::<String>());
    let (_, stdout, _) = scratch.run("compare many.jsonl --stacks stacks.toml --format json");
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let estimates = document["estimates"].as_array().unwrap();
    let is_p = |estimate: &&serde_json::Value| estimate["name"] == "steps_cost_of_success_p";
    assert!(estimates.iter().filter(is_p).count() > 0, "{estimates:?}");
    for estimate in estimates {
        assert!(estimate["of"].is_null() || !estimate["of"].as_str().unwrap().is_empty(), "{estimate}");
    }
}

#[test]
fn a_stack_is_chosen_on_dev_and_reported_on_test() {
    let scratch = scratch();
    // 40 tasks of each kind: `loop` ends the failures only, `hasty` kills the successes.
    let runs = |at: usize| RUNS.replace("\"t1\"", &format!("\"t{at}-f\"")).replace("\"t2\"", &format!("\"t{at}-s\""));
    let runs = |at: usize| {
        runs(at).replace("\"loops\"", &format!("\"loops-{at}\"")).replace("\"works\"", &format!("\"works-{at}\""))
    };
    scratch.put("many.jsonl", &(0..80).map(runs).collect::<String>());
    let split = "--split test --dev-share 0.5 --max-killed 0.12";
    let (code, stdout, stderr) = scratch.run(&format!("compare many.jsonl --stacks stacks.toml --out out {split}"));
    assert_eq!(code, 0, "{stderr}");
    insta::assert_snapshot!("compare_split", stdout);
    let manifest: serde_json::Value = serde_json::from_str(&scratch.read("out/manifest.json")).unwrap();
    assert_eq!((&manifest["stacks_tried"], &manifest["choice"]["chosen"]), (&2.into(), &"loop".into()));
    assert_eq!(manifest["choice"]["optimism_killed_rate"], 0.0);
    // Only the test part is in the folder, and redrawing it says the same.
    assert_eq!(scratch.read("out/rows.csv").lines().count(), 1 + 2 * 80);
    let (_, again, _) = scratch.run("report out --out again");
    assert_eq!(again, stdout);
    assert_eq!(scratch.read("again/summary.csv"), scratch.read("out/summary.csv"));
    let labels = "--label-sensitivity 0.9 --label-specificity";
    let (_, corrected, _) = scratch.run(&format!("compare many.jsonl --stacks stacks.toml {labels} 0.95 --out judged"));
    assert!(corrected.contains("label errors: rogan-gladen-clipped") && !corrected.contains("chosen"), "{corrected}");
    let (_, again, _) = scratch.run("report judged");
    assert_eq!(again, corrected);
    let (_, noted, _) = scratch.run(&format!("compare many.jsonl --stacks stacks.toml {labels} 0.95 --notes"));
    let noted = noted.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(noted.contains("the specificity is stated, not checked") && noted.contains("if it is 0.90"), "{noted}");
    let (_, checked, _) = scratch.run("compare many.jsonl --stacks stacks.toml --label-checked 50,45,50,47 --notes");
    assert!(!checked.contains("stated, not checked"), "{checked}");
    let (_, useless, _) = scratch.run(&format!("compare many.jsonl --stacks stacks.toml {labels} 0.1"));
    assert!(useless.contains("label errors: undefined"), "{useless}");
}

#[test]
fn threads_repetition_and_redrawing_change_no_byte() {
    let scratch = scratch();
    for (out, threads) in [("one", 1), ("two", 2), ("again", 2)] {
        let (code, _, stderr) = scratch.run(&format!(
            "--threads {threads} compare runs.jsonl --stacks stacks.toml --stacks preset:all --out {out}"
        ));
        assert_eq!(code, 0, "{stderr}");
    }
    assert_eq!(scratch.run("report one --out redrawn").0, 0);
    let one = scratch.contents("one");
    assert!(one.len() > 10);
    for other in ["two", "again", "redrawn"] {
        assert!(one == scratch.contents(other), "{other} differs from one");
    }
}

#[test]
fn a_snapshot_is_accepted_checked_and_guards() {
    let scratch = scratch();
    let (code, _, stderr) = scratch.run("ci accept runs.jsonl --stacks stacks.toml --snapshot stops.snap");
    assert_eq!((code, stderr.as_str()), (0, "4 stop points written to stops.snap\n"));
    insta::assert_snapshot!("stop_points", scratch.read("stops.snap"));
    assert_eq!(scratch.run("ci check runs.jsonl --stacks stacks.toml --snapshot stops.snap").0, 0);

    scratch.put("stacks.toml", &STACKS.replace("at_least = 2", "at_least = 3"));
    let (code, stdout, _) = scratch.run("ci check runs.jsonl --stacks stacks.toml --snapshot stops.snap");
    assert_eq!(code, 100);
    insta::assert_snapshot!("changed_stop_points", stdout);
    assert_eq!(scratch.run("ci diff runs.jsonl --stacks stacks.toml --snapshot stops.snap").0, 0);
}

#[test]
fn gates_fail_when_they_hold_or_cannot_be_told() {
    let scratch = scratch();
    let check = |gate: &str| scratch.run(&format!("ci check runs.jsonl --stacks stacks.toml --fail-on {gate}")).0;
    assert_eq!(check("loop:killed_rate>0.02"), 0);
    assert_eq!(check("killed_rate>0.02"), 100);
    assert_eq!(check("loop:cost_usd_spent_less_share<0"), 100, "undefined fails");
    assert_eq!(check("killed_rat>0.02"), 2);
}

#[test]
fn a_gate_says_what_is_missing_and_what_would_have_passed() {
    let scratch = scratch();
    let stack = |name: &str, rule: &str| format!("[[stack]]\nname = \"{name}\"\nany = [{{ {rule} }}]\n");
    scratch.put("tokens.toml", &stack("tokens", "signal = \"tokens.total\", at_least = 9_000"));
    let bare = ["900", "500"].iter().fold(RUNS.to_owned(), |text, input| {
        text.replace(&format!(",\"usage\":{{\"input\":{input},\"output\":100}}"), "")
    });
    assert!(!bare.contains("usage"), "{bare}");
    scratch.put("bare.jsonl", &bare);
    let ungraded = RUNS.lines().filter(|line| !line.starts_with("{\"type\":\"outcome\""));
    scratch.put("ungraded.jsonl", &ungraded.flat_map(|line| [line, "\n"]).collect::<String>());
    let mut told = String::new();
    for (runs, stacks, gate) in [
        ("bare.jsonl", "tokens.toml", "killed_rate_high>0.9"),
        ("bare.jsonl", "tokens.toml", "stops>100"),
        ("bare.jsonl", "tokens.toml", "runs<1"),
        ("ungraded.jsonl", "stacks.toml", "killed_rate>0.5"),
        ("ungraded.jsonl", "stacks.toml", "stops>100"),
        ("runs.jsonl", "stacks.toml", "loop:killed_rate>0.02"),
        ("runs.jsonl", "stacks.toml", "killed_rate>0.02"),
    ] {
        let (code, stdout, _) = scratch.run(&format!("ci check {runs} --stacks {stacks} --fail-on {gate}"));
        let _ = writeln!(told, "{runs} exits with {code}\n{stdout}");
    }
    insta::assert_snapshot!("gates", told);
}

#[test]
fn nothing_is_written_under_ci() {
    let scratch = scratch();
    let arguments = "ci accept runs.jsonl --stacks stacks.toml --snapshot stops.snap";
    let output = scratch.command(arguments).env("CI", "true").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!scratch.path("stops.snap").exists());
}

#[test]
fn errors_say_what_where_and_how_with_their_exit_code() {
    let scratch = scratch();
    scratch.put("typo.toml", "[[stack]]\nname = \"s\"\nany = [{ signal = \"step\", at_least = 3 }]\n");
    scratch.put(
        "twice.toml",
        "[[stack]]\nname = \"s\"\ncap = { steps = 3 }\n[[stack]]\nname = \"s\"\ncap = { steps = 4 }\n",
    );
    scratch.put("unknown.toml", "[[stack]]\nuse = \"awakn\"\n");
    scratch.put("notes.txt", "just notes\n");
    scratch.put("broken.jsonl", &RUNS.replace("\"role\":\"tool\",\"tool_call_id\":\"2\"", "\"role\":7"));
    let cases = [
        ("compare runs.jsonl --stacks typo.toml", 2),
        ("compare runs.jsonl --stacks twice.toml", 2),
        ("compare runs.jsonl --stacks unknown.toml", 2),
        ("compare runs.jsonl --stacks missing.toml", 2),
        ("compare nowhere --stacks stacks.toml", 3),
        ("compare notes.txt --stacks stacks.toml", 4),
        ("compare broken.jsonl --stacks stacks.toml", 0),
        ("compare broken.jsonl --stacks stacks.toml --strict", 3),
        ("compare runs.jsonl --stacks stacks.toml --as tracee", 2),
        ("explain runs.jsonl --stacks stacks.toml --run nobody", 4),
        ("report .", 3),
        ("rules explain errors.strek", 2),
    ];
    let mut told = String::new();
    for (arguments, code) in cases {
        let (got, _, stderr) = scratch.run(arguments);
        assert_eq!(got, code, "{arguments}: {stderr}");
        writeln!(told, "$ whenstop {arguments}\n{stderr}").unwrap();
    }
    insta::assert_snapshot!("errors", told);
}

#[test]
fn explain_tells_a_run_step_by_step() {
    let scratch = scratch();
    let (code, stdout, stderr) = scratch.run("explain runs.jsonl --stacks stacks.toml --run loops");
    assert_eq!(code, 0, "{stderr}");
    insta::assert_snapshot!("explain", stdout);
}

#[test]
fn lint_tells_dead_and_shadowed_rules() {
    let scratch = scratch();
    scratch.put(
        "lint.toml",
        "[[stack]]\nname = \"s\"\nany = [{ signal = \"steps\", at_least = 1 }, { signal = \"call.streak\", at_least = 2 }, \
         { signal = \"steps\", at_least = 500 }, { signal = \"elapsed\", at_least = 300000 }]\n",
    );
    let (code, stdout, _) = scratch.run("rules lint lint.toml runs.jsonl");
    assert_eq!(code, 0);
    insta::assert_snapshot!("lint", stdout);
    assert_eq!(scratch.run("rules lint lint.toml --deny-warnings").0, 100);
    assert_eq!(scratch.run("rules lint stacks.toml --deny-warnings").0, 0);
}

#[test]
fn prices_make_costs_and_their_errors_have_a_place() {
    let scratch = scratch();
    scratch.put("prices.toml", "[m]\ninput = 2\noutput = 8\n");
    scratch.put("typo.toml", "[m]\ninput = 2\nouptut = 8\n");
    let (code, _, stderr) = scratch.run("corpus runs.jsonl --price typo.toml");
    assert_eq!(code, 2);
    assert!(stderr.contains("typo.toml:3:1") && stderr.contains("did you mean `output`?"), "{stderr}");
    let (code, stdout, _) = scratch.run("corpus runs.jsonl --price prices.toml");
    assert_eq!(code, 0);
    assert!(stdout.contains("computed from prices.toml"), "{stdout}");
}

#[test]
fn corpus_counts_as_json() {
    let scratch = scratch();
    let (code, stdout, _) = scratch.run("corpus runs.jsonl --format json");
    assert_eq!(code, 0);
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let counts = &json["formats"][0];
    let fields = [
        "format",
        "files",
        "runs",
        "steps",
        "with_outcome",
        "successes",
        "failures",
        "unknown",
        "with_usage",
        "tokens",
    ];
    let got: Vec<String> = fields.iter().map(|field| counts[field].to_string()).collect();
    assert_eq!(got.join(" "), r#""trace" 1 2 6 2 1 1 0 2 5200"#);
    assert!(json["findings"].as_array().is_some_and(Vec::is_empty) && json["skipped"].is_array());
}

#[test]
fn a_comparison_is_made_again_from_its_manifest() {
    let scratch = Scratch::with(&[
        ("runs/a.jsonl", RUN),
        (
            "s.toml",
            "[[stack]]\nname = \"one\"\nany = [{ signal = \"steps\", at_least = 1 }]\n[[stack]]\nname = \"c\"\nuse = \"cline\"\n",
        ),
    ]);
    let (code, _, stderr) = scratch.run("compare runs --stacks s.toml --max-killed 0.1 --threads 1 --out first");
    assert_eq!(code, 0, "{stderr}");
    let manifest: serde_json::Value = serde_json::from_str(&scratch.read("first/manifest.json")).unwrap();
    let words: Vec<&str> =
        manifest["made"]["command"].as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
    let files: Vec<&str> =
        manifest["made"]["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(files, ["runs/a.jsonl", "s.toml"]);
    let (code, _, stderr) = scratch.run(&format!("{} --out again", words.join(" ")));
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(scratch.contents("first"), scratch.contents("again"));
    // Another content is seen by its hash.
    scratch.put("runs/a.jsonl", &RUN.replace("\"ls\"", "\"lz\""));
    assert_eq!(scratch.run(&format!("{} --out other", words.join(" "))).0, 0);
    let other: serde_json::Value = serde_json::from_str(&scratch.read("other/manifest.json")).unwrap();
    assert_ne!(manifest["made"]["files"][0]["xxh3"], other["made"]["files"][0]["xxh3"]);
    assert_eq!(manifest["made"]["files"][1], other["made"]["files"][1]);
}

/// One run of three steps.
const RUN: &str = r#"{"type":"run","run_id":"a","task_id":"t"}
{"type":"message","role":"assistant","content":"one","tool_calls":[{"id":"1","name":"sh","arguments":{"c":"ls"}}]}
{"type":"message","role":"tool","tool_call_id":"1","content":"x","is_error":false}
{"type":"message","role":"assistant","content":"two","tool_calls":[{"id":"2","name":"sh","arguments":{"c":"ls"}}]}
{"type":"message","role":"tool","tool_call_id":"2","content":"x","is_error":false}
{"type":"message","role":"assistant","content":"done"}
{"type":"outcome","success":true}
"#;

#[test]
fn stacks_of_one_name_are_one_if_they_are_equal_and_told_apart_if_not() {
    let mine =
        "[[stack]]\nname = \"openhands\"\nany = [{ signal = \"steps\", at_least = 3 }]\n\n[[stack]]\nuse = \"goose\"\n";
    let scratch = Scratch::with(&[("mine.toml", mine), ("again.toml", mine), ("run.jsonl", RUNS)]);
    let rows = |stacks: &str| -> Vec<String> {
        let (code, stdout, stderr) = scratch.run(&format!("compare run.jsonl {stacks} --format csv --quiet"));
        assert_eq!(code, 0, "{stderr}");
        stdout.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
    };
    assert_eq!(rows("--stacks mine.toml --stacks again.toml"), ["openhands", "goose"]);
    let all = rows("--stacks mine.toml --stacks preset:all");
    assert_eq!(all.iter().filter(|name| *name == "goose").count(), 1, "{all:?}");
    let named: Vec<&String> = all.iter().filter(|name| name.contains("openhands")).collect();
    assert_eq!(named, ["openhands", "preset:openhands"]);
    scratch.put("again.toml", &mine.replace("at_least = 3", "at_least = 4"));
    assert_eq!(rows("--stacks mine.toml --stacks again.toml"), ["openhands", "goose", "openhands (again.toml)"]);
}

#[test]
fn every_name_in_a_table_can_be_given_back() {
    let scratch = Scratch::with(&[("run.jsonl", RUNS)]);
    let names = |stacks: &[&str]| -> Vec<String> {
        let mut command = scratch.command("compare run.jsonl --format csv --quiet");
        let output = command.args(stacks.iter().flat_map(|stack| ["--stacks", *stack])).output().unwrap();
        assert!(output.status.success(), "{stacks:?}: {}", String::from_utf8_lossy(&output.stderr));
        let stdout = String::from_utf8(output.stdout).unwrap();
        stdout.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
    };
    let all = names(&["preset:all", "system:all"]);
    assert!(all.iter().any(|name| name == "langchain (AgentExecutor)"), "{all:?}");
    let given: Vec<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(names(&given), all);
}
