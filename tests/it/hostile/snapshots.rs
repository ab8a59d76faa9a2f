//! Rows about the gate: snapshots that are damaged, and ids that are alike.

use super::{check, row};

const HEADER: &str = "# whenstop stop points v2: stack | run | rule | stop | verdict\n";
const STACK: &str = "[[stack]]\nname = \"s\"\nany = [{ signal = \"steps\", at_least = 1 }]\n";

/// A run of so many steps.
fn run(id: &str, steps: usize) -> String {
    let head = serde_json::json!({"type": "run", "run_id": id});
    let step = "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}\n";
    format!("{head}\n{}", step.repeat(steps))
}

#[test]
fn a_snapshot_that_cannot_be_read_is_refused_with_its_line() {
    let line = "s | a | - | end | unlabelled\n";
    let rows = [
        ("empty", String::new(), 1),
        ("of another kind", "{}\n".to_owned(), 1),
        ("of another version", HEADER.replace("v2", "v9") + line, 1),
        ("a field short", format!("{HEADER}s | a | - | end\n"), 2),
        ("a field long", format!("{HEADER}{line}s | b | | - | end | unlabelled\n"), 3),
        ("a line twice", format!("{HEADER}{line}{line}"), 3),
        ("a line twice, once quoted", format!("{HEADER}{line}\"s\" | \"a\" | - | end | unlabelled\n"), 3),
        ("binary", format!("{HEADER}\u{0}\u{1}\u{2}\n"), 2),
    ];
    let rows = rows.map(|(what, text, line)| {
        row(format!("a snapshot {what}"), "ci check a.jsonl --stacks s.toml --snapshot x.snap")
            .file("a.jsonl", run("a", 3))
            .file("s.toml", STACK)
            .file("x.snap", text)
            .exit(3)
            .says(format!("x.snap:{line}"))
            .says("write it anew with `whenstop ci accept`")
    });
    let missing = row("no snapshot", "ci check a.jsonl --stacks s.toml --snapshot x.snap")
        .file("a.jsonl", run("a", 3))
        .file("s.toml", STACK)
        .exit(3)
        .says("write it first with `whenstop ci accept`");
    check(rows.into_iter().chain([missing]).collect());
}

/// What was accepted passes, whatever the ids; and a stop that is another one does not.
#[test]
fn any_ids_are_held_apart() {
    let ids = [
        ["a | b", "a / b"],
        ["a\nb", "a b"],
        ["a | | b", "a |  b"],
        ["x |", "x"],
        ["| x", "x |"],
        [" a", "a"],
        ["a\u{202e}", "a"],
        ["\"a\"", "a"],
        ["-", "\"-\""],
        ["a\\nb", "a\nb"],
        ["", "\"\""],
        ["a\u{0}b", "a\u{1}b"],
    ];
    let mut rows = Vec::new();
    for [one, other] in ids {
        for (swapped, exit) in [(false, 0), (true, 100)] {
            // The same ids, but the stop of the one is the other's.
            let steps = if swapped { [1, 3] } else { [3, 1] };
            let row = row(
                format!("{one:?} and {other:?}, swapped: {swapped}"),
                "ci check now --stacks s.toml --snapshot x.snap",
            )
            .file("then/a.jsonl", run(one, 3) + &run(other, 1))
            .file("now/a.jsonl", run(one, steps[0]) + &run(other, steps[1]))
            .file("s.toml", STACK)
            .prepare(|scratch| {
                let (code, _, stderr) = scratch.run("ci accept then --stacks s.toml --snapshot x.snap");
                assert_eq!(code, 0, "{stderr}");
            })
            .exit(exit);
            rows.push(row.says(if swapped { "2 stop points changed" } else { "no stop point changed" }));
        }
    }
    check(rows);
}

/// A stop of each run under each stack stands in a snapshot: one that is missing is not "as before".
#[test]
fn a_snapshot_without_a_run_or_a_section_does_not_pass() {
    let stacks = format!("{STACK}{}", STACK.replace("\"s\"", "\"u\"").replace("at_least = 1", "at_least = 2"));
    let runs: String = (0..5).map(|nth| run(&format!("r{nth}"), nth + 1)).collect();
    let scratch = crate::scratch::Scratch::with(&[("a.jsonl", &runs), ("s.toml", &stacks)]);
    assert_eq!(scratch.run("ci accept a.jsonl --stacks s.toml --snapshot x.snap").0, 0);
    let whole = scratch.read("x.snap");
    let without = |gone: fn(&str) -> bool| {
        whole.lines().filter(|line| !gone(line)).flat_map(|line| [line, "\n"]).collect::<String>()
    };
    let of = |what: &str, text: String| {
        row(format!("a snapshot {what}"), "ci check a.jsonl --stacks s.toml --snapshot x.snap")
            .file("a.jsonl", runs.clone())
            .file("s.toml", stacks.clone())
            .file("x.snap", text)
    };
    check(vec![
        of("as it was accepted", whole.clone()).says("no stop point changed"),
        of("without a run of a stack", without(|line| line.starts_with("s | r3")))
            .exit(3)
            .says("4 runs under `s`, not of the 5"),
        of("without half of its runs", without(|line| line.contains(" | r1 |") || line.contains(" | r2 |")))
            .exit(3)
            .says("3 runs under `s`, not of the 5"),
        of("without the stops of a stack", without(|line| line.starts_with("s | "))).exit(3).says("0 runs under `s`"),
        of("without a stack", without(|line| line.starts_with("s | ") || line.contains(" | s | ")))
            .exit(100)
            .says("`s` is new"),
        of("with a run too many", whole.clone() + "u | r9 | - | end | unlabelled\n").exit(3).says("6 runs under `u`"),
    ]);
}
