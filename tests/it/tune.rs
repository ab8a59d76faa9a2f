//! `tune`: what it says, what it writes, and that what it wrote is what `compare` replays.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::scratch::Scratch;

/// A success that looks at `looks` different things, of the task `n`; with what each step cost.
fn success(n: usize, looks: usize) -> String {
    let mut text =
        format!("{{\"type\":\"run\",\"run_id\":\"s{n}\",\"task_id\":\"s{n}\",\"model\":\"m-1\",\"suite\":\"shop\"}}\n");
    for look in 0..looks {
        let _ = writeln!(
            text,
            r#"{{"type":"message","role":"assistant","content":"Next I look at part {look} of order {n}, as asked.","tool_calls":[{{"id":"{look}","name":"look","arguments":{{"part":{look}}}}}],"cost_usd":0.01}}
{{"type":"message","role":"tool","tool_call_id":"{look}","content":"part {look} of order {n} is there","is_error":false}}"#
        );
    }
    text += "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"All parts are there.\",\"cost_usd\":0.01}\n";
    text + "{\"type\":\"outcome\",\"success\":true,\"end\":\"self_finish\"}\n"
}

/// A failure that asks the same 12 times.
fn failure(n: usize) -> String {
    let mut text =
        format!("{{\"type\":\"run\",\"run_id\":\"f{n}\",\"task_id\":\"f{n}\",\"model\":\"m-1\",\"suite\":\"shop\"}}\n");
    for ask in 0..12 {
        let _ = writeln!(
            text,
            r#"{{"type":"message","role":"assistant","content":"Is it there now?","tool_calls":[{{"id":"{ask}","name":"ask","arguments":{{}}}}],"cost_usd":0.01}}
{{"type":"message","role":"tool","tool_call_id":"{ask}","content":"no","is_error":false}}"#
        );
    }
    text + "{\"type\":\"outcome\",\"success\":false,\"end\":\"cap\"}\n"
}

/// So many successes, each of a task of its own, and 30 failures.
fn scratch(successes: usize) -> Scratch {
    let runs: String = (0..successes).map(|n| success(n, 2 + n % 4)).chain((0..30).map(failure)).collect();
    Scratch::with(&[("runs.jsonl", &runs)])
}

fn narrow(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "more than 80 columns: {line}");
    }
}

#[test]
fn it_says_what_to_ship_and_writes_it_down() {
    let scratch = scratch(120);
    let (code, stdout, stderr) = scratch.run("tune runs.jsonl --out tuned");
    assert_eq!(code, 0, "{stderr}");
    narrow(&stdout);
    insta::assert_snapshot!("tune_ships", stdout);
    insta::assert_snapshot!("tune_stack_file", scratch.read("tuned/tuned.toml"));
    insta::assert_snapshot!("tune_certificate", scratch.read("tuned/certificate.json"));
    let names = scratch.names("tuned").join(" ");
    for name in ["tune.md", "tune.csv", "report.html", "frontier.png", "rows.csv", "manifest.json"] {
        assert!(names.contains(name), "{names}");
    }
    assert!(scratch.read("tuned/tune.md").starts_with("# What to ship\n\n**Ship it: stop when `"));
}

#[test]
fn what_it_wrote_is_what_compare_replays() {
    let scratch = scratch(120);
    assert_eq!(scratch.run("tune runs.jsonl --out tuned --no-presets").0, 0);
    assert_eq!(scratch.run("compare runs.jsonl --stacks tuned/tuned.toml --out again").0, 0);
    let stops = |folder: &str| -> BTreeMap<String, (String, String)> {
        let rows = scratch.table(&format!("{folder}/rows.csv")).into_iter().filter(|row| row["stack"] == "tuned");
        rows.map(|row| (row["run_id"].clone(), (row["stop_point"].clone(), row["rule"].clone()))).collect()
    };
    let (tuned, again) = (stops("tuned"), stops("again"));
    assert_eq!(tuned.len(), 150);
    assert_eq!(tuned, again);
    assert_eq!(again.values().filter(|(point, _)| !point.is_empty()).count(), 30);
}

