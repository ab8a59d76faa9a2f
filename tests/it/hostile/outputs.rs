//! Rows about where results go and come back from: folders that are half written, cannot be written, or are not ours.

use super::{check, row, run};
use crate::desk::Desk;

const STACK: &str = "[[stack]]\nname = \"s\"\nany = [{ signal = \"steps\", at_least = 1 }]\n";

/// What is done to a folder of results.
type Damage = fn(&Desk);

/// A folder of results.
fn compared(desk: &Desk) {
    desk.put("a.jsonl", &run("a"));
    desk.put("s.toml", &(STACK.to_owned() + &STACK.replace("\"s\"", "\"u\"")));
    assert_eq!(desk.told("compare a.jsonl --stacks s.toml --out out").0, 0);
}

/// Writes another cell into the first row.
fn put_cell(desk: &Desk, column: &str, cell: &str) {
    let text = desk.read("out/rows.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let at = header.iter().position(|name| name == column).unwrap();
    let row = reader.records().next().unwrap().unwrap();
    let cells: Vec<&str> = row.iter().enumerate().map(|(nth, old)| if nth == at { cell } else { old }).collect();
    desk.put("out/rows.csv", &format!("{}\n{}\n", header.iter().collect::<Vec<_>>().join(","), cells.join(",")));
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
        "accept a.jsonl --stacks s.toml --snapshot file/a.snap",
        "accept a.jsonl --stacks s.toml --snapshot folder",
        "sweep a.jsonl --signal steps --limits 1,2 --out file",
        "certify a.jsonl --signal steps --limits 1,2 --out file/c.json",
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
            .after(|desk| assert_eq!(desk.read("file"), "a file"))
    });
    check(rows.into_iter().collect());
}

#[test]
fn results_that_are_no_results_are_refused_with_their_place() {
    let cases: [(&str, Damage, i32, &str); 14] = [
        ("half written", |desk| desk.put("out/INCOMPLETE", ""), 3, "half written"),
        ("without rows", |desk| std::fs::remove_file(desk.path("out/rows.csv")).unwrap(), 3, "rows.csv"),
        ("without firings", |desk| std::fs::remove_file(desk.path("out/firings.csv")).unwrap(), 3, "firings.csv"),
        (
            "without a manifest",
            |desk| std::fs::remove_file(desk.path("out/manifest.json")).unwrap(),
            3,
            "manifest.json",
        ),
        ("with a manifest of no sense", |desk| desk.put("out/manifest.json", "{"), 3, "not a manifest"),
        (
            "of another version",
            |desk| {
                let manifest = desk.read("out/manifest.json");
                desk.put("out/manifest.json", &manifest.replace("\"rows_version\": ", "\"rows_version\": 99"));
            },
            3,
            "version 99",
        ),
        ("with an empty file of rows", |desk| desk.put("out/rows.csv", ""), 4, "has no row"),
        ("with rows of no sense", |desk| desk.put("out/rows.csv", "a,b\n1,2\n"), 3, "rows.csv:2"),
        (
            "with a row cut short",
            |desk| desk.put("out/rows.csv", &(desk.read("out/rows.csv") + "x,y\n")),
            3,
            "rows.csv:4",
        ),
        (
            "with rows that are cut off at a line's end",
            |desk| {
                let text = desk.read("out/rows.csv");
                let kept: Vec<&str> = text.lines().collect();
                desk.put("out/rows.csv", &(kept[..kept.len() - 1].join("\n") + "\n"));
            },
            3,
            "1 rows, but the manifest says 2",
        ),
        (
            "with its rows twice",
            |desk| {
                let text = desk.read("out/rows.csv");
                let rows: String = text.lines().skip(1).flat_map(|line| [line, "\n"]).collect();
                desk.put("out/rows.csv", &(text + &rows));
            },
            3,
            "4 rows, but the manifest says 2",
        ),
        (
            "with two outcomes of one run",
            |desk| {
                let text = desk.read("out/rows.csv");
                let (first, last) = text.trim_end().rsplit_once('\n').unwrap();
                desk.put("out/rows.csv", &format!("{first}\n{}\n", last.replace(",exact,unknown,", ",exact,success,")));
            },
            3,
            "has another outcome under",
        ),
        ("with a verdict of no sense", |desk| put_cell(desk, "verdict", "splendid"), 3, "splendid"),
        ("with a number of no sense", |desk| put_cell(desk, "steps_recorded", "-1"), 3, "rows.csv:2"),
    ];
    let mut rows = Vec::new();
    for (what, damage, exit, said) in cases {
        let row = row(format!("a folder {what}"), "report out --out again").exit(exit).says(said).says("= help: ");
        rows.push((row, damage));
    }
    for (row, damage) in rows {
        let desk = Desk::with(&[]);
        compared(&desk);
        damage(&desk);
        let row =
            desk.contents("out").into_iter().fold(row, |row, (name, bytes)| row.file(&format!("out/{name}"), bytes));
        check(vec![row.after(|desk| assert!(!desk.path("again").exists(), "nothing is written"))]);
    }
}

