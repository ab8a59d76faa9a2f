//! What a person is told: bad stack files, configurations, labels and prices, each message with its place and what to
//! do about it. Input, command and message stand on one page of the snapshots.

use std::fmt::Write as _;

use crate::scratch::Scratch;

/// Two graded runs of three and two steps, one of them recorded at a cost of 0.
const RUNS: &str = r#"{"type":"run","run_id":"a-1","task_id":"t1","model":"m-1"}
{"type":"message","role":"assistant","content":"one","usage":{"input":900,"output":100},"cost_usd":0}
{"type":"message","role":"assistant","content":"two","usage":{"input":900,"output":100},"cost_usd":0}
{"type":"message","role":"assistant","content":"three","usage":{"input":900,"output":100},"cost_usd":0}
{"type":"outcome","success":true,"end":"self_finish"}
{"type":"run","run_id":"a-2","task_id":"t2","model":"m-2"}
{"type":"message","role":"assistant","content":"one","usage":{"input":900,"output":100},"cost_usd":0.5}
{"type":"message","role":"assistant","content":"two","usage":{"input":900,"output":100},"cost_usd":0.25}
{"type":"outcome","success":false,"end":"cap"}
"#;

/// The same without outcomes.
fn ungraded() -> String {
    RUNS.split_inclusive('\n').filter(|line| !line.contains("\"outcome\"")).collect()
}

fn scratch() -> Scratch {
    let stacks = "[[stack]]\nname = \"hasty\"\nany = [{ signal = \"steps\", at_least = 1 }]\n\
        [[stack]]\nname = \"slow\"\nany = [{ signal = \"steps\", at_least = 2 }]\n";
    Scratch::with(&[("runs.jsonl", RUNS), ("ungraded.jsonl", &ungraded()), ("stacks.toml", stacks)])
}

/// Lints each stack file, all of which must be refused, and shows file and message.
fn refused(files: &[&str]) -> String {
    let scratch = scratch();
    let mut told = String::new();
    scratch.put("awaken.json", "[\n  {\"type\": \"timeout\", \"secnds\": 300}\n]\n");
    for file in files {
        scratch.put("s.toml", file);
        let (code, stdout, stderr) = scratch.run("rules lint s.toml");
        assert_eq!((code, stdout.as_str()), (2, ""), "{file}");
        for line in stderr.lines() {
            assert!(line.chars().count() <= 80, "more than 80 columns: {line}");
        }
        writeln!(told, "{}\n{stderr}", "-".repeat(60)).unwrap();
    }
    told
}

fn stack(rest: &str) -> String {
    format!("[[stack]]\nname = \"s\"\n{rest}\n")
}

fn rule(rule: &str) -> String {
    stack(&format!("any = [{{ {rule} }}]"))
}

#[test]
fn keys_that_are_not_there() {
    let files = [
        stack("anny = [{ signal = \"steps\", at_least = 5 }]"),
        stack("any = []"),
        stack("all = []"),
        stack("all = [{ signal = \"steps\", at_least = 5 }]\nany = [{ signal = \"cost\", at_least = 1 }]"),
        stack("signal = \"steps\"\nat_least = 5"),
        stack("max_steps = 50"),
        stack("cap = { elapsed = 300 }"),
        stack("cap = 50"),
        "[stack]\nname = \"s\"\nany = [{ signal = \"steps\", at_least = 5 }]\n".to_owned(),
        "name = \"s\"\nany = [{ signal = \"steps\", at_least = 5 }]\n".to_owned(),
        rule("signal = \"steps\", \">\" = 3"),
        rule("signal = \"steps\", > = 3"),
        rule("signal = \"steps\", max = 3"),
        rule("elapsed = \"5m\""),
        rule("tokens.total = \"200k\""),
        rule("signal = \"tokens\", at_least = 200_000"),
        rule("signal = \"steps\", at_least = 3, window = 5"),
        rule("all = [{ signal = \"steps\", at_least = 5, then = \"warn\" }]"),
        rule("signal = \"steps\", at_least = 5, at_most = 9"),
        rule("any = [{ signal = \"stepz\", at_least = 5 }], not = 3"),
        String::new(),
        "[[stack]\nname = \"s\n".to_owned(),
    ];
    insta::assert_snapshot!("stack_keys", refused(&files.each_ref().map(String::as_str)));
}

