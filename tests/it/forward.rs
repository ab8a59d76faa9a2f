//! `tune --walk-forward`: what the weeks before would have shipped, and what it then did, on runs of which that is known.

use std::fmt::Write as _;

use crate::scratch::Scratch;

/// A run of `steps` different steps, the last of which is the answer, that starts on a day of 2026.
fn run(name: &str, day: Option<&str>, steps: usize, outcome: Option<bool>) -> String {
    let day = day.map_or_else(String::new, |day| format!(r#","started_at":"2026-{day}T09:00:00Z""#));
    let mut text =
        format!("{{\"type\":\"run\",\"run_id\":\"{name}\",\"task_id\":\"{name}\",\"model\":\"m-1\"{day}}}\n");
    for step in 1..steps {
        let _ = writeln!(
            text,
            r#"{{"type":"message","role":"assistant","content":"look {name} {step}","tool_calls":[{{"id":"{step}","name":"look","arguments":{{"part":"{name}-{step}"}}}}]}}
{{"type":"message","role":"tool","tool_call_id":"{step}","content":"seen {name} {step}","is_error":false}}"#
        );
    }
    text += "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"That is all.\"}\n";
    match outcome {
        Some(success) => text + &format!("{{\"type\":\"outcome\",\"success\":{success},\"end\":\"self_finish\"}}\n"),
        None => text,
    }
}

/// So many successes of so many steps, and failures of 20 steps, of one week.
fn week(day: &str, successes: usize, steps: usize, failures: usize) -> String {
    let succeed = (0..successes).map(|n| run(&format!("s{day}-{n}"), Some(day), steps, Some(true)));
    let fail = (0..failures).map(|n| run(&format!("f{day}-{n}"), Some(day), 20, Some(false)));
    succeed.chain(fail).collect()
}

/// From the third week on, work takes six steps instead of three. One run of the second week has no outcome, and two runs
/// have no date. The weeks stand in the file in another order than in the calendar.
fn longer_from_the_third_week() -> Scratch {
    let text = [
        week("08-18", 20, 6, 10),
        run("undated-1", None, 3, Some(true)),
        week("07-28", 60, 3, 30),
        week("08-04", 20, 3, 10),
        run("ungraded", Some("08-09"), 10, None),
        week("08-10", 20, 6, 10),
        run("undated-2", None, 20, Some(false)),
    ];
    Scratch::with(&[("runs.jsonl", &text.concat()), ("grid.toml", GRID)])
}

const GRID: &str = "[[axis]]\nsignal = \"steps\"\nat_least = [4, 7]\n";

const WALK: &str = "runs.jsonl --max-killed 0.1 --walk-forward week";

/// Each week's name, what was shipped from the weeks before, and some of its numbers.
fn weeks(scratch: &Scratch, file: &str, columns: &[&str]) -> Vec<String> {
    let table = scratch.table(file);
    table.iter().map(|row| columns.iter().map(|column| row[*column].clone()).collect::<Vec<_>>().join(" ")).collect()
}

const COUNTS: [&str; 8] = ["period", "past_runs", "stack", "runs", "successes", "failures", "killed_min", "killed_max"];
const AMOUNTS: [&str; 6] = ["unit", "recorded", "spent_min", "spent_max", "saved_share_min", "saved_share_max"];

#[test]
fn each_week_is_judged_by_the_limit_that_the_weeks_before_would_have_shipped() {
    let scratch = longer_from_the_third_week();
    let (code, stdout, stderr) = scratch.run(&format!("tune {WALK} --signal steps --limits 4,7 --out walk --notes"));
    assert_eq!(code, 100, "{stderr}");
    insta::assert_snapshot!("walk_forward", stdout);
    assert!(stdout.lines().all(|line| line.chars().count() <= 80), "{stdout}");
    assert_eq!(
        weeks(&scratch, "walk/walk-forward.csv", &COUNTS),
        [
            "2026-W31 0  90 60 30  ",
            "2026-W32 90 steps >= 4 31 20 10 0 1",
            "2026-W33 121 steps >= 4 30 20 10 20 20",
            "2026-W34 151 steps >= 7 30 20 10 0 0",
        ]
    );
    // A failure stopped at step 4 saves 16 steps of 20, at step 7 it saves 13. The run without an outcome spends 4 of 10: if it
    // was a success, that saves nothing.
    let near = |row: &str, numbers: [f64; 5]| {
        let read: Vec<f64> = row.split(' ').skip(1).map(|cell| cell.parse().unwrap()).collect();
        assert!(row.starts_with("steps ") && read.iter().zip(numbers).all(|(a, b)| (a - b).abs() < 1e-6), "{row}");
    };
    let amounts = weeks(&scratch, "walk/walk-forward.csv", &AMOUNTS);
    assert_eq!(amounts[0], "steps 780 780 780  ");
    near(&amounts[1], [270.0, 104.0, 104.0, 160.0 / 270.0, 166.0 / 270.0]);
    near(&amounts[2], [320.0, 120.0, 120.0, 160.0 / 320.0, 160.0 / 320.0]);
    near(&amounts[3], [320.0, 190.0, 190.0, 130.0 / 320.0, 130.0 / 320.0]);
    for figure in ["walk-forward.svg", "walk-forward.png"] {
        assert!(scratch.names("walk").iter().any(|name| name == figure));
    }
}

#[test]
fn a_grid_walks_in_the_same_way() {
    let scratch = longer_from_the_third_week();
    for asked in ["--grid grid.toml", "--signal steps --limits 4,7"] {
        let (code, _, stderr) = scratch.run(&format!("tune {WALK} {asked} --out walk"));
        assert_eq!(code, 100, "{asked}: {stderr}");
        let counts = weeks(&scratch, "walk/walk-forward.csv", &COUNTS);
        assert_eq!(
            counts[1..],
            [
                "2026-W32 90 steps >= 4 31 20 10 0 1",
                "2026-W33 121 steps >= 4 30 20 10 20 20",
                "2026-W34 151 steps >= 7 30 20 10 0 0",
            ]
        );
    }
}

#[test]
fn what_is_shipped_from_the_past_is_what_tune_ships_from_those_runs_alone() {
    let scratch = longer_from_the_third_week();
    let (code, _, stderr) = scratch.run(&format!("tune {WALK} --out walk"));
    assert_eq!(code, 100, "{stderr}");
    // A stop after the last tool is not early: three steps are no success lost where work takes three, nor six where it takes
    // six.
    let killed = weeks(&scratch, "walk/walk-forward.csv", &["killed_min", "killed_max"]);
    assert_eq!(killed, [" ", "0 1", "20 20", "0 0"]);
    let first = week("07-28", 60, 3, 30);
    let second = week("08-04", 20, 3, 10) + &run("ungraded", Some("08-09"), 10, None);
    let third = week("08-10", 20, 6, 10);
    let mut past = String::new();
    let stacks = weeks(&scratch, "walk/walk-forward.csv", &["stack"]);
    for (runs, stack) in [first, second, third].iter().zip(&stacks[1..]) {
        past += runs;
        scratch.put("past.jsonl", &past);
        let (_, stdout, _) = scratch.run("tune past.jsonl --max-killed 0.1 --no-presets --format json");
        let answer: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(answer["ship"]["rules"], serde_json::json!([stack]));
    }
}

#[test]
fn a_limit_that_held_is_said_to_have_held() {
    let text = ["07-28", "08-04", "08-10", "08-17"].map(|day| week(day, 60, 3, 30)).concat();
    let scratch = Scratch::with(&[("runs.jsonl", &text)]);
    let (code, stdout, stderr) = scratch.run(&format!("tune {WALK}"));
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.starts_with("Yes: the limit chosen from the weeks before would have held. It killed 0 of 180\n"),
        "{stdout}"
    );
    let by_month = stdout.replace("week", "month");
    assert!(scratch.run("tune runs.jsonl --max-killed 0.1 --walk-forward month").1.len() < by_month.len());
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let scratch = longer_from_the_third_week();
    for asked in ["", "--grid grid.toml", "--signal steps --limits 4,7"] {
        let told = |threads: usize| scratch.run(&format!("--threads {threads} tune {WALK} {asked} --format json")).1;
        assert_eq!(told(1), told(4), "{asked}");
    }
}

#[test]
fn without_two_weeks_there_is_nothing_to_walk() {
    let undated: String = (0..3).map(|n| run(&format!("u{n}"), None, 3, Some(true))).collect();
    let scratch = Scratch::with(&[("undated.jsonl", &undated), ("one.jsonl", &week("07-28", 4, 3, 2))]);
    for asked in ["", "--signal steps --limits 4,7"] {
        let (code, stdout, stderr) = scratch.run(&format!("tune undated.jsonl --walk-forward week {asked}"));
        assert_eq!((code, &*stdout), (3, ""), "{stderr}");
        assert!(stderr.contains("none of 3 runs has a date, so there is no week before another"), "{stderr}");
        let (code, _, stderr) = scratch.run(&format!("tune one.jsonl --walk-forward week {asked}"));
        assert_eq!(code, 3);
        assert!(stderr.contains("6 runs with a date, of one week only (2026-W31): it takes two"), "{stderr}");
    }
    for asked in ["--learn", "--by suite", "--format pr"] {
        assert_eq!(scratch.run(&format!("tune one.jsonl --walk-forward week {asked}")).0, 2, "{asked}");
    }
}

#[test]
fn weeks_from_whose_past_nothing_is_shipped_say_why() {
    let text = [week("07-28", 10, 3, 5), week("08-04", 10, 3, 5)].concat();
    let scratch = Scratch::with(&[("runs.jsonl", &text)]);
    for asked in ["", "--signal steps --limits 4,7", "--grid grid.toml"] {
        scratch.put("grid.toml", GRID);
        let (code, stdout, stderr) = scratch.run(&format!("tune {WALK} {asked}"));
        assert_eq!(code, 100, "{stderr}");
        let said = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.starts_with("There is no limit to judge: before none of the 2 weeks would the runs so far have"),
            "{said}"
        );
        assert!(said.contains("10 %") && said.contains("more"), "{asked}: {said}");
    }
}
