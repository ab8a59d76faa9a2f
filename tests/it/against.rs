//! `compare --against`: what a limit was predicted to do, and what it did.

use std::fmt::Write as _;
use std::path::Path;

use crate::scratch::Scratch;

/// One run of a task: its steps, and whether it succeeded.
#[derive(Clone, Copy)]
struct Made {
    task: usize,
    trial: usize,
    steps: usize,
    is_success: bool,
}

impl Made {
    /// In whenstop's own format; `limit` is what the agent is told of.
    fn text(self, model: &str, limit: Option<usize>) -> String {
        let Self { task, trial, steps, is_success } = self;
        let mut text = format!(
            "{{\"type\":\"run\",\"run_id\":\"lamp-{task}-{trial}\",\"task_id\":\"lamp-{task}\",\"model\":\"{model}\"}}\n"
        );
        let told = limit.map_or_else(String::new, |limit| format!(" You have {limit} steps."));
        let _ = writeln!(text, r#"{{"type":"message","role":"user","content":"Find lamp {task}.{told}"}}"#);
        for step in 1..steps {
            let _ = writeln!(
                text,
                r#"{{"type":"message","role":"assistant","content":"Room {step}.","tool_calls":[{{"id":"{step}","name":"look","arguments":{{"room":{step}}}}}]}}
{{"type":"message","role":"tool","tool_call_id":"{step}","content":"room {step} of house {task}","is_error":false}}"#
            );
            if limit == Some(step + 1) {
                text += "{\"type\":\"message\",\"role\":\"user\",\"content\":\"This is your last step: give your answer.\"}\n";
            }
        }
        let end = if limit == Some(steps) && !is_success { "cap" } else { "self_finish" };
        text += "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"There it is.\"}\n";
        let _ = writeln!(text, r#"{{"type":"outcome","success":{is_success},"end":"{end}"}}"#);
        text
    }
}

const TASKS: usize = 48;

/// Two trials of each task, without a limit.
fn before() -> Vec<Made> {
    let mut runs = Vec::new();
    for task in 0..TASKS {
        for trial in 0..2 {
            runs.push(Made { task, trial, steps: 2 + (task + trial) % 8, is_success: (task + 2 * trial) % 5 != 4 });
        }
    }
    runs
}

/// The same tasks by an agent that is told of a limit of 6 steps. Nearly all that would have gone on answer in time.
fn told() -> Vec<Made> {
    let mut runs = before();
    for run in &mut runs {
        let is_late = run.steps >= 6;
        run.steps = run.steps.min(6);
        run.is_success &= !is_late || run.task % 7 != 3;
    }
    runs
}

/// The same tasks under a stop after 6 steps that nobody was told of.
fn stopped() -> Vec<Made> {
    let mut runs = before();
    for run in &mut runs {
        run.is_success &= run.steps <= 6;
        run.steps = run.steps.min(6);
    }
    runs
}

fn text(runs: &[Made], model: &str, limit: Option<usize>) -> String {
    runs.iter().map(|run| run.text(model, limit)).collect()
}

const STACKS: &str = "[[stack]]\nname = \"six-steps\"\ncap = { steps = 6 }\ntold = true\nnotice = 1\n";
const SILENT: &str = "[[stack]]\nname = \"silent\"\ncap = { steps = 6 }\n";

fn scratch() -> Scratch {
    Scratch::with(&[
        ("before.jsonl", &text(&before(), "m", None)),
        ("told.jsonl", &text(&told(), "m", Some(6))),
        ("stopped.jsonl", &text(&stopped(), "m", None)),
        ("told.toml", STACKS),
        ("silent.toml", SILENT),
    ])
}

#[test]
fn the_bundled_pair_is_made_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/against");
    for (name, text) in [
        ("before.jsonl", text(&before(), "m", None)),
        ("after.jsonl", text(&told(), "m", Some(6))),
        ("six-steps.toml", STACKS.to_owned()),
    ] {
        let path = folder.join(name);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            text,
            "{name}: UPDATE_DOCS=1 cargo test --test it against::"
        );
    }
}