#[test]
fn limits_and_words_that_cannot_be() {
    let files = [
        rule("signal = \"steps\", at_least = -5"),
        rule("signal = \"steps\", at_least = 0"),
        rule("signal = \"errors.share\", less_than = 0.0"),
        rule("signal = \"elapsed\", at_least = \"5m\""),
        rule("signal = \"tokens.total\", at_least = \"200k\""),
        rule("signal = \"steps\", at_least = \"many\""),
        rule("signal = \"steps\", at_least = 99999999999999999999"),
        rule("signal = \"steps\", at_least = 1e999"),
        rule("signal = \"steps\", at_least = nan"),
        rule("signal = \"steps\", at_least = [3]"),
        rule("signal = \"steps\""),
        rule("signal = \"text.match\", regex = \"(\""),
        rule("signal = \"call.streak\", at_least = 3, exempt_tools = \"wait\""),
        rule("signal = \"steps\", at_least = 5, then = \"abort\""),
        rule("signal = \"steps\", at_least = 5, at = \"after\""),
        rule("signal = \"steps\", at_least = 5, strikes = 0"),
        stack("cap = { steps = 0 }"),
        stack("cap = { steps = 5_000_000_000 }"),
        stack("cap = { steps = 2.5 }"),
        stack("cap = { steps = 5, on_hit = { bailout = \"stop\", budget = 1 } }"),
    ];
    insta::assert_snapshot!("stack_values", refused(&files.each_ref().map(String::as_str)));
}

#[test]
fn settings_of_systems_and_presets() {
    let files = [
        "[[stack]]\nname = \"mine\"\nuse = \"roo\"\n",
        "[[stack]]\nname = \"mine\"\nuse = \"roo-code\"\nset = { consecutiveMistakeLimt = 5, allowedMaxCost = \"much\" }\n",
        "[[stack]]\nname = \"mine\"\nuse = \"roo-code\"\nprofile = \"natve\"\n",
        "[[stack]]\nname = \"mine\"\nuse = \"awaken\"\nprofile = \"publishd-0.6\"\nset = { max_round = 5, shared_counters = 1 }\n",
        "[[stack]]\nname = \"mine\"\nuse = \"awaken\"\nset = { max_rounds = 99999999999999999999 }\n",
        "[[stack]]\nname = \"mine\"\nuse = \"cline\"\n[stack.set.execution.loopDetection]\nhardThreshhold = 5\n",
        "[[stack]]\nname = \"mine\"\nuse = \"roo-code\"\nconfig = \"roo.json\"\n",
        "[[stack]]\nname = \"mine\"\nuse = \"awaken\"\nany = [{ signal = \"steps\", at_least = 5 }]\n",
        "[[stack]]\nname = \"mine\"\nuse = \"awaken\"\nconfig = \"awakn.json\"\n",
        "[[stack]]\nname = \"mine\"\nuse = \"awaken\"\nconfig = \"awaken.json\"\n",
        "[[stack]]\nname = \"mine\"\nuse = \"awaken\"\nsettings = { max_rounds = 5 }\n",
    ];
    insta::assert_snapshot!("stack_settings", refused(&files));
}

#[test]
fn all_errors_of_a_file_are_told_at_once() {
    let file = "[[stack]]\nname = \"one\"\nanny = []\n\n[[stack]]\nname = \"two\"\nany = [\n  \
        { signal = \"stepz\", at_least = 3 },\n  { signal = \"steps\", at_leest = 3, then = \"halt\" },\n]\n\n\
        [[stack]]\nuse = \"awakn\"\n\n[[stack]]\nuse = \"awaken\"\nset = { max_round = 3 }\n";
    insta::assert_snapshot!("stack_errors_at_once", refused(&[file]));
}

