//! `tune --grid` and `tune --signal` on corpora small enough to work out by hand.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use whenstop::aggregate::Row;
use whenstop::catalog;
use whenstop::compare::Comparison;
use whenstop::framework::Parameter;
use whenstop::reader::{Corpus, ReadOptions};
use whenstop::stack::{Guards, Use};
use whenstop::sweep::{GridFile, GridKind};
use whenstop::verdict::Assumptions;

use crate::scratch::Scratch;
use crate::shared;

/// The exit code without a stack to ship.
const NOTHING_TO_SHIP: i32 = 100;

/// A run that asks for the same call `calls` times and then answers; every step takes 1000 tokens.
fn run(task: &str, calls: usize, success: bool) -> String {
    let mut text = format!("{{\"type\":\"run\",\"run_id\":\"run-{task}\",\"task_id\":\"{task}\",\"model\":\"m\"}}\n");
    let usage = "\"usage\":{\"input\":900,\"output\":100}";
    for id in 0..calls {
        let call = format!("{{\"id\":\"{id}\",\"name\":\"ls\",\"arguments\":{{}}}}");
        let (role, result) = ("\"type\":\"message\",\"role\"", "\"content\":\"a.txt\",\"is_error\":false");
        writeln!(text, "{{{role}:\"assistant\",\"content\":\"\",\"tool_calls\":[{call}],{usage}}}").unwrap();
        writeln!(text, "{{{role}:\"tool\",\"tool_call_id\":\"{id}\",{result}}}").unwrap();
    }
    writeln!(text, "{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Done.\",{usage}}}").unwrap();
    writeln!(text, "{{\"type\":\"outcome\",\"success\":{success},\"end\":\"self_finish\"}}").unwrap();
    text
}

/// `once` successes with one call, 5 successes with two, and 10 failures with six; one run a task.
fn corpus(once: usize) -> String {
    let successes = (0..once + 5).map(|at| run(&format!("good-{at:02}"), if at < once { 1 } else { 2 }, true));
    successes.chain((0..10).map(|at| run(&format!("bad-{at:02}"), 6, false))).collect()
}

fn scratch() -> Scratch {
    Scratch::with(&[("runs.jsonl", &corpus(45)), ("few.jsonl", &corpus(35))])
}

const REPEATS: &str = "--signal|call_result.count|--limits|2..6";

#[test]
fn limits_are_counted_as_by_hand_and_the_one_to_ship_is_written() {
    let scratch = scratch();
    let (code, stdout, stderr) = scratch.run(&format!("tune|runs.jsonl|{REPEATS}|--max-killed|0.1|--out|out"));
    assert_eq!(code, 0, "{stderr}");
    insta::assert_snapshot!("limits_table", stdout);
    // 45 runs of 2 steps, 5 of 3, 10 of 7: 175 steps of 1000 tokens. `>= 3` ends each failure 4 steps early.
    let columns = ["stack", "stops", "killed_unverified", "true_stop", "killed_rate", "tokens_saved_share"];
    let table = scratch.table("out/summary.csv");
    let got: Vec<String> = table.iter().map(|row| columns.map(|column| row[column].clone()).join(" | ")).collect();
    let expected = [
        "call_result.count >= 6 | 10 | 0 | 10 | 0 | 0.057143",
        "call_result.count >= 5 | 10 | 0 | 10 | 0 | 0.114286",
        "call_result.count >= 4 | 10 | 0 | 10 | 0 | 0.171429",
        "call_result.count >= 3 | 10 | 0 | 10 | 0 | 0.228571",
        "call_result.count >= 2 | 15 | 5 | 10 | 0.1 | 0.285714",
    ];
    assert_eq!(got, expected);
    // Of 50 successes none of which is killed the exact bound is 1 - 0.05^(1/50) = 5.8 %; the five limits are one chain.
    assert_eq!((&*table[3]["killed_at_most"], &*table[3]["chains_tried"]), ("0.058155", "1"));
    assert!(stdout.starts_with("Ship `call_result.count >= 3`: it kills at most 5.8 %"), "{stdout}");
    let stack = scratch.read("out/tuned.toml");
    assert!(stack.contains("signal = \"call_result.count\", at_least = 3"), "{stack}");
    // It stops the 10 failures of 60 runs.
    assert!(stack.contains("stopped = 0.16666666666666666") && stack.contains("models = [\"m\"]"), "{stack}");
    let (code, compared, stderr) = scratch.run("compare|runs.jsonl|--stacks|out/tuned.toml|--format|csv");
    assert_eq!(code, 0, "{stderr}");
    assert!(compared.contains("\ntuned,"), "{compared}");
}