#[test]
fn the_same_bytes_for_any_number_of_threads_and_order_of_files() {
    let scratch = scratch(0);
    scratch.put("a/one.jsonl", &(0..70).map(|n| success(n, 2 + n % 4)).collect::<String>());
    scratch
        .put("b/two.jsonl", &(70..120).map(|n| success(n, 2 + n % 4)).chain((0..30).map(failure)).collect::<String>());
    let told = |arguments: &str| {
        let (code, stdout, stderr) = scratch.run(arguments);
        assert_eq!(code, 0, "{stderr}");
        stdout
    };
    let one = told("tune a b --threads 1 --out one");
    assert_eq!(told("tune a b --threads 2 --out two"), one);
    assert_eq!(scratch.contents("one"), scratch.contents("two"));
    assert_eq!(told("tune b a --threads 2 --out three"), one);
    assert_eq!(scratch.read("one/tuned.toml"), scratch.read("three/tuned.toml"));
    assert_eq!(scratch.read("one/certificate.json"), scratch.read("three/certificate.json"));
}

#[test]
fn refusals_give_the_reason_first_and_the_missing_count() {
    let mut told = String::new();
    let mut refused = |scratch: &Scratch, arguments: &str| {
        let (code, stdout, _) = scratch.run(arguments);
        assert_eq!(code, 100, "{stdout}");
        narrow(&stdout);
        let first: Vec<&str> = stdout.split("\n\n").next().unwrap().lines().collect();
        writeln!(told, "$ whenstop {arguments}\n{}\n", first.join("\n")).unwrap();
    };
    refused(&scratch(40), "tune runs.jsonl --no-presets");
    refused(&scratch(20), "tune runs.jsonl --no-presets");
    refused(&scratch(100), "tune runs.jsonl --max-killed 0.02 --no-presets");
    refused(&scratch(120), "tune runs.jsonl --learn --no-presets");
    let successes: String = (0..120).map(|n| success(n, 3)).collect();
    refused(&Scratch::with(&[("runs.jsonl", &successes)]), "tune runs.jsonl --no-presets");
    let ungraded: String = successes
        .lines()
        .filter(|line| !line.contains("\"outcome\""))
        .fold(String::new(), |all, line| all + line + "\n");
    refused(&Scratch::with(&[("runs.jsonl", &ungraded)]), "tune runs.jsonl --no-presets");
    let free = scratch(120).read("runs.jsonl").replace(",\"cost_usd\":0.01", "");
    refused(&Scratch::with(&[("runs.jsonl", &free)]), "tune runs.jsonl --lost-success-costs 4 --no-presets");
    insta::assert_snapshot!("tune_refusals", told);
    let scratch = scratch(40);
    let (_, _, stderr) = scratch.run("tune runs.jsonl --out tuned --no-presets");
    assert!(
        one_line(&stderr).contains("there is nothing to ship") && !scratch.path("tuned/tuned.toml").exists(),
        "{stderr}"
    );
    assert!(scratch.read("tuned/tune.md").contains("Nothing can be recommended"));
    assert!(scratch.path("tuned/tune.csv").exists() && scratch.path("tuned/report.html").exists());
}

#[test]
fn between_the_two_numbers_of_tasks_the_budget_alone_is_shipped() {
    let (code, stdout, stderr) = scratch(80).run("tune runs.jsonl --no-presets");
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.starts_with("Ship it: stop when `steps >= "), "{stdout}");
    assert!(stdout.replace('\n', " ").contains("at 5 % a budget (any rule from 104 on)"), "{stdout}");
}