#[test]
fn a_stack_may_be_one_conjunction() {
    let scratch = scratch();
    let both = "[{ signal = \"steps\", at_least = 2 }, { signal = \"tokens.total\", at_least = 1500 }]";
    scratch.put("all.toml", &stack(&format!("all = {both}")));
    scratch.put("any.toml", &stack(&format!("any = [{{ all = {both} }}]")));
    let told = |stacks: &str| scratch.run(&format!("compare runs.jsonl --quiet --format csv --stacks {stacks}"));
    assert_eq!(told("all.toml"), told("any.toml"));
    assert_eq!(told("all.toml").0, 0);
}

#[test]
fn names_on_the_command_line_have_near_misses() {
    let scratch = scratch();
    let mut told = String::new();
    for stacks in
        ["preset:roo", "preset:swe", "system:awakn", "preset:awakn", "roo-cod", "stack.toml", "preset:nothing"]
    {
        let (code, _, stderr) = scratch.run(&format!("compare runs.jsonl --stacks {stacks}"));
        assert_eq!(code, 2, "{stacks}");
        writeln!(told, "$ --stacks {stacks}\n{stderr}").unwrap();
    }
    insta::assert_snapshot!("stack_names", told);
}

#[test]
fn lint_looks_into_configurations() {
    let scratch = scratch();
    let awaken = "[\n  {\"type\": \"timeout\", \"seconds\": 300000},\n  {\"type\": \"loop_detection\", \"window\": 65},\n  \
        {\"type\": \"content_match\", \"pattern\": \"[\"},\n  {\"type\": \"token_budget\", \"max_total\": 0},\n  \
        {\"type\": \"max_rounds\", \"rounds\": 50}\n]\n";
    scratch.put("awaken.json", awaken);
    scratch.put("agentao.toml", "max_iterations = 0\nstrategy = \"smart\"\n");
    scratch.put(
        "mira.json",
        "{\"goals\": [{\"metric\": \"f1\", \"operator\": \"=>\", \"value\": 0.9}], \"maxTokens\": 0}\n",
    );
    let files = "[[stack]]\nuse = \"awaken\"\nconfig = \"awaken.json\"\n\n[[stack]]\nuse = \"agentao\"\n\
        config = \"agentao.toml\"\n\n[[stack]]\nuse = \"mira\"\nconfig = \"mira.json\"\n\n[[stack]]\nuse = \"deerflow\"\n\
        set = { window_size = 2 }\n\n[[stack]]\nname = \"own\"\nany = [\n  { signal = \"elapsed\", at_least = 300000 },\n  \
        { signal = \"errors.share\", at_least = 80 },\n]\n";
    scratch.put("s.toml", files);
    let (code, stdout, stderr) = scratch.run("rules lint s.toml");
    assert_eq!((code, stderr.as_str()), (0, ""));
    for line in stdout.lines() {
        assert!(line.chars().count() <= 80, "more than 80 columns: {line}");
    }
    insta::assert_snapshot!("lint_configurations", stdout);
    assert_eq!(scratch.run("rules lint s.toml --deny-warnings").0, 100);
}

#[test]
fn lint_cites_no_file_that_it_does_not_write() {
    let scratch = scratch();
    let stacks = "[[stack]]\nname = \"s\"\nany = [{ signal = \"elapsed\", at_least = 9 }, { signal = \"steps\", at_least = 1 }, \
        { signal = \"cost\", at_least = 9 }]\n";
    scratch.put("s.toml", stacks);
    let (code, stdout, _) = scratch.run("rules lint s.toml runs.jsonl");
    assert_eq!(code, 0);
    assert!(stdout.contains("cannot be evaluated") && !stdout.contains(".csv"), "{stdout}");
    insta::assert_snapshot!("lint_on_runs", stdout);
}

/// Compares the runs with this file of labels and shows exit code and messages.
fn labelled(told: &mut String, runs: &str, labels: &str, options: &str) -> i32 {
    let scratch = scratch();
    scratch.put("l.csv", labels);
    let (code, _, stderr) = scratch.run(&format!("compare {runs} --stacks stacks.toml --labels l.csv {options}"));
    let shown: String = labels.chars().map(|c| if c == '\t' { '→' } else { c }).collect();
    let options = if options.is_empty() { String::new() } else { format!(" {options}") };
    writeln!(told, "{}\n{}\n$ --labels l.csv{options}: exit {code}\n{stderr}", "-".repeat(60), shown.trim_end())
        .unwrap();
    code
}

