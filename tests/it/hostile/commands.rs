//! Rows about the commands in recordings: no call ends the program, however long or deep.

use serde_json::{Value, json};

use super::{check, row, run};

const STACK: &str = "[[stack]]\nname = \"s\"\nany = [{ signal = \"steps\", at_least = 2 }]\n";

/// A run with one call.
pub(super) fn calling(tool: &str, arguments: &Value) -> String {
    let call = json!({"id": "1", "name": tool, "arguments": arguments});
    let lines = [
        json!({"type": "run", "run_id": "long"}),
        json!({"type": "message", "role": "assistant", "content": "", "tool_calls": [call]}),
        json!({"type": "message", "role": "tool", "tool_call_id": "1", "content": "x"}),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

fn shell(command: &str) -> String {
    calling("bash", &json!({ "command": command }))
}

#[test]
fn no_command_ends_the_program() {
    let long = "a;".repeat(163_000);
    let commands = [
        ("a list", long.clone()),
        ("a list of and", "a&&".repeat(163_000) + "a"),
        ("a list of or", "a||".repeat(163_000) + "a"),
        ("a list in the background", "a&".repeat(163_000)),
        ("a pipeline", "a|".repeat(163_000) + "a"),
        ("lines", "(a\n".to_owned() + &"a\n".repeat(163_000) + ")"),
        ("a list in a shell", format!("bash -c '{long}'")),
        ("a list in a here-document", format!("cat <<E\n$({long})\nE\n")),
        ("lists in expansions", "$(".repeat(50) + &"a;".repeat(9_000) + &")".repeat(50)),
    ];
    let mut rows: Vec<_> = commands
        .iter()
        .map(|(what, command)| {
            row(format!("{what} of commands"), "corpus x.jsonl --effects --format csv")
                .file("x.jsonl", shell(command))
                .says("to be followed")
        })
        .collect();
    let within = ["find -exec ", "docker exec a ", "chroot / ", "npm exec ", "sudo "];
    rows.extend(within.map(|open| {
        row(format!("{open}of itself"), "corpus x.jsonl --effects --format csv")
            .file("x.jsonl", shell(&(open.repeat(9_000) + "ls")))
            .says("nested too deep to be followed")
    }));
    rows.push(
        row("a tool that names itself", "corpus x.jsonl --effects --format csv")
            .file("x.jsonl", calling("tool", &json!({"tool": "tool"})))
            .says(",unknown,"),
    );
    check(rows);
}

#[test]
fn the_other_runs_are_not_lost_with_a_long_command() {
    let commands = [
        ("corpus .", "good-1"),
        ("compare . --stacks s.toml", "3 runs"),
        ("ci accept . --stacks s.toml --snapshot x.snap", "3 stop points"),
        ("ci check . --stacks s.toml --fail-on steps_spent_less_share>0.9", "passed"),
    ];
    let rows = commands.map(|(command, says)| {
        let row = row(command, command)
            .file("b.jsonl", shell(&"a;".repeat(163_000)))
            .file("s.toml", STACK)
            .between_good_ones();
        if command.starts_with("corpus") { row.runs(3).says("3") } else { row.says(says) }
    });
    check(rows.into_iter().collect());
}

/// GitHub's runner obeys a line that begins with `::`, wherever its text comes from.
#[test]
fn no_name_begins_a_command_to_a_ci_system() {
    let ids = ["::add-mask::x", "::stop-commands::x", "  ::error::x", "##[command]x"];
    let mut rows = Vec::new();
    for id in ids {
        let text = run("a").replace("\"run_id\":\"a\"", &format!("\"run_id\":{}", json!(id)));
        for command in [
            "corpus x.jsonl --runs",
            "ci check x.jsonl --stacks s.toml --snapshot x.snap",
            "ci check x.jsonl --stacks s.toml --snapshot x.snap --report github=-",
        ] {
            let row = row(format!("{command}: {id}"), command).file("x.jsonl", text.clone()).file("s.toml", STACK);
            let snapshot =
                "# whenstop stop points v2: stack | run | rule | stop | verdict\ns | a | - | end | unlabelled\n";
            let row = row.file("x.snap", snapshot).never_says(format!("\n{}", id.trim_start()));
            rows.push(if command.starts_with("corpus") { row.says("x") } else { row.exit(100).says("x") });
        }
    }
    check(rows);
}

#[test]
fn what_cannot_be_known_is_neither_taken_nor_accepted() {
    let guard = "[[stack]]\nname = \"g\"\ncommand = [\"sh\", \"g.sh\"]\n";
    let script = "read -r line\necho '{\"id\":\"hello\",\"protocol\":1,\"answers\":[\"stop\"]}'\nexit 3\n";
    let run = super::run;
    check(vec![
        row("labels with a column twice", "corpus a.jsonl --labels l.csv")
            .file("a.jsonl", run("a"))
            .file("l.csv", "run_id,success,success\na,true,false\n")
            .exit(3)
            .says("the column `success` stands here twice")
            .says("l.csv:1"),
        row("named labels with a column twice", "corpus a.jsonl --labels l.csv --label-columns run_id=id,success=ok")
            .file("a.jsonl", run("a"))
            .file("l.csv", "id,ok,ok\na,true,false\n")
            .exit(3)
            .says("the column `ok` stands here twice"),
        row("a column twice that is not used", "corpus a.jsonl --labels l.csv")
            .file("a.jsonl", run("a"))
            .file("l.csv", "run_id,success,x,x\na,true,1,2\n")
            .runs(1)
            .says("trace"),
        row("a guard that fails on every run is not accepted", "ci accept a.jsonl --stacks g.toml --snapshot a.snap")
            .file("a.jsonl", run("a"))
            .file("g.toml", guard)
            .file("g.sh", script)
            .exit(3)
            .says("there is nothing to accept")
            .after(|scratch| assert!(!scratch.path("a.snap").exists())),
        row("a guard that fails, strictly", "compare a.jsonl --stacks g.toml --strict")
            .file("a.jsonl", run("a"))
            .file("g.toml", guard)
            .file("g.sh", script)
            .exit(3)
            .says("guard `g` ended"),
        row("a guard that fails, explained strictly", "explain a.jsonl --stacks g.toml --strict")
            .file("a.jsonl", run("a"))
            .file("g.toml", guard)
            .file("g.sh", script)
            .exit(3)
            .says("guard `g` ended"),
        row("a folder to be followed that is not there", "local --follow nowhere --once")
            .exit(4)
            .says("cannot read: ")
            .says("nowhere"),
        row("a file to be followed that cannot be read", "local --follow runs --once")
            .file("runs/a.jsonl", run("a"))
            .prepare(|scratch| {
                #[cfg(unix)]
                {
                    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o000);
                    std::fs::set_permissions(scratch.path("runs/a.jsonl"), mode).unwrap();
                }
                let _ = scratch;
            })
            .without_rights()
            .says("cannot read: ")
            .says("runs/a.jsonl"),
    ]);
}
