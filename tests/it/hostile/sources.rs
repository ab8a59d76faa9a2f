//! Rows about where recordings lie: files, folders, links and pipes.

use std::process::{Command, Stdio};

use super::{check, row, run};
use crate::scratch::Scratch;

const STACK: &str = "[[stack]]\nname = \"l\"\nany = [{ signal = \"steps\", at_least = 3 }]\n";

#[cfg(unix)]
fn link(scratch: &Scratch, to: &str, name: &str) {
    std::os::unix::fs::symlink(to, scratch.path(name)).unwrap();
}

#[cfg(unix)]
fn forbid(scratch: &Scratch, name: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(scratch.path(name), std::fs::Permissions::from_mode(0o0)).unwrap();
}

#[cfg(unix)]
fn pipe(scratch: &Scratch, name: &str) {
    assert!(Command::new("mkfifo").arg(scratch.path(name)).status().unwrap().success());
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_told_counted_and_an_error_for_those_who_ask() {
    let closed = |name: &str, command: &str| {
        row(name, command)
            .file("x.jsonl", run("b"))
            .file("s.toml", STACK)
            .prepare(|scratch| forbid(scratch, "x.jsonl"))
            .without_rights()
    };
    let closed_folder = |name: &str, command: &str| {
        row(name, command).file("in/x.jsonl", run("b")).prepare(|scratch| forbid(scratch, "in")).without_rights()
    };
    check(vec![
        closed("a file without permission", "corpus .")
            .between_good_ones()
            .runs(2)
            .says("./x.jsonl")
            .says("Permission denied")
            .says("unreadable"),
        closed("the same, named", "corpus x.jsonl").exit(3).says("Permission denied").says("check its permissions"),
        closed("the same, strictly", "corpus . --strict").between_good_ones().exit(3).says("Permission denied"),
        closed("the same, compared", "compare . --stacks s.toml").between_good_ones().says("1 input could not be read"),
        closed("the same, checked", "ci check . --stacks s.toml --fail-on steps_spent_less_share>0.9")
            .between_good_ones()
            .exit(3)
            .says("--allow-unreadable"),
        closed(
            "the same, checked and lived with",
            "ci check . --stacks s.toml --fail-on steps_spent_less_share>0.9 --allow-unreadable",
        )
        .between_good_ones()
        .says("passed"),
        closed("the same, among labels", "corpus a-good.jsonl --labels x.jsonl")
            .between_good_ones()
            .exit(3)
            .says("cannot read the labels"),
        closed_folder("a folder without permission", "corpus .")
            .between_good_ones()
            .runs(2)
            .says("./in")
            .says("Permission denied"),
        closed_folder("the same, strictly", "corpus . --strict").between_good_ones().exit(3).says("Permission denied"),
        row("a link that leads nowhere", "corpus .")
            .prepare(|scratch| link(scratch, "gone", "x.jsonl"))
            .between_good_ones()
            .runs(2)
            .says("a link that leads nowhere")
            .says("x.jsonl")
            .says("unreadable"),
        row("the same, strictly", "corpus . --strict")
            .prepare(|scratch| link(scratch, "gone", "x.jsonl"))
            .between_good_ones()
            .exit(3)
            .says("a link that leads nowhere"),
        row("a link to itself", "corpus .")
            .prepare(|scratch| link(scratch, "x", "x"))
            .between_good_ones()
            .runs(2)
            .says("unreadable"),
        row("a folder that holds itself", "corpus . --strict --why")
            .prepare(|scratch| link(scratch, ".", "again"))
            .between_good_ones()
            .runs(2)
            .says("a link back to `.`, which is read already"),
        row("a path that is not there", "corpus gone").exit(3).says("cannot open `gone`"),
        row("a name too long", &format!("corpus {}", "n".repeat(300))).exit(3).says("cannot open"),
        row("a file taken for a folder", "corpus a-good.jsonl/x").between_good_ones().exit(3).says("cannot open"),
    ]);
}

#[cfg(unix)]
#[test]
fn what_never_ends_is_not_waited_for() {
    check(vec![
        row("a pipe that nobody writes to, named", "corpus x a-good.jsonl")
            .prepare(|scratch| pipe(scratch, "x"))
            .between_good_ones()
            .runs(1)
            .says("this is a pipe, which may never end")
            .says("name `/dev/stdin`"),
        row("the same, strictly", "corpus x --strict")
            .prepare(|scratch| pipe(scratch, "x"))
            .exit(3)
            .says("this is a pipe"),
        row("a pipe in a folder", "corpus . --why")
            .prepare(|scratch| pipe(scratch, "x.jsonl"))
            .between_good_ones()
            .runs(2)
            .says("it is a pipe, not a file"),
        row("a device", "corpus /dev/zero").exit(3).says("this is a device, which may never end"),
        row("a device among others", "corpus /dev/zero a-good.jsonl").between_good_ones().runs(1).says("/dev/zero"),
        row("an empty stdin", "corpus /dev/stdin").exit(3).says("this is a device"),
    ]);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_and_whole() {
    let many = (0..20_000).map(|n| run(&format!("r{n}"))).collect::<String>();
    check(vec![
        row("a run", "corpus /dev/stdin --why").stdin(run("b")).runs(1).says("/dev/stdin: trace"),
        row("more than a pipe holds", "corpus /dev/stdin --why")
            .stdin(many.clone())
            .runs(20_000)
            .says("/dev/stdin: trace"),
        row("a document over several reads", "corpus /dev/stdin --why")
            .stdin(format!("[{}]", many.trim().replace('\n', ",")))
            .runs(20_000)
            .says("/dev/stdin: trace"),
        row("by its number", "corpus /dev/fd/0 --why").stdin(run("b")).runs(1).says("/dev/fd/0: trace"),
        row("twice", "corpus /dev/stdin /dev/stdin --why").stdin(run("b")).runs(1).says("/dev/stdin: trace"),
        row("cut off", "corpus /dev/stdin").stdin(format!("{}{{", run("b"))).runs(1).says("/dev/stdin:3:"),
        row("nothing", "corpus /dev/stdin").stdin("").exit(4).says("not read: empty"),
    ]);
}

/// Three files of one name hold runs of one id: each is called after its folder.
fn three(scratch: &Scratch) {
    for folder in ["one", "two", "three"] {
        let content = format!("{}{{\"type\":\"message\",\"role\":\"user\",\"content\":\"{folder}\"}}\n", run("b"));
        scratch.put(&format!("top/{folder}/x.jsonl"), &content);
    }
}

#[test]
fn names_do_not_depend_on_how_a_path_is_spelled() {
    let spellings = [
        "top",
        "./top",
        "top/.",
        "top/../top",
        "top/one top/three top/two",
        "top/one/x.jsonl top/three/x.jsonl top/two/../two/x.jsonl",
    ];
    let rows = spellings.map(|spelling| {
        row(format!("three runs of one id in {spelling}"), &format!("corpus {spelling} --runs"))
            .prepare(three)
            .runs(3)
            .says("one/x/b")
            .says("two/x/b")
            .says("three/x/b")
            .never_says("a second run")
    });
    check(rows.into());
    let twice = ["x.jsonl x.jsonl", "x.jsonl ./x.jsonl", "x.jsonl .", ". x.jsonl", ". ./."].map(|spelling| {
        row(format!("a file named twice as {spelling}"), &format!("corpus {spelling}"))
            .file("x.jsonl", run("b"))
            .runs(1)
            .says("nobody graded it")
            .never_says("a second run")
    });
    check(twice.into());
}

/// An archive is unpacked, then the command waits for its stdin, and is ended there.
#[cfg(target_os = "linux")]
#[test]
fn nothing_stays_unpacked_when_a_signal_ends_the_program() {
    for signal in ["-INT", "-TERM"] {
        let scratch = Scratch::with(&[("x.jsonl", &run("b"))]);
        std::fs::create_dir(scratch.path("tmp")).unwrap();
        let mut tar = tar::Builder::new(std::fs::File::create(scratch.path("x.tar")).unwrap());
        tar.append_path_with_name(scratch.path("x.jsonl"), "x.jsonl").unwrap();
        tar.finish().unwrap();
        let mut command = scratch.command("corpus x.tar /dev/stdin");
        let mut child = command.env("TMPDIR", scratch.path("tmp")).stdin(Stdio::piped()).spawn().unwrap();
        // `wait` closes the stdin that it finds: at its end the program would end by itself.
        let stdin = child.stdin.take();
        // Two folders: of the archive, and of what comes through the pipe.
        while scratch.names("tmp").len() < 2 {
            assert!(child.try_wait().unwrap().is_none(), "it waits for its stdin");
            std::thread::yield_now();
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), None, "it ends by the signal");
        drop(stdin);
        assert_eq!(scratch.names("tmp"), [""; 0]);
    }
}