#[test]
fn labels_that_leave_nothing_labelled_end_the_command() {
    let mut told = String::new();
    for labels in [
        "run_id;success\na-1;true\n",
        "run_id\tsuccess\na-1\ttrue\n",
        "id,success\na-1,true\n",
        "success,score\ntrue,1\n",
        "{\"run_id\": \"a-1\", \"success\": true}\n",
        "",
        "run_id,success\n",
        "run_id,task_id,success,score\na-1,t1,,\na-2,t2,,\n",
        "run_id,success\na-1,maybe\n",
        "run_id,success\nb-1,true\nb-2,false\n",
    ] {
        assert_eq!(labelled(&mut told, "ungraded.jsonl", labels, ""), 3, "{labels}");
    }
    let (code, _, stderr) = scratch().run("compare ungraded.jsonl --stacks stacks.toml --labels nowhere.csv");
    writeln!(told, "{}\n$ --labels nowhere.csv: exit {code}\n{stderr}", "-".repeat(60)).unwrap();
    assert_eq!(code, 3);
    // A file among the recordings is meant as well.
    let scratch = Scratch::with(&[("runs/r.jsonl", &ungraded()), ("runs/labels.csv", "run_id;success\na-1;true\n")]);
    scratch.put("stacks.toml", "[[stack]]\nname = \"s\"\ncap = { steps = 2 }\n");
    assert_eq!(scratch.run("compare runs --stacks stacks.toml").0, 3);
    assert_eq!(scratch.run("compare runs/r.jsonl --stacks stacks.toml").0, 3);
    insta::assert_snapshot!("labels_refused", told);
}

#[test]
fn labels_that_look_wrong_are_told_with_any_command() {
    let mut told = String::new();
    for (labels, options) in [
        ("run_id,success\na-1,true\na-2,false\nstray,true\n", ""),
        ("run_id,success\na-1,true\na-2,false\nstray,true\n", "--allow-unmatched-labels"),
        ("run_id,success\nb-1,true\n", "--allow-unmatched-labels"),
        ("run_id,score\na-1,87\na-2,12\n", ""),
        ("run_id,score\na-1,87\na-2,12\n", "--success-at 60"),
        ("run_id,score\na-1,0.8\na-2,0.1\n", ""),
        ("run_id,success,secured_step\na-1,true,3\na-2,false,\n", ""),
        ("run_id,success\na-1,true\na-1,false\na-2,false\n", ""),
        ("run_id,success\na-1,true\na-1,true\na-2,false\n", ""),
        ("Run ID,success,colour\na-1,true,red\n", ""),
        ("run_id,success,scor\na-1,true,1\na-2,false,0\n", ""),
    ] {
        assert_eq!(labelled(&mut told, "ungraded.jsonl", labels, options), 0, "{labels}");
    }
    assert_eq!(labelled(&mut told, "runs.jsonl", "run_id,success\na-1,false\na-2,false\n", ""), 0);
    assert_eq!(labelled(&mut told, "runs.jsonl", "run_id,success\na-1,true\nstray,false\n", "--strict"), 3);
    insta::assert_snapshot!("labels_told", told);
}

#[test]
fn two_labels_that_contradict_each_other_label_nothing() {
    let scratch = scratch();
    scratch.put("l.csv", "run_id,success\na-1,true\na-1,false\na-2,false\n");
    let (_, stdout, _) = scratch.run("corpus ungraded.jsonl --labels l.csv --format json");
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let counts = &report["formats"][0];
    assert_eq!((&counts["failures"], &counts["successes"], &counts["unknown"]), (&1.into(), &0.into(), &1.into()));
}

#[test]
fn an_outcome_field_that_no_run_has_is_told() {
    let scratch = scratch();
    scratch.put("chat.jsonl", "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":\"y\"}],\"won\":true}\n");
    let mut told = String::new();
    for command in
        ["corpus chat.jsonl --outcome one", "corpus chat.jsonl --outcome won", "corpus runs.jsonl --outcome won"]
    {
        let (code, stdout, _) = scratch.run(command);
        assert_eq!(code, 0, "{command}");
        let notices: Vec<&str> = stdout.lines().skip_while(|line| !line.starts_with("warning")).take(2).collect();
        writeln!(told, "$ {command}\n{}\n", notices.join("\n")).unwrap();
    }
    insta::assert_snapshot!("outcome_fields", told);
}

