//! Rows about files that are read whole or line by line: without end, longer than memory, pipes.

use std::fs::File;
use std::process::Command;

use super::{check, row, run};
use crate::scratch::Scratch;

const STACK: &str = "[[stack]]\nname = \"s\"\nany = [{ signal = \"steps\", at_least = 1 }]\n";

/// Commands that read `x` whole, each with the exit code of a refusal.
const COMMANDS: [(&str, i32); 6] = [
    ("corpus a.jsonl --labels x", 3),
    ("corpus a.jsonl --price x", 2),
    ("compare a.jsonl --stacks x", 2),
    ("ci check a.jsonl --stacks s.toml --snapshot x", 3),
    ("ci accept a.jsonl --stacks s.toml --snapshot y --project x", 2),
    ("rules lint x", 2),
];

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_wherever_a_file_is_named() {
    let mut rows = Vec::new();
    for (command, exit) in COMMANDS {
        for (what, prepare) in [
            (
                "a pipe",
                (|scratch| assert!(Command::new("mkfifo").arg(scratch.path("x")).status().unwrap().success()))
                    as fn(&Scratch),
            ),
            ("a device", |scratch| std::os::unix::fs::symlink("/dev/zero", scratch.path("x")).unwrap()),
        ] {
            let row = row(format!("{command}: {what}"), command).file("a.jsonl", run("a")).file("s.toml", STACK);
            rows.push(row.prepare(prepare).exit(exit).says(format!("this is {what}, which may never end")));
        }
    }
    check(rows);
}

#[test]
fn files_longer_than_memory_are_refused() {
    let sparse: fn(&Scratch) = |scratch| File::create(scratch.path("x")).unwrap().set_len(20 << 30).unwrap();
    let rows = COMMANDS.map(|(command, exit)| {
        row(format!("{command}: 20 GB"), command)
            .file("a.jsonl", run("a"))
            .file("s.toml", STACK)
            .prepare(sparse)
            .exit(exit)
            .says("is longer than")
    });
    check(rows.into_iter().collect());
}

#[test]
fn results_longer_than_memory_are_refused() {
    for name in ["rows.csv", "firings.csv", "manifest.json", "stories.jsonl", "followed.csv"] {
        let scratch = Scratch::with(&[]);
        scratch.put("a.jsonl", &run("a"));
        scratch.put("s.toml", STACK);
        assert_eq!(scratch.run("compare a.jsonl --stacks s.toml --out out").0, 0);
        let prepare: fn(&Scratch) = |scratch| {
            for name in scratch
                .names("out")
                .into_iter()
                .filter(|name| std::path::Path::new(name).extension().is_some_and(|own| own == "long"))
            {
                let path = scratch.path("out").join(name.trim_end_matches(".long"));
                File::create(path).unwrap().set_len(20 << 30).unwrap();
            }
        };
        let row = scratch
            .contents("out")
            .into_iter()
            .fold(row(format!("20 GB of {name}"), "report out --out again"), |row, (name, bytes)| {
                row.file(&format!("out/{name}"), bytes)
            });
        check(vec![
            row.file(&format!("out/{name}.long"), "").prepare(prepare).exit(3).says("longer than").megabytes(900),
        ]);
    }
}