#[test]
fn limits_are_judged_as_the_same_stacks_of_a_file() {
    let scratch = scratch();
    let mut stacks = String::new();
    for limit in (2..=6).rev() {
        let name = format!("call_result.count >= {limit}");
        let rule = format!("{{ signal = \"call_result.count\", at_least = {limit} }}");
        writeln!(stacks, "[[stack]]\nname = \"{name}\"\nany = [{rule}]").unwrap();
    }
    scratch.put("stacks.toml", &stacks);
    for promise in ["--max-killed|0.05", "--max-killed|0.06|--confidence|0.9", "--split|test|--max-killed|0.3"] {
        let (tuned_code, tuned, _) = scratch.run(&format!("tune|runs.jsonl|{REPEATS}|{promise}|--format|json"));
        let (code, compared, stderr) =
            scratch.run(&format!("compare|runs.jsonl|--stacks|stacks.toml|{promise}|--format|json"));
        assert_eq!((code, &tuned), (0, &compared), "{promise}: {stderr}");
        let answer: serde_json::Value = serde_json::from_str(&tuned).unwrap();
        assert_eq!(tuned_code, if answer["ship"].is_null() { 100 } else { 0 }, "{promise}");
    }
}

#[test]
fn a_rule_added_to_a_stack_stops_where_either_does() {
    let scratch = scratch();
    let stack = "[[stack]]\nname = \"cap\"\ncap = { steps = 5 }\n[[stack]]\nuse = \"awaken\"\n";
    scratch.put("stacks.toml", stack);
    let tune = format!("tune|runs.jsonl|{REPEATS}|--with|stacks.toml|cap|--out|out");
    assert!(matches!(scratch.run(&tune).0, 0 | 100));
    let rows = scratch.table("out/rows.csv");
    let stops: Vec<&str> =
        rows.iter().filter(|row| row["run_id"] == "run-bad-00").map(|row| &*row["stop_point"]).collect();
    let capped = "5:before_request";
    assert_eq!(stops, [capped, "4:after_tools", "3:after_tools", "2:after_tools", "1:after_tools"]);
}

#[test]
fn label_errors_are_corrected_clipped_or_undefined() {
    let scratch = scratch();
    let tune = |errors: &str, out: &str| {
        let (code, _, stderr) = scratch.run(&format!("tune|runs.jsonl|{REPEATS}|{errors}|--out|{out}"));
        assert!(matches!(code, 0 | 100), "{stderr}");
        let estimates = scratch.table(&format!("{out}/estimates.csv"));
        [3, 2].map(|limit| {
            let stack = format!("call_result.count >= {limit}");
            let is_it = |row: &&std::collections::BTreeMap<String, String>| {
                row["stack"] == stack && row["name"] == "killed_rate_corrected" && row["suite"].is_empty()
            };
            estimates.iter().find(is_it).map(|row| row["value"].clone()).unwrap_or_default()
        })
    };
    // `>= 2` stops 5 labelled successes and 10 labelled failures: (5 - 0.1 * 15) / (50 - 0.1 * 60) = 3.5 / 44.
    let some = tune("--label-specificity|0.9|--label-sensitivity|0.95", "some");
    assert_eq!(some, ["0", "0.079545"]);
    // 50 of 60 labelled successes are more than a sensitivity of 0.8 allows: all 60 are taken for successes, 5 killed.
    let clipped = tune("--label-specificity|0.9|--label-sensitivity|0.8", "clipped");
    assert_eq!(clipped, ["0", "0.083333"]);
    assert_eq!(tune("--label-specificity|1", "none"), ["0", "0.1"]);
    let coin = tune("--label-specificity|0.5|--label-sensitivity|0.5", "coin");
    assert_eq!(coin, ["", ""]);
}

#[test]
fn a_refusal_says_how_many_tasks_are_missing() {
    let scratch = scratch();
    let (code, stdout, _) = scratch.run(&format!("tune|few.jsonl|{REPEATS}|--out|tuned"));
    assert_eq!(code, 100);
    insta::assert_snapshot!("limits_refused", stdout);
    assert!(!scratch.contents("tuned").iter().any(|(name, _)| name == "tuned.toml"));
}

/// The figure says how many of the successes and of the failures each limit ends, and names the one to ship.
#[test]
fn limits_are_drawn_as_detectors() {
    let scratch = scratch();
    let (code, stdout, stderr) =
        scratch.run("tune|runs.jsonl|--signal|call_result.count|--limits|2..4|--max-killed|0.5|--out|tuned");
    assert_eq!(code, 0, "{stderr}");
    let figure = scratch.read("tuned/detector.svg");
    let said = stdout.split('`').nth(1).unwrap().replace('>', "&gt;");
    assert!(stdout.contains("As detectors:") && figure.contains(&said), "{said}: {figure}");
    assert!(figure.contains("successes ended early, %") && figure.contains("of all runs, "), "{figure}");
}