#[test]
fn a_told_limit_kills_less_than_its_replay() {
    let scratch = scratch();
    let (code, stdout, stderr) = scratch.run("compare before.jsonl --stacks told.toml --against told.jsonl --out out");
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(scratch.names("out"), ["against-steps.csv", "against.csv", "against.png", "against.svg", "report.html"]);
    insta::assert_snapshot!("against_told", stdout);
    assert!(stdout.lines().all(|line| line.chars().count() <= 80), "{stdout}");
    let page = scratch.read("out/report.html");
    assert!(
        page.contains("<h1><code>six-steps</code> was to kill 39 % of the successes") && page.contains("<svg"),
        "{page}"
    );
    insta::assert_snapshot!("against_told_csv", scratch.read("out/against.csv"));
    insta::assert_snapshot!("against_told_steps", scratch.read("out/against-steps.csv"));
    // Each task counts once, with equally many runs: successes with more than 6 steps are killed, those with 6 or more
    // are at risk.
    let successes = before().iter().filter(|run| run.is_success).count() as f64;
    let with_steps = |least: usize| before().iter().filter(|run| run.is_success && run.steps >= least).count() as f64;
    let row = &scratch.table("out/against.csv")[0];
    let near = |column: &str, value: f64| {
        let printed: f64 = row[column].parse().unwrap();
        assert!((printed - value).abs() < 1e-6, "{column}: {printed}, by hand {value}");
    };
    near("killed_rate", with_steps(7) / successes);
    near("at_risk_rate", with_steps(6) / successes);
    let after = told().iter().filter(|run| run.is_success).count() as f64;
    near("lost_rate", (successes - after) / successes);
    near("control", 0.0);
}

/// Two models of MINT, told of a limit of 5 steps and of 4. The counts are from a script that reads the files itself.
#[test]
fn a_real_pair_kills_less_than_its_replay() {
    let scratch = scratch();
    let mint = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/mint");
    let mint = mint.display();
    let (code, stdout, stderr) = scratch.run(&format!(
        "compare {mint}/before.jsonl.gz --stacks {mint}/cap4.toml --against {mint}/after.jsonl.gz --format csv"
    ));
    assert_eq!(code, 0, "{stderr}");
    scratch.put("against.csv", &stdout);
    let row = &scratch.table("against.csv")[0];
    assert_eq!(
        (&*row["successes_before"], &*row["successes_after"], &*row["verdict"]),
        ("392", "395", "too_pessimistic")
    );
    for (column, successes) in [("killed_rate", 33.0), ("at_risk_rate", 56.0), ("lost_rate", -3.0), ("control", 4.0)] {
        let printed: f64 = row[column].parse().unwrap();
        assert!((printed - successes / 392.0).abs() < 1e-6, "{column}: {printed}");
    }
    let (_, stdout, _) = scratch.run(&format!("corpus {mint}/after.jsonl.gz"));
    assert!(stdout.contains("told of a limit: the agent, in 904 runs"), "{stdout}");
    // Two batches under other names have no stop point in common: what can be asked of them is named.
    let (_, stdout, stderr) =
        scratch.run(&format!("ci diff {mint}/before.jsonl.gz {mint}/after.jsonl.gz --stacks {mint}/cap4.toml"));
    assert!(stderr.contains("452 tasks are in both recordings"), "{stderr}");
    for said in ["none of 904 runs is among the 904 of now", "no run is in both, so no stop point could change"] {
        assert!(stdout.contains(said), "{stdout}");
    }
}

/// Of the 392 successes 56 have 4 steps or more. At worst they are lost, and of the failures the 333 of 5 steps save one
/// each and the others none: 333 of 3,245 steps. Under a limit of 5, which is the recordings' own, nothing is saved at worst.
#[test]
fn a_told_cap_ships_if_what_it_may_kill_is_tolerated_and_it_pays_at_worst() {
    let scratch = scratch();
    let mint = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/mint");
    let mint = mint.display();
    scratch.put("cap5.toml", "[[stack]]\nname = \"cap5\"\ncap = { steps = 5 }\ntold = true\nnotice = 1\n");
    let warning = "[[stack]]\nname = \"warns\"\nany = [{ signal = \"steps\", at_least = 3, then = \"warn\" }]\n";
    scratch.put("warns.toml", warning);
    let asked = |stacks: &str, max_killed: &str| {
        let (code, stdout, stderr) = scratch
            .run(&format!("compare {mint}/before.jsonl.gz --stacks {stacks} --max-killed {max_killed} --out out"));
        assert_eq!(code, 0, "{stderr}");
        stdout
    };
    let answer = asked(&format!("{mint}/cap4.toml"), "0.25");
    assert!(answer.contains("Ship `cap4`") && answer.contains("saves 10 % of"), "{answer}");
    assert_eq!(scratch.table("out/summary.csv")[0]["killed_max"], "56");
    let mut saved = 0;
    for row in scratch.table("out/rows.csv").iter().filter(|row| row["outcome"] == "failure") {
        saved += row["steps_recorded"].parse::<i64>().unwrap() - row["steps_high"].parse::<i64>().unwrap();
    }
    assert_eq!(saved, 333);
    let answer = asked(&format!("{mint}/cap4.toml"), "0.1");
    assert!(answer.contains("`cap4` cannot be shipped at 10 %"), "{answer}");
    let answer = asked("cap5.toml", "0.25");
    assert!(answer.contains("Safe, but not shown to pay: `cap5`"), "{answer}");
    // A warning without a limit has no upper end of what is spent.
    let answer = asked("warns.toml", "0.5");
    assert!(answer.contains("known on 44.2 % of the runs"), "{answer}");
}