#[test]
fn a_tuned_stack_says_where_its_certificate_does_not_hold() {
    let scratch = scratch(120);
    assert_eq!(scratch.run("tune runs.jsonl --out tuned --no-presets").0, 0);
    let (_, same, _) = scratch.run("compare runs.jsonl --stacks tuned/tuned.toml");
    assert!(!same.contains("does not hold"), "{same}");
    let others = scratch.read("runs.jsonl").replace("\"m-1\"", "\"m-2\"");
    scratch.put("others.jsonl", &others);
    let (code, told, stderr) = scratch.run("compare others.jsonl --stacks tuned/tuned.toml --out out");
    assert_eq!(code, 0, "{stderr}");
    let words = told.replace('\n', " ");
    let sentence = "The certificate of `tuned` does not hold for these recordings: it was not tuned on model `m-2`.";
    assert!(words.contains(sentence), "{told}");
    let (_, again, _) = scratch.run("report out");
    assert_eq!(again, told);
    // Runs that go on for longer than any it was tuned on, and more failures than there were.
    scratch.put("long.jsonl", &success(1, 60));
    let stack = scratch.read("tuned/tuned.toml").replace("ranges = {", "ranges = { \"steps\" = [1, 9],");
    scratch.put("ranged.toml", &stack.replace("any = [", "any = [\n  { signal = \"steps\", at_least = 500 },"));
    let (_, told, _) = scratch.run("compare long.jsonl --stacks ranged.toml");
    assert!(told.replace('\n', " ").contains("1 run reads `steps` outside 1 to 9"), "{told}");
    scratch.put("failures.jsonl", &(0..30).map(failure).collect::<String>());
    let (_, told, _) = scratch.run("compare failures.jsonl --stacks tuned/tuned.toml");
    assert!(told.replace('\n', " ").contains("it stops 100 % of the runs, and stopped 20 %"), "{told}");
}

#[test]
fn a_certificate_that_cannot_be_read_is_an_error_with_its_place() {
    let scratch = scratch(1);
    let stack = "[[stack]]\nname = \"a\"\nany = [{ signal = \"steps\", at_least = 5 }]\n[stack.certificate]\n";
    for (line, message) in [
        ("runs = 0", "`runs` is 0"),
        ("stopped = 2", "a number from 0 to 1"),
        ("ranges = { steps = 3 }", "no pair of numbers"),
        ("models = \"m\"", "a list of strings"),
        ("promised = \"x\"", "did you mean `promise`?"),
    ] {
        scratch.put("s.toml", &format!("{stack}{line}\n"));
        let (code, _, stderr) = scratch.run("compare runs.jsonl --stacks s.toml");
        assert_eq!(code, 2, "{line}: {stderr}");
        assert!(stderr.contains(message) && stderr.contains("s.toml:5"), "{line}: {stderr}");
    }
}

#[test]
fn what_is_run_today_stands_beside_it() {
    let scratch = scratch(120);
    scratch.put("today.toml", "[[stack]]\nname = \"ours\"\nany = [{ signal = \"steps\", at_least = 3 }]\n");
    let (code, stdout, stderr) = scratch.run("tune runs.jsonl --today today.toml --no-presets --format json");
    assert_eq!(code, 0, "{stderr}");
    let told: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let lines = told["beside"].as_array().unwrap();
    let today = lines.iter().find(|line| line["what"] == "today").unwrap();
    assert_eq!((&today["rule"], &today["certified"]), (&"ours".into(), &false.into()));
    assert_eq!(today["killed"]["value"], 0.75);
}

/// Two axes: nothing that fires on a success saves more than the second equal call.
const GRID: &str = "[[axis]]\nsignal = \"call_result.count\"\nat_least = [2, 4]\noptional = true\n
[[axis]]\nsignal = \"steps\"\nat_least = { quantiles = 6 }\noptional = true\n";

