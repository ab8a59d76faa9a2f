//! Rows about names: ids, tools, models, suites, stacks, files and members that a terminal, a spreadsheet, Markdown or XML
//! would take for something else.

use serde_json::{Value, json};

use super::{Row, check, row};
use crate::scratch::Scratch;

/// Names that mean something elsewhere, each with what is shown of it.
const NAMES: [(&str, &str, &str); 8] = [
    ("clears the screen", "a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
    ("sets the title", "a\u{1b}]0;x\u{7}b", "a\\u{1b}]0;x\\u{7}b"),
    ("an escape of one byte", "a\u{9b}31mb", "a\\u{9b}31mb"),
    ("goes back over the line", "a\rb\u{8}c", "a\\rb\\u{8}c"),
    ("begins a line of ours", "a\nerror: b", "a\\nerror: b"),
    ("turns the writing around", "a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c"),
    ("hides itself", "a\u{200b}\u{e0041}\u{feff}b", "a\\u{200b}\\u{e0041}\\u{feff}b"),
    ("separates lines elsewhere", "a\u{2028}b\u{85}c", "a\\u{2028}b\\u{85}c"),
];

/// A run with the name in every place where a recording has one.
fn run(name: &str) -> String {
    let call = json!({"id": name, "name": name, "arguments": {name: name}});
    let lines = [
        json!({"type": "run", "run_id": name, "task_id": name, "suite": name, "model": name, "agent": name}),
        json!({"type": "message", "role": "user", "content": name}),
        json!({"type": "message", "role": "assistant", "content": name, "tool_calls": [call], "model": name,
               "usage": {"input": 5, "output": 1}, "finish_reason": name}),
        json!({"type": "message", "role": "tool", "tool_call_id": name, "name": name, "content": name}),
        json!({"type": "message", "role": name, "content": name}),
        json!({"type": name, "content": name}),
        json!({"type": "message", "role": "assistant", "content": "done", "usage": {"input": 5, "output": 1}}),
        json!({"type": "outcome", "success": false, "end": name}),
    ];
    lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect()
}

fn stack(name: &str) -> String {
    format!("[[stack]]\nname = {}\nany = [{{ signal = \"steps\", at_least = 1 }}]\n", Value::from(name))
}

/// A stack that warns, and so has bounds.
fn warning(name: &str) -> String {
    stack(name).replace("at_least = 1", "at_least = 1, then = \"warn\"")
}

/// A row in which nothing of the name may be said as it is.
fn quiet(what: &str, name: &str, command: &str) -> Row {
    let hostile = name.chars().filter(|c| *c != '\n' && whenstop::diagnostic::is_hostile(*c));
    let row = row(format!("{what}: {command}"), command).file("a.jsonl", run(name)).file("s.toml", stack(name));
    let row = hostile.fold(row, Row::never_says);
    if name.contains("\nerror") { row.never_says("\nerror: b") } else { row }
}

#[test]
fn no_command_shows_what_a_terminal_obeys() {
    let commands = [
        ("explain a.jsonl --stacks s.toml", 0),
        ("explain a.jsonl --stacks s.toml --trail", 0),
        ("explain a.jsonl --stacks s.toml --first", 0),
        ("corpus a.jsonl --runs --why", 0),
        ("corpus a.jsonl --runs --format md", 0),
        ("ci check a.jsonl --stacks s.toml --snapshot other.snap --allow-unreadable", 100),
    ];
    let header = "# whenstop stop points v2: stack | run | rule | stop | verdict\n";
    let mut rows = Vec::new();
    for (what, name, shown) in NAMES {
        for (command, exit) in commands {
            let row = quiet(what, name, command).file("other.snap", header).exit(exit);
            let md = command.ends_with("md");
            rows.push(if md { row.says("trace") } else { row.says(shown) });
        }
    }
    check(rows);
}

#[test]
fn a_comparison_of_any_names_is_a_table_figures_and_a_page() {
    let names = NAMES.iter().map(|(what, name, _)| (*what, *name)).chain([
        ("a formula", "=1+1|'x'!A1"),
        ("markup", "<script>alert(1)</script>&lt;![CDATA["),
        ("a table", "a | b\\|c `d` ![x](http://e) *f*"),
        ("no XML", "\u{fffe}\u{ffff}\u{1}\u{0}"),
        ("long", &LONG),
    ]);
    let rows = names.map(|(what, name)| {
        let row = quiet(what, name, "compare a.jsonl --stacks s.toml --out out").file("s.toml", warning(name));
        row.says("written to out").after(|scratch| {
            for figure in ["frontier", "bounds", "budget", "stop-steps", "spending"] {
                let svg = scratch.read(&format!("out/{figure}.svg"));
                let is_xml =
                    |c: char| matches!(c, '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
                assert!(svg.chars().all(is_xml) && !svg.contains("<script"), "{figure}");
                assert!(
                    scratch
                        .contents("out")
                        .iter()
                        .any(|(name, bytes)| *name == format!("{figure}.png") && bytes.len() > 999)
                );
            }
            let page = scratch.read("out/summary.md");
            assert!(!page.contains("<script") && !page.contains(|c| c != '\n' && whenstop::diagnostic::is_hostile(c)));
            let rows = page.lines().filter(|line| line.starts_with('|')).map(bars);
            assert_eq!(rows.collect::<std::collections::BTreeSet<_>>().len(), 1, "{page}");
            // The slow part, for the names that mean something in CSV.
            if ["name = \"=", "name = \"a |"].iter().any(|name| scratch.read("s.toml").contains(name)) {
                reads_back(scratch);
            }
        })
    });
    check(rows.collect());
}

static LONG: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| "x".repeat(10_000));

/// The bars of a Markdown line that end a cell.
fn bars(line: &str) -> usize {
    line.replace("\\\\", "").replace("\\|", "").matches('|').count()
}

/// Redrawn from its rows, the comparison is the same; and so it is from rows written for a spreadsheet, which executes none.
fn reads_back(scratch: &Scratch) {
    assert_eq!(scratch.run("report out --out again").0, 0);
    assert!(scratch.contents("again") == scratch.contents("out"));
    assert_eq!(scratch.run("report out --out sheet --spreadsheet").0, 0);
    for name in scratch
        .names("sheet")
        .iter()
        .filter(|name| std::path::Path::new(name).extension().is_some_and(|end| end == "csv"))
    {
        let text = scratch.read(&format!("sheet/{name}"));
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        for cell in reader.records().flat_map(|record| record.unwrap().iter().map(str::to_owned).collect::<Vec<_>>()) {
            let is_number = cell.parse::<f64>().is_ok();
            assert!(is_number || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{name}: {cell}");
        }
    }
    assert_eq!(scratch.run("report sheet --out back").0, 0);
    assert!(scratch.contents("back") == scratch.contents("out"));
}

#[test]
fn errors_name_what_they_are_about_in_one_line() {
    let mut rows = Vec::new();
    for (what, name, shown) in NAMES {
        let file = format!("no{name}.jsonl");
        let command = format!("compare|{file}|--stacks|s.toml");
        let stack = format!("compare|a.jsonl|--stacks|preset:{name}");
        for (command, exit) in [(&command, 3), (&stack, 2)] {
            rows.push(quiet(what, name, command).exit(exit).says("error: ").says(shown));
        }
    }
    rows.push(row("an argument", "corpus|--\u{1b}[2J").exit(2).says("unexpected argument").never_says("\u{1b}"));
    check(rows);
}

/// File names that are shown with what was made of the file.
#[test]
#[cfg(unix)]
fn names_of_files_are_shown_and_not_obeyed() {
    let rows = NAMES.into_iter().filter(|(_, name, _)| !name.contains('\0')).map(|(what, name, shown)| {
        let command = "corpus . --why";
        let row = row(format!("a file that {what}"), command).file(&format!("{name}.jsonl"), super::run("r"));
        name.chars()
            .filter(|c| *c != '\n' && whenstop::diagnostic::is_hostile(*c))
            .fold(row, Row::never_says)
            .says(shown)
    });
    check(rows.collect());
}