#[test]
fn a_silent_stop_does_what_was_predicted() {
    let scratch = scratch();
    let (code, stdout, stderr) = scratch.run("compare before.jsonl --stacks silent.toml --against stopped.jsonl");
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("It came true: from the stop on the replay was off by 0.0 points"), "{stdout}");
}

#[test]
fn order_copies_and_threads_change_no_digit() {
    let scratch = scratch();
    let mut turned = before();
    turned.reverse();
    scratch.put("turned.jsonl", &text(&turned, "m", None));
    for name in ["copies/one.jsonl", "copies/two.jsonl"] {
        scratch.put(name, &text(&before(), "m", None));
    }
    let asked = |before: &str, out: &str| {
        let (code, _, stderr) =
            scratch.run(&format!("compare {before} --stacks told.toml --against told.jsonl --out {out}"));
        assert_eq!(code, 0, "{stderr}");
        scratch.contents(out)
    };
    let once = asked("before.jsonl", "once");
    assert_eq!(asked("turned.jsonl", "turned"), once);
    assert_eq!(asked("copies", "from-copies"), once);
    assert_eq!(asked("before.jsonl --threads 1", "one-thread"), once);
}

#[test]
fn what_cannot_be_compared_is_refused_with_what_is_missing() {
    let scratch = scratch();
    let elsewhere = text(&told(), "m", Some(6)).replace("lamp-", "chair-");
    scratch.put("elsewhere.jsonl", &elsewhere);
    scratch.put("other-model.jsonl", &text(&told(), "other", Some(6)));
    scratch.put("half.jsonl", &text(&told()[..50], "m", Some(6)));
    scratch.put("no-success.jsonl", &text(&before(), "m", None).replace("\"success\":true", "\"success\":false"));
    let (code, stdout, _) = scratch.run("compare no-success.jsonl --stacks told.toml --against told.jsonl");
    assert!(stdout.contains("no run before succeeded") && code == 4, "{stdout}");
    scratch.put("unknown.toml", &STACKS.replace("notice = 1\n", ""));
    scratch.put("five.toml", &STACKS.replace("steps = 6", "steps = 5"));
    for (after, stacks, said) in [
        ("elsewhere.jsonl", "told.toml", "none of the 48 tasks before is among the 48 after"),
        ("other-model.jsonl", "told.toml", "model `m` is only in the recordings before"),
        ("half.jsonl", "told.toml", "only 25 of 48 tasks before and 25 after are in both"),
        ("told.jsonl", "unknown.toml", "nothing says when: add `notice = 1`"),
        ("told.jsonl", "five.toml", "was not in force: 50 % of the 96 runs with it go on"),
    ] {
        let (code, stdout, stderr) = scratch.run(&format!("compare before.jsonl --stacks {stacks} --against {after}"));
        let said_flat = stdout.replace('\n', " ");
        assert!(said_flat.contains(said), "{after}, {stacks}: {stdout}{stderr}");
        assert_eq!(code, 4, "{after}, {stacks}");
    }
}