#[test]
fn errors_say_what_and_how() {
    let scratch = scratch();
    let stacks = "[[stack]]\nname = \"cap\"\ncap = { steps = 5 }\n[[stack]]\nuse = \"awaken\"\n";
    scratch.put("stacks.toml", stacks);
    let cases = [
        ("tune|runs.jsonl|--signal|call_result.cuont|--limits|2", 2),
        ("tune|runs.jsonl|--signal|steps|--limits|2..1", 2),
        ("tune|runs.jsonl|--signal|steps|--limits|2|--limits|3", 2),
        ("tune|runs.jsonl|--signal|steps ==|--limits|2", 2),
        ("tune|runs.jsonl|--signal|steps|--limits|1..5000", 2),
        ("tune|runs.jsonl|--signal|call.count, windw = 3|--limits|2", 2),
        ("tune|runs.jsonl|--signal|steps|--limits|2|--signal|steps|--limits|2", 2),
        ("tune|runs.jsonl|--signal|steps|--limits|2|--with|stacks.toml|cup", 2),
        ("tune|runs.jsonl|--signal|steps|--limits|2|--with|stacks.toml|awaken", 2),
        ("tune|runs.jsonl|--signal|steps|--limits|2|--split|test|--dev-share|0.001", 4),
        ("tune|nowhere|--signal|steps|--limits|2", 3),
        ("tune|runs.jsonl|--signal|steps|--limits|2|--learn", 2),
        ("tune|runs.jsonl|--signal|steps|--limits|2|--format|pr", 2),
        ("tune|runs.jsonl|--split|test", 2),
    ];
    let mut told = String::new();
    for (arguments, code) in cases {
        let (got, _, stderr) = scratch.run(arguments);
        assert_eq!(got, code, "{arguments}: {stderr}");
        writeln!(told, "$ whenstop {}\n{stderr}", arguments.replace('|', " ")).unwrap();
    }
    insta::assert_snapshot!("limits_errors", told);
    assert_eq!(scratch.run("tune|runs.jsonl|--signal|steps|--limits|2|--max-killed|1.5").0, 2);
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn tau2_agrees_with_the_independent_recomputation() {
    let folder = shared::folder("corpora");
    let scratch = scratch();
    let grid = "--signal|call_result.count|--limits|3|--signal|tokens.total|--limits|200_000";
    let (code, stdout, stderr) = scratch.run(&format!("tune|{}|{grid}|--out|out", folder.join("tau2").display()));
    assert!(matches!(code, 0 | 100), "{stdout}{stderr}");
    let counted = |row: &std::collections::BTreeMap<String, String>| {
        let killed: u32 =
            ["killed_verified", "killed_unverified"].iter().map(|column| row[*column].parse::<u32>().unwrap()).sum();
        format!("{}/{killed}/{}", row["stops"], row["true_stop"])
    };
    let got: Vec<String> = scratch.table("out/summary.csv").iter().map(counted).collect();
    assert_eq!(got, ["45/14/31", "14/5/9"]);
}

/// Two axes, one of them optional, and a cap: 3 × 2 × 2 stacks.
const GRID: &str = "[[axis]]\nsignal = \"call_result.count\"\nat_least = [2, 3]\noptional = true\n\n\
    [[axis]]\nall = [{ signal = \"steps\", at_least = [3, 6] }, { signal = \"tokens.total\", at_least = 1_000 }]\n\n\
    [[axis]]\ncap = [4]\noptional = true\n";

#[test]
fn a_grid_is_every_stack_that_takes_one_rule_of_each_axis() {
    let scratch = scratch();
    scratch.put("grid.toml", GRID);
    let (code, stdout, stderr) =
        scratch.run("tune|runs.jsonl|--grid|grid.toml|--max-killed|0.1|--out|out|--rows|--all-stacks|--best|3");
    assert_eq!(code, 0, "{stderr}");
    insta::assert_snapshot!("grid_table", stdout);
    insta::assert_snapshot!("grid_stacks", scratch.read("out/stacks.toml"));
    insta::assert_snapshot!("grid_manifest", scratch.read("out/manifest.json"));
    let all = scratch.table("out/sweep-all.csv");
    assert_eq!(all.len(), 12);
    // Of 45 successes of 2 steps and 5 of 3, and 10 failures of 7: `call_result.count >= 2` stops after the second step.
    // With `steps >= 3` or 6 beside it nothing fires earlier; without it `steps >= 3` comes at the end of a run of 3.
    let got: Vec<String> = all
        .iter()
        .map(|row| {
            ["stack", "stopped", "killed", "true_stops", "tokens_useful_saved"].map(|c| row[c].clone()).join(" ")
        })
        .collect();
    insta::assert_snapshot!("grid_all", got.join("\n"));
    // The file of stacks gives the same rows, and so the same numbers.
    let (code, _, stderr) = scratch.run("compare|runs.jsonl|--stacks|out/stacks.toml|--out|compared");
    assert_eq!(code, 0, "{stderr}");
    let sorted = |file: &str| {
        let mut lines: Vec<String> = scratch.read(file).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted("out/sweep-rows.csv"), sorted("compared/rows.csv"));
    let kept = scratch.table("out/sweep.csv");
    let summary = scratch.table("compared/summary.csv");
    for row in &kept {
        let same = summary.iter().find(|other| other["stack"] == row["stack"]).unwrap();
        for column in ["killed_rate", "killed_rate_high", "failures_stopped_rate"] {
            assert_eq!(row[column], same[column], "{} {column}", row["stack"]);
        }
        let line = all.iter().find(|other| other["stack"] == row["stack"]).unwrap();
        assert_eq!((&line["killed"], &line["judged"]), (&row["killed"], &row["judged"]));
    }
}

#[test]
fn axes_that_stop_together_do_so_at_one_point_or_have_each_once() {
    let scratch = scratch();
    let axes =
        "[[axis]]\nsignal = \"call_result.count\"\nat_least = [2, 4]\n[[axis]]\nsignal = \"steps\"\nrange = [3, 5]\n";
    for combine in ["all", "latched"] {
        scratch.put("grid.toml", &format!("combine = \"{combine}\"\n{axes}"));
        let (code, _, stderr) = scratch.run("tune|runs.jsonl|--grid|grid.toml|--out|out|--rows|--all-stacks");
        assert_eq!(code, NOTHING_TO_SHIP, "{combine}: {stderr}");
        assert_eq!(scratch.table("out/sweep-all.csv").len(), 6);
        assert_eq!(scratch.run("compare|runs.jsonl|--stacks|out/stacks.toml|--out|compared").0, 0);
        let rows = |file: &str| {
            let mut lines: Vec<String> = scratch.read(file).lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(rows("out/sweep-rows.csv"), rows("compared/rows.csv"), "{combine}");
    }
}

/// Parameters whose mere presence has an effect at their default: see `a_declared_default_is_the_one_that_is_built`.
const PRESENT: [(&str, &str); 4] = [
    ("adaptive", "consecutive_successes"),
    ("ag2", "group_chat.max_round"),
    ("qwen-code", "model.maxToolCallsPerTurn"),
    ("vercel-ai", "stopWhen"),
];

#[test]
fn a_parameter_at_its_default_gives_the_rows_of_the_framework_itself() {
    let runs = [PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("traces")];
    let (runs, _) = Corpus::open(&runs, ReadOptions::default()).unwrap().runs().unwrap();
    let mut n = 0;
    for framework in catalog::frameworks() {
        let own = catalog::by_name(&Use { system: framework.id.to_owned(), ..Use::default() });
        let Ok(own) = own else { continue };
        let mut strategies = vec![own];
        for parameter in framework.parameters {
            let first = framework.profile_names().first().copied().unwrap_or_default();
            let default = parameter.default_in(first);
            if Parameter::value_of(default).is_null() || PRESENT.contains(&(framework.id, parameter.name)) {
                continue;
            }
            let axis =
                format!("[[axis]]\nuse = \"{}\"\nset = {{ \"{}\" = [{default}] }}\n", framework.id, parameter.name);
            let file = GridFile::parse("grid.toml", &axis, &Guards::default()).unwrap();
            let GridKind::Settings(settings) = file.kind() else { panic!("{axis}") };
            let used = settings[0].combinations().remove(0);
            // Some take effect only in another profile.
            strategies.extend(catalog::by_name(&Use { name: String::new(), ..used }));
        }
        let comparison = Comparison::new(&strategies, Assumptions::default());
        for run in &runs {
            let (rows, firings) = comparison.rows_of(run);
            for (row, strategy) in rows.iter().zip(&strategies).skip(1) {
                let default = Row { stack: rows[0].stack.clone(), ..row.clone() };
                assert_eq!(default, rows[0], "{} {}", framework.id, strategy.name());
                n += 1;
            }
            drop(firings);
        }
    }
    assert!(n > 14_000, "{n}");
}

#[test]
fn settings_of_a_framework_are_compared_as_the_same_settings_of_a_stack_file() {
    let scratch = scratch();
    let axis =
        "[[axis]]\nuse = \"roo-code\"\nset = { consecutiveMistakeLimit = [2, 4], toolRepetitionLimit = [3, 5] }\n";
    let axis = axis.replace("toolRepetitionLimit = [3, 5]", "consecutiveMistakeLimit2 = [3, 5]");
    scratch.put("wrong.toml", &axis);
    let (code, _, stderr) = scratch.run("tune|runs.jsonl|--grid|wrong.toml");
    assert!(code == 2 && stderr.contains("consecutiveMistakeLimit2") && stderr.contains("wrong.toml:1"), "{stderr}");
    scratch.put("grid.toml", "[[axis]]\nuse = \"langchain\"\nset = { max_iterations = { range = [2, 6], step = 2 } }\nprofile = \"AgentExecutor\"\n");
    let (code, stdout, told) = scratch.run("tune|runs.jsonl|--grid|grid.toml|--max-killed|0.5|--out|out");
    assert!(matches!(code, 0 | NOTHING_TO_SHIP), "{told}");
    assert!(stdout.contains("langchain"), "{stdout}");
    let names: BTreeSet<String> = scratch.table("out/rows.csv").iter().map(|row| row["stack"].clone()).collect();
    let expected = [2, 4, 6].map(|n| format!("langchain (AgentExecutor): max_iterations = {n}"));
    assert_eq!(names.into_iter().collect::<Vec<_>>(), expected);
    let stacks: String = [2, 4, 6]
        .map(|n| format!("[[stack]]\nname = \"langchain (AgentExecutor): max_iterations = {n}\"\nuse = \"langchain\"\nprofile = \"AgentExecutor\"\nset = {{ max_iterations = {n} }}\n"))
        .concat();
    scratch.put("stacks.toml", &stacks);
    assert_eq!(scratch.run("compare|runs.jsonl|--stacks|stacks.toml|--out|compared").0, 0);
    assert_eq!(scratch.read("out/rows.csv"), scratch.read("compared/rows.csv"));
    if code == 0 {
        let tuned = scratch.read("out/tuned.toml");
        assert!(tuned.contains("use = \"langchain\"") && tuned.contains("max_iterations"), "{tuned}");
        // Nothing is advised that `export` would refuse: it has no snippet for this profile.
        assert!(told.contains("set \"max_iterations\"") && !told.contains("whenstop export"), "{told}");
        assert_eq!(scratch.run("compare|runs.jsonl|--stacks|out/tuned.toml").0, 0);
    }
    for (grid, said) in [
        ("[[axis]]\nuse = \"openhands\"\n", "without a list of values"),
        ("[[axis]]\nuse = \"openhands\"\nat_least = [3]\n", "`at_least` beside `use`"),
        (
            "[[axis]]\nuse = \"openhands\"\nset = { a = [1] }\n[[axis]]\ncap = [3]\n",
            "settings of a framework beside rules",
        ),
        ("[[axis]]\nuse = \"openhnds\"\nset = { a = [1] }\n", "did you mean `preset:openhands`?"),
    ] {
        scratch.put("grid.toml", grid);
        let (code, _, stderr) = scratch.run("tune|runs.jsonl|--grid|grid.toml");
        assert!(code == 2 && stderr.contains(said) && stderr.contains("grid.toml:"), "{grid}: {stderr}");
    }
}

/// What is tuned of a framework is written as the framework reads it, and for no other.
#[test]
fn settings_to_ship_are_exported_as_the_frameworks_own() {
    let scratch = scratch();
    scratch.put("grid.toml", "[[axis]]\nuse = \"openhands\"\nset = { max_iteration_per_run = [5, 6] }\n");
    let (code, _, stderr) = scratch.run("tune|runs.jsonl|--grid|grid.toml|--max-killed|0.5|--out|my out");
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.replace('\n', " ").contains("whenstop export 'my out/tuned.toml' --to openhands"), "{stderr}");
    let (code, snippet, stderr) = scratch.run("export|my out/tuned.toml|--to|openhands");
    assert_eq!(code, 0, "{stderr}");
    let limit = if scratch.read("my out/tuned.toml").contains("max_iteration_per_run = 5") { "5" } else { "6" };
    assert!(snippet.lines().any(|line| line.contains("max_iteration_per_run") && line.contains(limit)), "{snippet}");
    let (code, _, stderr) = scratch.run("export|my out/tuned.toml|--to|langchain");
    assert!(code == 2 && stderr.contains("settings of openhands, which no other framework knows"), "{stderr}");
    let (code, _, stderr) = scratch.run("export|my out/tuned.toml|--to|all");
    assert!(code == 2 && stderr.contains("`--to openhands` writes them"), "{stderr}");
}

/// What an agent does after a warning is not recorded, so nobody knows that both kill the same.
#[test]
fn a_stack_that_speaks_is_not_said_to_kill_as_many() {
    let scratch = scratch();
    scratch.put("stacks.toml", "[[stack]]\nname = \"cap\"\ncap = { steps = 9 }\n");
    scratch.put("long.jsonl", &(0..20).map(|at| run(&format!("long-{at:02}"), 7, at % 2 == 0)).collect::<String>());
    let (code, _, stderr) =
        scratch.run("compare|long.jsonl|--stacks|stacks.toml|--stacks|preset:roo-code|--out|compared");
    assert_eq!(code, 0, "{stderr}");
    let (code, block, stderr) = scratch.run("report|compared|--format|pr|--today|cap|--proposed|roo-code");
    assert_eq!(code, 0, "{stderr}");
    assert!(block.contains("**Which of them kills fewer successes is not known.** One of them speaks"), "{block}");
}

#[test]
fn an_option_of_a_walk_is_refused_where_each_stack_is_compared() {
    let scratch = scratch();
    let settings = "[[axis]]\nuse = \"langchain\"\nset = { max_iterations = [2, 4] }\nprofile = \"AgentExecutor\"\n";
    let caps = "[[axis]]\ncap = [3, 4]\ntold = true\nnotice = 1\n";
    for (grid, of) in [(settings, "settings of a framework"), (caps, "caps that the agent is told of")] {
        scratch.put("grid.toml", grid);
        for option in ["--best", "--all-stacks", "--rows", "--cache"] {
            let value = match option {
                "--best" => "|3",
                "--cache" => "|kept",
                _ => "",
            };
            let (code, _, stderr) = scratch.run(&format!("tune|runs.jsonl|--grid|grid.toml|--out|out|{option}{value}"));
            let said = format!("`{option}` is for grids of rules, and these are {of}");
            assert!(code == 2 && stderr.contains(&said), "{stderr}");
        }
    }
    for (asked, option) in [("--of|preset:roo-code", "--of"), ("--grid|grid.toml", "--grid")] {
        let (code, _, stderr) = scratch.run(&format!("tune|runs.jsonl|{asked}|--format|pr"));
        assert!(code == 2 && stderr.contains(&format!("is not for `{option}`")), "{stderr}");
    }
}

#[test]
fn each_parameter_is_walked_around_its_default() {
    let scratch = scratch();
    let (code, stdout, stderr) = scratch.run("tune|runs.jsonl|--of|preset:roo-code|--max-killed|0.5|--out|out");
    assert!(matches!(code, 0 | NOTHING_TO_SHIP), "{stdout}{stderr}");
    let names: BTreeSet<String> = scratch.table("out/rows.csv").iter().map(|row| row["stack"].clone()).collect();
    assert!(names.contains("roo-code") && names.contains("consecutiveMistakeLimit 3 → 2"), "{names:?}");
    let (code, stdout, stderr) = scratch.run("tune|runs.jsonl|--of|preset:openhands");
    assert!(matches!(code, 0 | NOTHING_TO_SHIP), "{stderr}");
    let widest = stdout.lines().map(|line| line.chars().count()).max();
    assert!(stdout.contains("action_error 3 → 2") && widest <= Some(80), "{stdout}");
    let (code, _, stderr) = scratch.run("tune|runs.jsonl|--of|preset:roo-cod");
    assert!(code == 2 && stderr.contains("did you mean"), "{stderr}");
}

/// A cap of 3 steps kills none of the successes, 45 of 2 steps and 5 of 3. An agent that is told before its last step may
/// give up there: then it kills the 5, and the cap of 4 is the first that is safe.
#[test]
fn a_cap_that_the_agent_is_told_of_is_judged_by_all_that_it_may_kill() {
    let scratch = scratch();
    let asked = |told: &str, out: &str| {
        scratch.put("grid.toml", &format!("[[axis]]\ncap = [3, 4, 5]\n{told}"));
        scratch.run(&format!("tune|runs.jsonl|--grid|grid.toml|--max-killed|0.1|--out|{out}"))
    };
    assert_eq!(asked("", "silent").0, 0);
    assert!(scratch.read("silent/tuned.toml").contains("cap = { steps = 3 }"));
    let (code, stdout, stderr) = asked("told = true\nnotice = 1\n", "told");
    assert_eq!(code, 0, "{stderr}");
    assert!(scratch.read("told/tuned.toml").contains("cap = { steps = 4 }"));
    insta::assert_snapshot!("told_grid", stdout);
    let stacks = [3, 4, 5].map(|cap| {
        format!("[[stack]]\nname = \"cap {cap} steps\"\ncap = {{ steps = {cap} }}\ntold = true\nnotice = 1\n")
    });
    scratch.put("stacks.toml", &stacks.concat());
    assert_eq!(scratch.run("compare|runs.jsonl|--stacks|stacks.toml|--max-killed|0.1|--out|compared").0, 0);
    assert_eq!(scratch.read("told/rows.csv"), scratch.read("compared/rows.csv"));
    // What follows the notice is bounded, so nothing more need be known: the answer is the same if nothing must be.
    let (_, stdout, _) = scratch.run("compare|runs.jsonl|--stacks|stacks.toml|--max-killed|0.1|--min-known|0");
    assert!(stdout.starts_with("Ship `cap 4 steps`: it kills at most 7.9 %"), "{stdout}");
}

#[test]
fn a_grid_file_that_is_wrong_is_told_with_its_place() {
    let scratch = scratch();
    let axis = |text: &str| format!("[[axis]]\nsignal = \"steps\"\n{text}\n");
    let cases = [
        ("", "a grid without an axis"),
        ("combine = \"or\"\n[[axis]]\ncap = [3]\n", "`combine` is none of"),
        ("axes = 3\n", "no key `axes`"),
        (&axis("at_least = []"), "an empty list of limits"),
        (&axis("at_least = [\"five\"]"), "not a number"),
        (&axis("at_least = { range = [9, 2] }"), "an empty range"),
        (&axis("at_least = { range = [2, 9], step = 0 }"), "a step that leads nowhere"),
        (&axis("at_least = { range = [1, 1e9] }"), "the most are 10000"),
        (&axis("at_least = { log_range = [0, 10], count = 3 }"), "begins above 0"),
        (&axis("at_least = { quantile = 3 }"), "no key `quantile`"),
        (&axis("at_least = [3]\nwindw = 3"), "windw"),
        (&axis("at_least = [3]\nquantiles = 3"), "a second list"),
        (&axis("at_least = [3]\nname = \"x\""), "an axis with a `name`"),
        (&axis("at_least = [3]\nthen = \"warn\""), "does more than stop"),
        (&axis("at_least = [0, 3]"), "never below 0"),
        ("[[axis]]\nsignal = \"stps\"\nat_least = [3]\n", "unknown signal `stps`"),
        ("[[axis]]\ncap = [2.5]\n", "is no cap"),
        ("[[axis]]\ncap = [2]\n[[axis]]\ncap = [3]\n", "two axes of caps"),
        ("combine = \"all\"\n[[axis]]\ncap = [2]\n", "stops by itself"),
        ("[[axis]]\ncap = [2]\nwindow = 3\n", "an axis of caps with `window`"),
        ("[[axis]]\ncap = [2]\nnotice = 1\n", "a `notice` of a limit that is not told"),
        ("[[axis]]\ncap = [9, 2]\ntold = true\nnotice = 3\n", "earlier than the first of 2 steps"),
        ("[[axis]\n", "not TOML"),
    ];
    let mut told = String::new();
    for (text, expected) in cases {
        scratch.put("grid.toml", text);
        let (code, _, stderr) = scratch.run("tune|runs.jsonl|--grid|grid.toml");
        assert_eq!(code, 2, "{text}: {stderr}");
        assert!(stderr.contains(expected), "{text}: {stderr}");
        assert!(stderr.contains("grid.toml:"), "{text}: {stderr}");
        writeln!(told, "{stderr}").unwrap();
    }
    insta::assert_snapshot!("grid_errors", told);
    scratch.put("grid.toml", &axis("at_least = { range = [1, 9000] }").repeat(2));
    let (code, _, stderr) = scratch.run("tune|runs.jsonl|--grid|grid.toml|--most|1000000");
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("81,000,000 stacks") && stderr.contains("9000 × 9000"), "{stderr}");
}