#[test]
fn the_stack_to_ship_of_ones_own_grid_is_written_and_replayed_the_same() {
    let runs: String = (0..120).map(|n| success(n, 2 + n % 4)).chain((0..30).map(failure)).collect();
    let scratch = Scratch::with(&[("runs.jsonl", &runs), ("grid.toml", GRID)]);
    let (code, stdout, stderr) = scratch.run("tune runs.jsonl --grid grid.toml --out tuned");
    assert_eq!(code, 0, "{stderr}");
    narrow(&stdout);
    insta::assert_snapshot!("tune_grid", stdout);
    // The second equal call stops every failure after 2 of its 12 steps, and no success.
    let (code, stdout, stderr) = scratch.run("compare runs.jsonl --stacks tuned/tuned.toml --format csv");
    assert_eq!((code, stdout.lines().count()), (0, 2), "{stderr}");
    assert!(!stderr.contains("does not hold"), "{stderr}");
    assert!(scratch.read("tuned/tuned.toml").contains("signal = \"call_result.count\", at_least = 2"));
    // Too few tasks, a rule that no run records, a file that is none, another program's format.
    let few: String = (0..40).map(|n| success(n, 2)).chain((0..9).map(failure)).collect();
    let metric = "[[axis]]\nsignal = \"metric\"\nmetric = \"loss\"\nat_least = [1]\n";
    let scratch = Scratch::with(&[("runs.jsonl", &few), ("grid.toml", GRID), ("metric.toml", metric)]);
    for (grid, format, expected) in
        [("grid.toml", "table", 100), ("metric.toml", "table", 100), ("runs.jsonl", "table", 2), ("grid.toml", "pr", 2)]
    {
        let (code, stdout, stderr) = scratch.run(&format!("tune runs.jsonl --grid {grid} --format {format}"));
        assert_eq!(code, expected, "{grid} {format}: {stdout}{stderr}");
    }
}

#[test]
fn a_pull_request_has_today_and_the_stack_to_ship() {
    let scratch = scratch(120);
    let (code, stdout, stderr) = scratch.run("tune runs.jsonl --today preset:cline --format pr --no-presets");
    assert_eq!(code, 0, "{stderr}");
    insta::assert_snapshot!("tune_pull_request", stdout);
    let (code, _, stderr) = scratch.run("tune runs.jsonl --format pr");
    assert_eq!(code, 2);
    assert!(stderr.contains("--today"), "{stderr}");
}

/// Ungraded runs of `tasks` tasks, two each; those that go well are longer by nothing that a rule reads.
fn ungraded(tasks: usize) -> String {
    let mut text = String::new();
    for run in 0..2 * tasks {
        let id = format!("\"run_id\":\"run-{run:03}\",\"task_id\":\"task-{:03}\"", run / 2);
        writeln!(text, "{{\"type\":\"run\",{id}}}").unwrap();
        for step in 0..2 + run % 4 {
            let usage = "\"usage\":{\"input\":900,\"output\":100}";
            writeln!(text, "{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"{step}\",{usage}}}").unwrap();
        }
    }
    text
}

#[test]
fn labels_that_were_not_drawn_at_random_are_never_certified() {
    let scratch = Scratch::with(&[("runs.jsonl", &ungraded(300))]);
    let (code, template, _) = scratch.run("labels runs.jsonl --template -");
    assert_eq!(code, 0);
    let (header, rows): (&str, Vec<&str>) = (template.lines().next().unwrap(), template.lines().skip(1).collect());
    assert_eq!((rows.len(), header.split(',').nth(6)), (600, Some("drawn")));
    // All succeed, so whatever stops a run that would go on kills it: `steps >= 9` stops none.
    let filled = |keep: &dyn Fn(usize) -> bool| -> String {
        let mark =
            |(at, row): (usize, &&str)| if keep(at) { row.replacen(",,,,", ",true,,,", 1) } else { (*row).to_owned() };
        let rows: Vec<String> = rows.iter().enumerate().map(mark).collect();
        format!("{header}\n{}\n", rows.join("\n"))
    };
    let undrawn = |text: &str| text.replacen("drawn", "place", 1);
    let told = |labels: &str| {
        scratch.put("labels.csv", labels);
        let (code, stdout, stderr) = scratch.run("tune runs.jsonl --max-killed 0.05 --labels labels.csv");
        let by = scratch.run("tune runs.jsonl --max-killed 0.05 --labels labels.csv --by model").1;
        let refused = [&stdout, &by].map(|said| one_line(said).contains("nothing says that the"));
        (code, refused, format!("{stdout}{stderr}"))
    };
    let from_the_top = filled(&|at| at < 150);
    let (_, refused, text) = told(&from_the_top);
    assert_eq!(refused, [false; 2], "{text}");
    // Without the column, or with many left out, nothing says that they were drawn.
    let (code, refused, text) = told(&undrawn(&from_the_top));
    assert_eq!((code, refused), (100, [true; 2]), "{text}");
    assert!(one_line(&text).contains("Nothing can be certified: 150 of 600 runs have an outcome, and nothing says that the 150 with a label were drawn"), "{text}");
    let (code, refused, text) = told(&filled(&|at| at < 300 && at % 3 != 1));
    assert_eq!((code, refused), (100, [true; 2]), "{text}");
    // A few that could not be judged are no choice, and where all are graded there was none.
    let (_, refused, text) = told(&filled(&|at| at < 150 && at % 40 != 7));
    assert_eq!(refused, [false; 2], "{text}");
    let (_, refused, text) = told(&undrawn(&filled(&|_| true)));
    assert_eq!(refused, [false; 2], "{text}");
    // A place that is no number is an error in its row.
    let (code, _, text) = told("run_id,success,drawn\nrun-001,true,first\n");
    assert!(code != 0 && text.contains("`first` is no value of `drawn`"), "{code}: {text}");
}