#[test]
fn a_template_is_filled_in_and_read_back() {
    let scratch = scratch();
    let (code, stdout, stderr) = scratch.run("labels ungraded.jsonl --template todo.csv --stacks stacks.toml");
    assert_eq!((code, stdout.as_str()), (0, ""), "{stderr}");
    let template = scratch.read("todo.csv");
    let mut told =
        format!("$ whenstop labels ungraded.jsonl --template todo.csv --stacks stacks.toml\n{stderr}\n{template}\n");
    // As it is, it labels nothing; beside the recordings that is told, and not as unknown columns.
    let (code, _, stderr) = scratch.run("corpus ungraded.jsonl --labels todo.csv");
    assert_eq!(code, 3);
    writeln!(told, "$ --labels todo.csv\n{stderr}").unwrap();
    let (code, _, stderr) = scratch.run("labels ungraded.jsonl --template todo.csv");
    assert_eq!(code, 2);
    writeln!(told, "$ --template todo.csv\n{stderr}").unwrap();
    scratch.put("filled.csv", &template.replace("a-1,t1,,", "a-1,t1,true,"));
    let (code, stdout, stderr) = scratch.run("labels ungraded.jsonl --labels filled.csv --template -");
    assert_eq!(code, 0, "{stderr}");
    writeln!(told, "$ --labels filled.csv --template -\n{stderr}\n{stdout}").unwrap();
    let (code, _, stderr) = scratch.run("labels runs.jsonl --template -");
    assert_eq!(code, 4);
    writeln!(told, "$ labels runs.jsonl --template -\n{stderr}").unwrap();
    insta::assert_snapshot!("labels_template", told);
}

#[test]
fn a_recorded_cost_of_nothing_is_unknown_unless_the_model_is_free() {
    let scratch = scratch();
    scratch.put("prices.toml", "[m-1]\ninput = 2\noutput = 8\n[m-2]\ninput = 1\noutput = 1\n");
    scratch.put("one.toml", "[m-1]\ninput = 2\noutput = 8\n");
    scratch.put("free.toml", "[m-1]\ninput = 0\noutput = 0\n");
    let mut told = String::new();
    for (options, with_cost, cost) in [
        ("", 1, 0.75),
        ("--free-model m-1", 2, 0.75),
        ("--price free.toml", 2, 0.75),
        // 3 x (900 x 2 + 100 x 8) = 7,800 millionths for the run that records 0.
        ("--price prices.toml", 2, 0.7578),
        // 2 x (900 + 100) = 2,000 millionths for the other.
        ("--price prices.toml --override", 2, 0.0098),
        ("--price one.toml --override", 2, 0.7578),
    ] {
        let (code, stdout, _) = scratch.run(&format!("corpus runs.jsonl --format json {options}"));
        assert_eq!(code, 0, "{options}");
        let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        let counts = &report["formats"][0];
        assert_eq!(counts["with_cost"], with_cost, "{options}");
        assert!((counts["cost_usd"].as_f64().unwrap() - cost).abs() < 1e-9, "{options}: {}", counts["cost_usd"]);
        let (_, stdout, _) = scratch.run(&format!("corpus runs.jsonl {options}"));
        let lines = stdout
            .lines()
            .filter(|line| line.contains("cost") || line.contains("free-model") || line.contains("recorded"));
        writeln!(told, "$ corpus runs.jsonl {options}\n{}\n", lines.collect::<Vec<_>>().join("\n")).unwrap();
    }
    assert_eq!(scratch.run("corpus runs.jsonl --override").0, 2, "nothing to override with");
    insta::assert_snapshot!("zero_costs", told);
    // A copy keeps what was recorded.
    assert_eq!(scratch.run("convert runs.jsonl --out copy.jsonl").0, 0);
    assert_eq!(scratch.read("copy.jsonl").matches("\"cost_usd\":0.0").count(), 3);
}