#[test]
fn what_a_killed_writer_left_is_swept_up() {
    let leftovers = |desk: &Desk| {
        desk.put(".keep", "");
        desk.put("out/.whenstop-new-abc123/rows.csv", "half a r");
        desk.put("out/INCOMPLETE", "");
        desk.put("out/notes.txt", "mine");
    };
    let command = "compare a.jsonl --stacks s.toml --out out";
    check(vec![
        row("leftovers", command)
            .file("a.jsonl", run("a"))
            .file("s.toml", STACK)
            .prepare(leftovers)
            .says("written to out")
            .after(|desk| {
                let names = desk.names("out");
                assert!(names.iter().all(|name| !name.starts_with('.') && name != "INCOMPLETE"), "{names:?}");
                assert_eq!(desk.read("out/notes.txt"), "mine", "what is not ours stays");
            }),
    ]);
}

#[test]
fn a_half_written_folder_is_no_corpus() {
    let commands = [
        "corpus each",
        "compare each --stacks s.toml",
        "convert each --out all.jsonl",
        "check each --stacks s.toml --fail-on killed_rate>0.5",
    ];
    let rows = commands.map(|command| {
        row(format!("half a folder of runs: {command}"), command)
            .file("a.jsonl", run("a"))
            .file("s.toml", STACK)
            .prepare(|desk| {
                assert_eq!(desk.told("convert a.jsonl --out each/").0, 0);
                desk.put("each/INCOMPLETE", "");
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
        .after(|desk| assert_eq!(desk.read("each/INCOMPLETE"), "my list"));
    check(rows.into_iter().chain([mine, in_the_way]).collect());
}

#[test]
fn an_input_is_not_written_over_and_what_a_kill_left_is_taken_away() {
    let left = "out/.x.jsonl.whenstop-abc";
    check(vec![
        row("a stack file exported over itself", "export s.toml --to langchain --out s.toml")
            .file("s.toml", STACK)
            .exit(2)
            .says("this is the stack file that is exported")
            .after(|desk| assert_eq!(desk.read("s.toml"), STACK)),
        row("a copy, after one that was killed", "convert a.jsonl --out out/x.jsonl")
            .file("a.jsonl", run("a"))
            .file(left, "half a r")
            .file("out/.other.whenstop-abc", "of another file")
            .says("1 run")
            .after(|desk| {
                assert!(!desk.path("out/.x.jsonl.whenstop-abc").exists());
                assert!(desk.path("out/.other.whenstop-abc").exists() && desk.path("out/x.jsonl").exists());
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
    check(vec![texts.after(|desk| {
        for name in ["out/report.html", "out/manifest.json"] {
            assert!(!desk.read(name).contains("hunter2"), "{name}");
        }
    })]);
}