#[test]
fn a_grid_is_the_same_for_any_number_of_threads_and_can_be_split() {
    let scratch = scratch();
    scratch.put("grid.toml", "[[axis]]\nsignal = \"call_result.count\"\nquantiles = 5\n[[axis]]\nsignal = \"steps\"\nquantiles = 5\noptional = true\n");
    let run = |more: &str, out: &str| {
        let (code, _, stderr) =
            scratch.run(&format!("tune|runs.jsonl|--grid|grid.toml|--out|{out}|--all-stacks{more}"));
        assert!([0, NOTHING_TO_SHIP].contains(&code), "{stderr}");
    };
    run("|--threads|1", "one");
    run("|--threads|3", "three");
    assert_eq!(scratch.contents("one"), scratch.contents("three"));
    run("|--split|test|--split-salt|s|--max-killed|0.3", "split");
    assert!(scratch.read("split/sweep.md").contains("optimism (dev minus test)"));
    let runs = |file: &str| scratch.table(file)[0]["runs"].parse::<u32>().unwrap();
    assert!(runs("split/sweep.csv") < runs("one/sweep.csv"));
}

/// The grid files that the book and the help of `tune` show.
#[test]
fn the_grids_that_are_shown_are_grids() {
    let scratch = scratch();
    let page = std::fs::read_to_string("docs/numbers.md").unwrap();
    let shown = page.split("```toml\n").filter(|block| block.starts_with("[[axis]]"));
    let blocks: Vec<String> = shown.map(|block| block.split("```").next().unwrap().to_owned()).collect();
    assert_eq!(blocks.len(), 2);
    let (_, help, _) = scratch.run("help|tune|--full");
    let lines = help.lines().skip_while(|line| !line.contains("combine =")).filter_map(|line| line.strip_prefix("  "));
    let of_help = lines.collect::<Vec<_>>().join("\n");
    // The second grid of each is of a framework's settings, and stands in a file of its own.
    let (rules, settings) = of_help.split_once("\n[[axis]]\nuse").unwrap();
    let of_help = [format!("{rules}\n"), format!("[[axis]]\nuse{settings}")];
    for text in blocks.iter().chain(&of_help) {
        assert!(text.contains("cap = [") != text.contains("use = "), "{text}");
        scratch.put("grid.toml", text);
        let (code, _, stderr) = scratch.run("tune|runs.jsonl|--grid|grid.toml|--out|out");
        assert!([0, NOTHING_TO_SHIP].contains(&code), "{stderr}");
    }
}