/// A stack file with a bit of everything.
const WHOLE: &str = r#"[[stack]]
name = "own"
any = [
  { signal = "text.match", regex = "done|finished", of = "reply", part = "closing" },
  { all = [{ signal = "errors.streak", at_least = 3 }, { not = { signal = "steps", less_than = 4 } }], latched = true },
  { signal = "call.count", more_than = 2, window = 9, identity = { fields = ["path"] }, strikes = 2, then = "warn" },
]
cap = { steps = 50, on_hit = [{ when = { signal = "steps", at_least = 9 }, then = "continue" }, { then = "stop" }] }

[[stack]]
name = "é七"
use = "cline"
set = { execution.maxConsecutiveMistakes = 4 }
"#;

#[test]
fn whatever_is_broken_in_a_file_is_told_with_its_place() {
    let load = |text: &str| whenstop::catalog::load("w.toml", text).map(|_| ());
    assert_eq!(load(WHOLE), Ok(()));
    let mut refused = 0;
    for (at, c) in WHOLE.char_indices() {
        for put in ["", "x", "\"", "[", "9", "七", "\n", "-"] {
            let text = format!("{}{put}{}", &WHOLE[..at], &WHOLE[at + c.len_utf8()..]);
            let Err(errors) = load(&text) else { continue };
            refused += 1;
            for error in &errors {
                let lines = text.split('\n').count();
                assert!(error.at.path == "w.toml" && (1..=lines).contains(&error.at.line), "{error:?}\n{text}");
                assert!(!error.what.is_empty() && !error.help.is_empty(), "{error:?}\n{text}");
                let shown = error.render(whenstop::diagnostic::Severity::Error);
                assert!(!shown.contains('\t') && shown.lines().count() <= 6, "{shown}");
            }
        }
    }
    assert!(refused > 2000, "{refused}");
}

/// Chats in one file, whose id has a name that no reader knows, and outcomes by it.
#[test]
fn an_id_under_another_name_is_named_with_the_mapping_that_takes_it() {
    let chat = |n: usize| {
        format!(
            "{{\"conv\":\"c{n}\",\"conversations\":[{{\"from\":\"human\",\"value\":\"go {n}\"}},{{\"from\":\"gpt\",\"value\":\"done {n}\"}}]}}\n"
        )
    };
    let chats: String = (0..4).map(chat).collect();
    let scratch = Scratch::with(&[
        ("rec/all.jsonl", &chats),
        ("outcomes.csv", "conv,ok\nc0,true\nc1,false\nc2,true\nc3,false\n"),
        ("plain/agent.log", "10:00:00 INFO step=0 tool=ls\n"),
        ("plain/run.yaml", "run: r1\nmessages:\n  - role: user\n"),
    ]);
    let map = "--map run=conv,messages=conversations,role=from,text=value";
    let (_, told, _) = scratch.run("corpus rec");
    assert!(told.contains(&format!("`conv` (chat) may be the run's id (4 values): `{map}`")), "{told}");
    let labels = "--labels outcomes.csv --label-columns run_id=conv,success=ok";
    let (code, _, told) = scratch.run(&format!("corpus rec {labels}"));
    assert!(code != 0 && told.contains(&format!("a field that may name them: `{map}`")), "{told}");
    let (code, told, errors) = scratch.run(&format!("corpus rec {map} {labels} --format csv"));
    assert_eq!(code, 0, "{errors}");
    assert!(told.contains("mapped,1,4,4,2,2,0"), "{told}");
    std::fs::remove_file(scratch.path("outcomes.csv")).unwrap();
    let (_, told, _) = scratch.run("corpus rec --label-columns run_id=conv");
    assert!(told.contains("`--label-columns run_id=conv` has no effect: no file with labels is read"), "{told}");
    for (file, advice) in
        [("agent.log", "a log in plain text names no fields"), ("run.yaml", "`yq -o=json run.yaml > run.json`")]
    {
        let (code, _, told) = scratch.run(&format!("corpus plain/{file}"));
        assert!(code != 0 && told.contains(advice) && told.contains(file), "{told}");
    }
}
