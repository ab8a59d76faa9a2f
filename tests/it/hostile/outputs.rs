//! Rows about where results go and come back from: folders that are half written, cannot be written, or are not ours.

use super::{check, row, run};
use crate::scratch::Scratch;

const STACK: &str = "[[stack]]\nname = \"s\"\nany = [{ signal = \"steps\", at_least = 1 }]\n";

/// What is done to a folder of results.
type Damage = fn(&Scratch);

/// A folder of results.
fn compared(scratch: &Scratch) {
    scratch.put("a.jsonl", &run("a"));
    scratch.put("s.toml", &(STACK.to_owned() + &STACK.replace("\"s\"", "\"u\"")));
    assert_eq!(scratch.run("compare a.jsonl --stacks s.toml --out out").0, 0);
}

/// Writes another cell into every row.
fn put_cells(scratch: &Scratch, column: &str, cell: &str) {
    let text = scratch.read("out/rows.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header).unwrap();
    for row in reader.records() {
        let row = row.unwrap();
        let cells = header.iter().zip(&row).map(|(name, old)| if name == column { cell } else { old });
        writer.write_record(cells).unwrap();
    }
    scratch.put_bytes("out/rows.csv", &writer.into_inner().unwrap());
}

/// Writes another cell into the first row.
fn put_cell(scratch: &Scratch, column: &str, cell: &str) {
    let text = scratch.read("out/rows.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let at = header.iter().position(|name| name == column).unwrap();
    let row = reader.records().next().unwrap().unwrap();
    let cells: Vec<&str> = row.iter().enumerate().map(|(nth, old)| if nth == at { cell } else { old }).collect();
    scratch.put("out/rows.csv", &format!("{}\n{}\n", header.iter().collect::<Vec<_>>().join(","), cells.join(",")));
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let commands = [
        "compare a.jsonl --stacks s.toml --out file",
        "compare a.jsonl --stacks s.toml --out file/below",
        "compare a.jsonl --stacks s.toml --out /proc/nowhere",
        "convert a.jsonl --out file/a.jsonl",
        "convert a.jsonl --out /proc/nowhere.jsonl",
        "convert a.jsonl --out file/below/",
        "ci accept a.jsonl --stacks s.toml --snapshot file/a.snap",
        "ci accept a.jsonl --stacks s.toml --snapshot folder",
        "tune a.jsonl --signal steps --limits 1,2 --out file",
        "tune a.jsonl --signal steps --limits 1,2 --out file/below",
    ];
    let rows = commands.map(|command| {
        row(command, command)
            .file("a.jsonl", run("a"))
            .file("s.toml", STACK)
            .file("file", "a file")
            .file("folder/x", "")
            .exit(3)
            .says("cannot write")
            .says("= help: ")
            .after(|scratch| assert_eq!(scratch.read("file"), "a file"))
    });
    check(rows.into_iter().collect());
}

#[test]
fn results_that_are_no_results_are_refused_with_their_place() {
    let cases: [(&str, Damage, i32, &str); 17] = [
        ("half written", |scratch| scratch.put("out/INCOMPLETE", ""), 3, "half written"),
        ("without rows", |scratch| std::fs::remove_file(scratch.path("out/rows.csv")).unwrap(), 3, "rows.csv"),
        ("without firings", |scratch| std::fs::remove_file(scratch.path("out/firings.csv")).unwrap(), 3, "firings.csv"),
        (
            "without a manifest",
            |scratch| std::fs::remove_file(scratch.path("out/manifest.json")).unwrap(),
            3,
            "manifest.json",
        ),
        ("with a manifest of no sense", |scratch| scratch.put("out/manifest.json", "{"), 3, "not a manifest"),
        (
            "of another version",
            |scratch| {
                let manifest = scratch.read("out/manifest.json");
                scratch.put("out/manifest.json", &manifest.replace("\"rows_version\": ", "\"rows_version\": 99"));
            },
            3,
            "version 99",
        ),
        ("with an empty file of rows", |scratch| scratch.put("out/rows.csv", ""), 4, "has no row"),
        ("with rows of no sense", |scratch| scratch.put("out/rows.csv", "a,b\n1,2\n"), 3, "rows.csv:2"),
        (
            "with a row cut short",
            |scratch| scratch.put("out/rows.csv", &(scratch.read("out/rows.csv") + "x,y\n")),
            3,
            "rows.csv:4",
        ),
        (
            "with rows that are cut off at a line's end",
            |scratch| {
                let text = scratch.read("out/rows.csv");
                let kept: Vec<&str> = text.lines().collect();
                scratch.put("out/rows.csv", &(kept[..kept.len() - 1].join("\n") + "\n"));
            },
            3,
            "1 rows, but the manifest says 2",
        ),
        (
            "with its rows twice",
            |scratch| {
                let text = scratch.read("out/rows.csv");
                let rows: String = text.lines().skip(1).flat_map(|line| [line, "\n"]).collect();
                scratch.put("out/rows.csv", &(text + &rows));
            },
            3,
            "4 rows, but the manifest says 2",
        ),
        (
            "with two outcomes of one run",
            |scratch| {
                let text = scratch.read("out/rows.csv");
                let (first, last) = text.trim_end().rsplit_once('\n').unwrap();
                scratch
                    .put("out/rows.csv", &format!("{first}\n{}\n", last.replace(",exact,unknown,", ",exact,success,")));
            },
            3,
            "has another outcome under",
        ),
        (
            "with a run twice under one stack",
            |scratch| {
                let text = scratch.read("out/rows.csv");
                let lines: Vec<&str> = text.lines().collect();
                scratch.put("out/rows.csv", &format!("{}\n{}\n{}\n", lines[0], lines[1], lines[1]));
            },
            3,
            "run `a` stands here twice under `s`",
        ),
        (
            "with a stack that was not compared",
            |scratch| scratch.put("out/rows.csv", &scratch.read("out/rows.csv").replace("\na,,,,u,", "\na,,,,other,")),
            3,
            "of the stack `other`, which the manifest does not name",
        ),
        (
            "with more steps at the stop than in the recording",
            |scratch| put_cells(scratch, "steps_at_stop", "7"),
            3,
            "more steps at its stop",
        ),
        ("with a verdict of no sense", |scratch| put_cell(scratch, "verdict", "splendid"), 3, "splendid"),
        ("with a number of no sense", |scratch| put_cell(scratch, "steps_recorded", "-1"), 3, "rows.csv:2"),
    ];
    let mut rows = Vec::new();
    for (what, damage, exit, said) in cases {
        let row = row(format!("a folder {what}"), "report out --out again").exit(exit).says(said).says("= help: ");
        rows.push((row, damage));
    }
    for (row, damage) in rows {
        let scratch = Scratch::with(&[]);
        compared(&scratch);
        damage(&scratch);
        let row =
            scratch.contents("out").into_iter().fold(row, |row, (name, bytes)| row.file(&format!("out/{name}"), bytes));
        check(vec![row.after(|scratch| assert!(!scratch.path("again").exists(), "nothing is written"))]);
    }
}

#[test]
fn what_a_killed_writer_left_is_swept_up() {
    let leftovers = |scratch: &Scratch| {
        scratch.put(".keep", "");
        scratch.put("out/.whenstop-new-abc123/rows.csv", "half a r");
        scratch.put("out/INCOMPLETE", "");
        scratch.put("out/notes.txt", "mine");
    };
    let command = "compare a.jsonl --stacks s.toml --out out";
    check(vec![
        row("leftovers", command)
            .file("a.jsonl", run("a"))
            .file("s.toml", STACK)
            .prepare(leftovers)
            .says("written to out")
            .after(|scratch| {
                let names = scratch.names("out");
                assert!(names.iter().all(|name| !name.starts_with('.') && name != "INCOMPLETE"), "{names:?}");
                assert_eq!(scratch.read("out/notes.txt"), "mine", "what is not ours stays");
            }),
    ]);
}

#[test]
fn a_half_written_folder_is_no_corpus() {
    let commands = [
        "corpus each",
        "compare each --stacks s.toml",
        "convert each --out all.jsonl",
        "ci check each --stacks s.toml --fail-on killed_rate>0.5",
    ];
    let rows = commands.map(|command| {
        row(format!("half a folder of runs: {command}"), command)
            .file("a.jsonl", run("a"))
            .file("s.toml", STACK)
            .prepare(|scratch| {
                assert_eq!(scratch.run("convert a.jsonl --out each/").0, 0);
                scratch.put("each/INCOMPLETE", "");
            })
            .exit(3)
            .says("half written")
            .says("each")
    });
    let mine = row("a file of the same name", "corpus .")
        .file("INCOMPLETE", "my list")
        .file("a.jsonl", run("a"))
        .runs(1)
        .says("trace");
    let in_the_way = row("a file of the same name in the way", "convert a.jsonl --out each/")
        .file("a.jsonl", run("a"))
        .file("each/INCOMPLETE", "my list")
        .exit(3)
        .says("in the way")
        .after(|scratch| assert_eq!(scratch.read("each/INCOMPLETE"), "my list"));
    check(rows.into_iter().chain([mine, in_the_way]).collect());
}

#[test]
fn an_input_is_not_written_over_and_what_a_kill_left_is_taken_away() {
    let left = "out/.x.jsonl.whenstop-abc";
    check(vec![
        row("a stack file exported over itself", "export s.toml --to langchain --out s.toml")
            .file("s.toml", STACK)
            .exit(2)
            .says("this command reads this file")
            .after(|scratch| assert_eq!(scratch.read("s.toml"), STACK)),
        row("a copy, after one that was killed", "convert a.jsonl --out out/x.jsonl")
            .file("a.jsonl", run("a"))
            .file(left, "half a r")
            .file("out/.other.whenstop-abc", "of another file")
            .says("1 run")
            .after(|scratch| {
                assert!(!scratch.path("out/.x.jsonl.whenstop-abc").exists());
                assert!(scratch.path("out/.other.whenstop-abc").exists() && scratch.path("out/x.jsonl").exists());
            }),
    ]);
}

#[test]
fn no_name_is_a_link_or_a_mention_in_markdown() {
    for id in ["@octocat", "https://evil.example/x", "www.evil.example", "#12"] {
        let text = format!(
            "{}\n{}\n",
            serde_json::json!({"type": "run", "run_id": id}),
            "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}"
        );
        check(vec![
            row(id, "corpus x.jsonl --runs --format md")
                .file("x.jsonl", text)
                .says(format!("`{id}`"))
                .never_says(format!("| {id}")),
        ]);
    }
}

#[test]
fn a_page_without_texts_quotes_none() {
    let lines = [
        "{\"type\":\"run\",\"run_id\":\"r\"}",
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\",\"lane\":\"hunter2 `x\"}",
        "{\"type\":\"outcome\",\"success\":\"hunter2\"}",
    ];
    let texts = row("findings that quote", "compare x.jsonl --stacks s.toml --out out --embed-text none")
        .file("x.jsonl", lines.join("\n") + "\n")
        .file("s.toml", STACK)
        .says("1 run");
    check(vec![texts.after(|scratch| {
        for name in ["out/report.html", "out/manifest.json"] {
            assert!(!scratch.read(name).contains("hunter2"), "{name}");
        }
    })]);
}