/// Ctrl-C in the middle of a walk: what is done is written and says how far it got.
#[cfg(unix)]
#[test]
fn an_interrupted_walk_leaves_what_is_done() {
    let scratch = scratch();
    let axis = "[[axis]]\nsignal = \"steps\"\nat_least = { range = [1, 200] }\n";
    scratch.put("grid.toml", &axis.repeat(3));
    let arguments = "tune runs.jsonl --grid grid.toml --out out --all-stacks --threads 1";
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_whenstop"))
        .args(arguments.split(' '))
        .current_dir(scratch.path("."))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // The walk goes on while its lines are written.
    let is_written = || {
        let files = walkdir::WalkDir::new(scratch.path("out"))
            .into_iter()
            .flatten()
            .filter(|entry| entry.file_type().is_file());
        files.filter_map(|entry| entry.metadata().ok()).any(|of| of.len() > 0)
    };
    while !is_written() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before anything was written");
        std::thread::yield_now();
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let manifest: serde_json::Value = serde_json::from_str(&scratch.read("out/manifest.json")).unwrap();
    assert_eq!(manifest["interrupted"], true);
    let reached = usize::try_from(manifest["stacks_reached"].as_u64().unwrap()).unwrap();
    assert!(reached > 0 && reached < 8_000_000, "{reached}");
    assert_eq!(scratch.read("out/sweep-all.csv").lines().count(), reached + 1);
    assert!(scratch.read("out/sweep.md").contains("interrupted after"));
    assert!(scratch.read("out/sweep.csv").lines().count() > 1);
}