#[test]
fn a_plain_cap_on_runs_that_were_told_of_a_limit_says_what_a_told_one_may_kill() {
    let scratch = scratch();
    scratch.put("plain.toml", "[[stack]]\nname = \"five\"\ncap = { steps = 5 }\n");
    scratch.put("told-five.toml", "[[stack]]\nname = \"five\"\ncap = { steps = 5 }\ntold = true\nnotice = 1\n");
    let asked = |runs: &str, stacks: &str| {
        let (code, stdout, stderr) = scratch.run(&format!("compare {runs} --stacks {stacks}"));
        assert!(code == 0 || code == 100, "{stderr}");
        stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let late = told().iter().filter(|run| run.is_success && run.steps >= 5).count() as f64;
    let successes = told().iter().filter(|run| run.is_success).count() as f64;
    let range = format!("0 to {:.0} % under a told `five`", late / successes * 100.0);
    let plain = asked("told.jsonl", "plain.toml");
    assert!(
        plain.contains("the agent was told its limit in 96 of 96 runs") && plain.contains(&range),
        "{range}: {plain}"
    );
    for (runs, stacks) in [("told.jsonl", "told-five.toml"), ("before.jsonl", "plain.toml")] {
        assert!(!asked(runs, stacks).contains("was told its limit"), "{runs} {stacks}");
    }
    // It is a note of the answer, wherever that is shown, and of parts that are put together.
    assert!(asked("told.jsonl", "plain.toml --format json").contains(&range));
    asked("told.jsonl", "plain.toml --out whole");
    scratch.run("compare told.jsonl --stacks plain.toml --shard 1/2 --out parts/1");
    scratch.run("compare told.jsonl --stacks plain.toml --shard 2/2 --out parts/2");
    assert_eq!(scratch.run("report parts --out merged").0, scratch.run("report whole --out again").0);
    for folder in ["whole", "merged", "again"] {
        assert!(scratch.read(&format!("{folder}/report.html")).contains(&range), "{folder}");
    }
}

#[test]
fn a_diff_of_two_recordings_of_the_same_tasks_names_the_comparison() {
    let scratch = scratch();
    scratch.put("elsewhere.jsonl", &text(&told(), "m", Some(6)).replace("lamp-", "chair-"));
    let (_, _, stderr) = scratch.run("ci diff before.jsonl told.jsonl --stacks told.toml");
    assert!(stderr.contains("48 tasks are in both recordings"), "{stderr}");
    assert!(stderr.contains("whenstop compare before.jsonl --stacks told.toml --against told.jsonl"), "{stderr}");
    let (_, _, stderr) = scratch.run("ci diff before.jsonl elsewhere.jsonl --stacks told.toml");
    assert!(!stderr.contains("--against"), "{stderr}");
}

#[test]
fn corpus_quotes_what_the_agent_was_told_and_says_nothing_of_the_others() {
    let scratch = scratch();
    let listed = |file: &str| {
        let (code, stdout, stderr) = scratch.run(&format!("corpus {file} --runs --format csv"));
        assert_eq!(code, 0, "{stderr}");
        scratch.put("runs.csv", &stdout);
        scratch.table("runs.csv")
    };
    let before = listed("before.jsonl");
    assert!(before.iter().all(|run| run["told"].is_empty() && run["told_at"].is_empty()), "{:?}", before[0]);
    for run in listed("told.jsonl") {
        assert_eq!(run["told"], "You have 6 steps.");
        assert_eq!(run["told_at"], if run["steps"] == "6" { "6" } else { "" }, "{run:?}");
    }
    let (_, stdout, _) = scratch.run("corpus told.jsonl");
    assert!(
        stdout.contains("told of a limit: the agent, in 96 runs (first `lamp-0-0`: `You have 6 steps.`)"),
        "{stdout}"
    );
}

#[test]
fn what_is_read_is_not_written_over() {
    let scratch = scratch();
    scratch.put("out/against.csv", &text(&told(), "m", Some(6)));
    let (code, _, stderr) = scratch.run("compare before.jsonl --stacks told.toml --against told.jsonl --out out");
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("whenstop did not write it"), "{stderr}");
}

#[test]
fn both_sides_have_labels() {
    let scratch = scratch();
    let ungraded = |runs: &[Made], limit| {
        let graded = text(runs, "m", limit);
        let lines = graded.lines().filter(|line| !line.contains("\"outcome\""));
        lines.flat_map(|line| [line, "\n"]).collect::<String>()
    };
    let labels = |runs: &[Made]| {
        let mut csv = "run_id,success\n".to_owned();
        for run in runs {
            let _ = writeln!(csv, "lamp-{}-{},{}", run.task, run.trial, run.is_success);
        }
        csv
    };
    scratch.put("bare/before.jsonl", &ungraded(&before(), None));
    scratch.put("bare/told.jsonl", &ungraded(&told(), Some(6)));
    scratch.put("before.csv", &labels(&before()));
    scratch.put("told.csv", &labels(&told()));
    let graded = scratch.run("compare before.jsonl --stacks told.toml --against told.jsonl --format csv");
    let labelled = scratch.run(
        "compare bare/before.jsonl --labels before.csv --stacks told.toml --against bare/told.jsonl --against-labels told.csv --format csv",
    );
    assert_eq!(labelled.1, graded.1, "{}", labelled.2);
}