#[test]
fn runs_that_a_draw_did_not_reach_are_left_out() {
    let all = ungraded(200);
    let scratch = Scratch::with(&[
        ("runs.jsonl", &all),
        ("s.toml", "[[stack]]\nname = \"s\"\nany = [{ signal = \"steps\", at_least = 5 }]\n"),
    ]);
    let template = scratch.run("labels runs.jsonl --template -").1;
    let order: Vec<&str> = template.lines().skip(1).map(|row| row.split(',').next().unwrap()).collect();
    let (graded, rest) = order.split_at(120);
    let grade = |(at, run): (usize, &&str)| format!("{run},{},{}\n", at % 4 != 0, at + 1);
    let labels: String = graded.iter().enumerate().map(grade).collect();
    let is_graded = |run: &[&str]| graded.iter().any(|id| run[0].contains(&format!("\"{id}\"")));
    let lines: Vec<&str> = all.lines().collect();
    let runs: Vec<&[&str]> =
        lines.chunk_by(|_, next| !next.contains("\"run_id\"")).filter(|run| is_graded(run)).collect();
    scratch.put("only.jsonl", &(runs.concat().join("\n") + "\n"));
    scratch.put("drawn.csv", &format!("run_id,success,drawn\n{labels}"));
    for asked in [
        "compare {} --stacks s.toml",
        "tune {} --max-killed 0.2",
        "tune {} --signal steps --limits 2..8 --max-killed 0.2",
    ] {
        let on = |runs: &str| scratch.run(&format!("{} --labels drawn.csv", asked.replace("{}", runs)));
        let (of_all, of_drawn) = (on("runs.jsonl"), on("only.jsonl"));
        assert_eq!(of_all.1.replace("runs.jsonl", "only.jsonl"), of_drawn.1, "{asked}");
        let told =
            "280 of 400 runs have no outcome and are left out: labels grade the first 120 of an order drawn at random";
        assert!(one_line(&of_all.2).contains(told), "{}", of_all.2);
        assert!(!of_drawn.2.contains("left out"), "{}", of_drawn.2);
    }
    // Who looks at runs, or goes on to grade them, sees all.
    let more = scratch.run("labels runs.jsonl --labels drawn.csv --template -").1;
    assert_eq!(more.lines().count(), 1 + rest.len());
    assert_eq!(scratch.run(&format!("explain runs.jsonl --labels drawn.csv --stacks s.toml --run {}", rest[0])).0, 0);
    // Such a draw says nothing about runs that recorded their outcome.
    let graded_at_the_end = |run: &[&str]| format!("{}\n{{\"type\":\"outcome\",\"success\":true}}\n", run.join("\n"));
    let own: String = lines.chunk_by(|_, next| !next.contains("\"run_id\"")).map(graded_at_the_end).collect();
    let own = own.replace("run-", "own-").replace("task-", "own-task-");
    scratch.put("own.jsonl", &own);
    let (code, _, refused) = scratch.run("compare runs.jsonl own.jsonl --stacks s.toml --labels drawn.csv");
    assert_eq!(code, 2, "{refused}");
    assert!(
        one_line(&refused)
            .contains("labels grade 120 runs by a draw at random, and 400 recorded their outcome themselves"),
        "{refused}"
    );
}

/// Text without its line breaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