/// Three signals in three ways: counted, measured on the recordings, and one that is not there at every point.
const CACHED: &str = "[[axis]]\nsignal = \"call_result.count\"\nquantiles = 5\noptional = true\n
[[axis]]\nall = [{ signal = \"novelty\", at_most = [0.2, 0.7] }, { signal = \"tokens.total\", at_least = { quantiles = 4 } }]\n
[[axis]]\ncap = [2, 4]\noptional = true\n";

/// What a sweep with that cache writes, and whether it read the recordings.
fn with_cache(scratch: &Scratch, out: &str) -> (Vec<(String, Vec<u8>)>, bool) {
    let sweep = "tune|a/b/c/runs.jsonl|--grid|grid.toml|--cache|kept|--all-stacks|--out";
    let (code, _, stderr) = scratch.run(&format!("{sweep}|{out}"));
    assert!([0, NOTHING_TO_SHIP].contains(&code), "{stderr}");
    (scratch.contents(out), !stderr.contains("no recording was read"))
}

/// The same without a cache.
fn without_cache(scratch: &Scratch) -> Vec<(String, Vec<u8>)> {
    let (code, _, stderr) = scratch.run("tune|a/b/c/runs.jsonl|--grid|grid.toml|--all-stacks|--out|anew");
    assert!([0, NOTHING_TO_SHIP].contains(&code), "{stderr}");
    scratch.contents("anew")
}

/// Does something to every file of the cache.
fn spoil(scratch: &Scratch, change: impl Fn(Vec<u8>, &[u8]) -> Vec<u8>) {
    for key in scratch.names("kept") {
        let folder = format!("kept/{key}");
        let files = scratch.contents(&folder);
        let first = files[0].1.clone();
        for (name, bytes) in files {
            scratch.put_bytes(&format!("{folder}/{name}"), &change(bytes, &first));
        }
    }
}

#[test]
fn a_cache_gives_the_same_bytes_and_nothing_wrong_in_it_is_believed() {
    let scratch = Scratch::with(&[("a/b/c/runs.jsonl", &corpus(45)), ("grid.toml", CACHED)]);
    let (first, read) = with_cache(&scratch, "one");
    assert!(read && first == without_cache(&scratch));
    assert_eq!(with_cache(&scratch, "two"), (first.clone(), false));
    // Torn, of another column, and something else altogether: read anew, and right again the next time.
    let half: fn(Vec<u8>, &[u8]) -> Vec<u8> = |bytes, _| bytes[..bytes.len() / 2].to_vec();
    let other: fn(Vec<u8>, &[u8]) -> Vec<u8> = |_, first| first.to_vec();
    for (nth, change) in [half, other, |_, _| b"no column".to_vec()].into_iter().enumerate() {
        spoil(&scratch, change);
        assert_eq!(with_cache(&scratch, "spoilt"), (first.clone(), true), "{nth}: what was spoilt was believed");
        assert_eq!(with_cache(&scratch, "spoilt"), (first.clone(), false), "{nth}: it was not written anew");
    }
    // Another grid reads what it needs once; the first grid still finds its own.
    scratch.put("grid.toml", &CACHED.replace("novelty", "call.repeated"));
    let other = with_cache(&scratch, "other");
    assert!(other.1 && other.0 == without_cache(&scratch));
    assert_eq!(with_cache(&scratch, "other"), (other.0, false));
    scratch.put("grid.toml", CACHED);
    assert_eq!(with_cache(&scratch, "three"), (first.clone(), false));
    // One byte more, labels beside, a report above: other inputs.
    scratch.put("a/b/c/runs.jsonl", &(corpus(45) + "\n"));
    assert!(with_cache(&scratch, "byte").1);
    scratch.put("a/b/c/labels.csv", "run_id,success\nrun-good-01,false\n");
    let labelled = with_cache(&scratch, "labelled");
    assert!(labelled.1 && labelled.0 != first && labelled.0 == without_cache(&scratch));
    assert_eq!(with_cache(&scratch, "labelled"), (labelled.0, false));
    scratch.put("a/results.json", "{}");
    assert!(with_cache(&scratch, "above").1);
}

#[test]
fn a_cache_is_kept_outside_of_the_recordings_and_not_of_part_of_them() {
    let scratch = Scratch::with(&[("runs/runs.jsonl", &corpus(45)), ("grid.toml", CACHED)]);
    let (code, _, stderr) = scratch.run("tune|runs|--grid|grid.toml|--cache|runs/kept");
    assert_eq!(code, 2);
    assert!(stderr.contains("the cache lies among the recordings"), "{stderr}");
    scratch.put("runs/torn.jsonl", &corpus(45)[..300]);
    for _ in 0..2 {
        let (code, _, stderr) = scratch.run("tune|runs|--grid|grid.toml|--cache|kept");
        assert!([0, NOTHING_TO_SHIP].contains(&code), "{stderr}");
        assert!(stderr.contains("nothing is kept in the cache"), "{stderr}");
    }
    assert!(!scratch.path("kept").exists());
}