#[test]
fn a_file_outside_the_project_is_not_quoted() {
    let project = "recordings = [\"a.jsonl\"]\nstacks = [\"../secret\"]\n";
    check(vec![
        row("a stack file outside the project", "ci check --project p/whenstop.toml")
            .file("p/a.jsonl", run("a"))
            .file("p/whenstop.toml", project)
            .file("secret", "root:x:0:0:hunter2\n")
            .exit(2)
            .says("not a stack file")
            .never_says("hunter2"),
        row("labels outside the project", "ci|check|--project|p/whenstop.toml|--fail-on|stopped<=1")
            .file("p/a.jsonl", run("a"))
            .file("p/s.toml", STACK)
            .file(
                "p/whenstop.toml",
                "recordings = [\"a.jsonl\"]\nstacks = [\"s.toml\"]\n[reading]\nlabels = [\"../secret\"]\n",
            )
            .file("secret", "root:x:0:0:hunter2\n")
            .exit(3)
            .says("secret")
            .never_says("hunter2"),
        row(
            "labels outside the project, whose first cells look like ids",
            "ci|check|--project|p/whenstop.toml|--fail-on|stopped<=1",
        )
        .file("p/a.jsonl", run("a"))
        .file("p/s.toml", STACK)
        .file(
            "p/whenstop.toml",
            "recordings = [\"a.jsonl\"]\nstacks = [\"s.toml\"]\n[reading]\nlabels = [\"../secret\"]\n",
        )
        .file("secret", "root:x:0:0:hunter2\nbin:x:1\nsys:x:2\nman:x:3\n")
        .exit(3)
        .says("secret")
        .never_says("hunter2"),
        row("labels outside the project, with semicolons", "ci|check|--project|p/whenstop.toml|--fail-on|stopped<=1")
            .file("p/a.jsonl", run("a"))
            .file("p/s.toml", STACK)
            .file(
                "p/whenstop.toml",
                "recordings = [\"a.jsonl\"]\nstacks = [\"s.toml\"]\n[reading]\nlabels = [\"../secret\"]\n",
            )
            .file("secret", "hunter2=1;hunter3\n")
            .exit(3)
            .says("secret")
            .never_says("hunter"),
        row("prices outside the project", "ci|check|--project|p/whenstop.toml|--fail-on|stopped<=1")
            .file("p/a.jsonl", run("a"))
            .file("p/s.toml", STACK)
            .file(
                "p/whenstop.toml",
                "recordings = [\"a.jsonl\"]\nstacks = [\"s.toml\"]\n[reading]\nprice = \"../secret\"\n",
            )
            .file("secret", "root:x:0:0:hunter2\n")
            .exit(2)
            .says("secret")
            .never_says("hunter2"),
    ]);
}

#[cfg(unix)]
#[test]
fn a_link_out_of_a_folder_is_not_followed() {
    let proc: fn(&Scratch) = |scratch| std::os::unix::fs::symlink("/proc/self", scratch.path("in/x")).unwrap();
    let etc: fn(&Scratch) = |scratch| std::os::unix::fs::symlink("/etc", scratch.path("in/x")).unwrap();
    let log: fn(&Scratch) = |scratch| std::os::unix::fs::symlink("/proc/kmsg", scratch.path("in/x.jsonl")).unwrap();
    let file: fn(&Scratch) =
        |scratch| std::os::unix::fs::symlink("../elsewhere.jsonl", scratch.path("in/x.jsonl")).unwrap();
    let of = |what: &str, command: &str, prepare: fn(&Scratch)| {
        row(format!("a link to {what}"), command)
            .file("in/a.jsonl", run("a"))
            .file("elsewhere.jsonl", run("b"))
            .prepare(prepare)
    };
    check(vec![
        of("/proc/self", "corpus in --why", proc).runs(1).says("a link that leads out of the folder"),
        of("/etc", "corpus in --why", etc).runs(1).says("a link that leads out of the folder"),
        of("/etc, strictly", "corpus in --strict", etc).exit(3).says("a link that leads out of the folder"),
        of("what the kernel says", "corpus in --why", log).runs(1).says("a link that leads out of the folder"),
        of("a file, as in a cache", "corpus in", file).runs(2).says("2"),
    ]);
}

/// A page of equal texts takes few bytes for many, as an archive does.
#[test]
fn a_table_does_not_unpack_to_many_times_its_size() {
    use whenstop::reader::{ParquetCell, ParquetKind, ParquetWriter};
    let mut table = ParquetWriter::in_memory(&[("run_id", ParquetKind::Text), ("trace", ParquetKind::Text)]).unwrap();
    for nth in 0..200 {
        let id = format!("r{nth}");
        let trace = run(&id).replace("\"x\"", &format!("\"{}\"", "x".repeat(1 << 20)));
        table.row([ParquetCell::Text(&id), ParquetCell::Text(trace.trim_end())]).unwrap();
    }
    let bytes = table.close().unwrap();
    assert!(bytes.len() < 100_000, "{}", bytes.len());
    check(vec![
        row("200 MB of text in a small table", "corpus x.parquet")
            .file("x.parquet", bytes.clone())
            .says("it unpacks to many times its size"),
        row("the same, strictly", "corpus x.parquet --strict")
            .file("x.parquet", bytes)
            .exit(3)
            .says("it unpacks to many times its size"),
    ]);
}
