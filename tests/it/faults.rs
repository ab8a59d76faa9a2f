//! Ended in the middle, at odds with another writer, without room: files stay whole, and a folder in between says so.
//!
//! `benches/faults/kills.py` does the same a thousand times, at random moments and with slowed writes.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::scratch::Scratch;

const A: &str = r#"{"type":"run","run_id":"one","task_id":"t"}
{"type":"message","role":"assistant","content":"","tool_calls":[{"id":"1","name":"ls","arguments":{}}]}
{"type":"message","role":"tool","tool_call_id":"1","content":"a"}
{"type":"message","role":"assistant","content":"done"}
{"type":"outcome","success":true,"end":"self_finish"}
"#;

/// Two recordings and two stack files, so that no file of one result is one of the other.
fn scratch() -> Scratch {
    let runs = |outcome: &str| {
        (0..8).map(|n| A.replace("one", &format!("run-{n}")).replace("true", outcome)).collect::<String>()
    };
    let stack = |name: &str| format!("[[stack]]\nname = \"{name}\"\nany = [{{ signal = \"steps\", at_least = 1 }}]\n");
    let files = [
        ("a.jsonl", runs("true")),
        ("b.jsonl", runs("false")),
        ("a.toml", stack("first")),
        ("b.toml", stack("second")),
    ];
    Scratch::with(&files.each_ref().map(|(name, text)| (*name, text.as_str())))
}

/// Everything of a folder that whoever opens it sees.
fn seen(scratch: &Scratch, folder: &str) -> Vec<(String, Vec<u8>)> {
    if !scratch.path(folder).exists() {
        return Vec::new();
    }
    let names = scratch.names(folder).into_iter().filter(|name| !name.starts_with('.'));
    names.map(|name| (name.clone(), std::fs::read(scratch.path(folder).join(name)).unwrap())).collect()
}

fn started(scratch: &Scratch, arguments: &str) -> Child {
    scratch.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// How far a writer has come: files in its hidden folder, and one more when it begins to rename.
fn progress(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let hidden =
        entries.filter_map(Result::ok).find(|entry| entry.file_name().to_string_lossy().starts_with(".whenstop-new-"));
    let written = hidden.and_then(|hidden| std::fs::read_dir(hidden.path()).ok()).map_or(0, Iterator::count);
    if folder.join("INCOMPLETE").exists() { 1_000 } else { written }
}

/// Kills the command once it has come so far; true if it was still running.
fn killed(scratch: &Scratch, arguments: &str, folder: &str, at: usize) -> bool {
    let mut child = started(scratch, arguments);
    while child.try_wait().unwrap().is_none() {
        if progress(&scratch.path(folder)) >= at {
            child.kill().unwrap();
            break;
        }
        std::thread::yield_now();
    }
    !child.wait().unwrap().success()
}

#[test]
fn a_killed_comparison_leaves_a_whole_folder_or_one_that_says_it_is_not() {
    let scratch = scratch();
    let commands = ["a", "b"].map(|name| format!("compare {name}.jsonl --stacks {name}.toml --out"));
    let whole = ["whole-a", "whole-b"].map(|folder| {
        let command = &commands[usize::from(folder.ends_with('b'))];
        assert_eq!(scratch.run(&format!("{command} {folder}")).0, 0);
        seen(&scratch, folder)
    });
    assert!(whole[0].iter().zip(&whole[1]).all(|(a, b)| a.0 == b.0) && whole[0] != whole[1]);
    let (mut kills, mut half) = (0, 0);
    // While the files are written, and while they are renamed.
    for (nth, at) in [0, 1, 3, 8, 14, 19, 1_000, 1_000, 1_000, 1_000, 5, 1_000].into_iter().enumerate() {
        kills += usize::from(killed(&scratch, &format!("{} out", commands[nth % 2]), "out", at));
        let found = seen(&scratch, "out");
        let is_half = found.iter().any(|(name, _)| name == "INCOMPLETE");
        half += usize::from(is_half);
        for (name, bytes) in found.iter().filter(|(name, _)| name != "INCOMPLETE") {
            let is_whole = whole.iter().flatten().any(|(known, whole)| known == name && whole == bytes);
            assert!(is_whole, "{name} is torn after a kill at {at}");
        }
        if is_half {
            let (code, _, stderr) = scratch.run("report out");
            assert!(
                code == 3 && stderr.contains("half written") && stderr.contains("write it again"),
                "{code} {stderr}"
            );
        } else {
            assert!(found.is_empty() || whole.contains(&found), "a mixed folder says nothing after a kill at {at}");
        }
    }
    eprintln!("{kills} of 12 were killed in time; {half} folders were half written, and said so");
    // The next whole run mends it, and sweeps up.
    assert_eq!(scratch.run(&format!("{} out", commands[0])).0, 0);
    assert!(scratch.contents("out") == whole[0], "{:?}", scratch.names("out"));
}

#[test]
fn a_killed_conversion_or_acceptance_leaves_whole_files() {
    let scratch = scratch();
    let whole = ["a", "b"].map(|name| {
        assert_eq!(scratch.run(&format!("convert {name}.jsonl --out whole-{name}")).0, 0);
        assert_eq!(scratch.run(&format!("ci accept {name}.jsonl --stacks {name}.toml --snapshot {name}.snap")).0, 0);
        (seen(&scratch, &format!("whole-{name}")), scratch.read(&format!("{name}.snap")))
    });
    for (nth, at) in [0, 2, 5, 1_000, 1_000, 1_000].into_iter().enumerate() {
        let name = ["a", "b"][nth % 2];
        killed(&scratch, &format!("convert {name}.jsonl --out each"), "each", at);
        let found = seen(&scratch, "each");
        let is_half = found.iter().any(|(name, _)| name == "INCOMPLETE");
        assert!(
            found.is_empty() || is_half || whole.iter().any(|(files, _)| *files == found),
            "mixed after a kill at {at}"
        );
        let mut child =
            started(&scratch, &format!("ci accept {name}.jsonl --stacks {name}.toml --snapshot stops.snap"));
        while child.try_wait().unwrap().is_none() && (at > 100 || scratch.names(".").len() < 9 + at) {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        let snapshot = std::fs::read_to_string(scratch.path("stops.snap")).unwrap_or_default();
        assert!(snapshot.is_empty() || whole.iter().any(|(_, whole)| *whole == snapshot), "{snapshot}");
    }
}

#[test]
fn a_folder_that_is_being_written_is_left_alone() {
    let scratch = scratch();
    let compare = "compare a.jsonl --stacks a.toml --out out";
    assert_eq!(scratch.run(compare).0, 0);
    let before = scratch.contents("out");
    let writer = File::open(scratch.path("out")).unwrap();
    writer.lock().unwrap();
    for command in [compare, "report out", "report out --out other", "convert b.jsonl --out out"] {
        let (code, _, stderr) = scratch.run(command);
        assert!(
            code == 3 && stderr.contains("another whenstop") && stderr.contains("--out"),
            "{command}: {code} {stderr}"
        );
    }
    assert!(scratch.contents("out") == before);
    writer.unlock().unwrap();
    // Two at once: each writes all of it, or nothing.
    let mut both = [started(&scratch, compare), started(&scratch, compare)];
    let codes = both.each_mut().map(|child| child.wait().unwrap().code().unwrap());
    assert!(codes.contains(&0) && codes.iter().all(|code| [0, 3].contains(code)), "{codes:?}");
    assert!(scratch.contents("out") == before);
}

#[test]
fn a_place_that_cannot_be_written_to_is_an_error_and_changes_nothing() {
    let scratch = scratch();
    scratch.put("file", "not a folder");
    for command in [
        "compare a.jsonl --stacks a.toml --out file",
        "compare a.jsonl --stacks a.toml --out file/out",
        "tune a.jsonl --signal steps --limits 1,2 --out file",
        "convert a.jsonl --out file/a.jsonl",
        "ci accept a.jsonl --stacks a.toml --snapshot file/a.snap",
        "convert a.jsonl --out /proc/whenstop.jsonl",
        "compare a.jsonl --stacks a.toml --out /proc/whenstop",
    ] {
        let (code, _, stderr) = scratch.run(command);
        assert!(code == 3 && stderr.contains("cannot write") && stderr.contains("help"), "{command}: {code} {stderr}");
    }
    assert_eq!(scratch.read("file"), "not a folder");
    assert_eq!(scratch.names(".").join(" "), "a.jsonl a.toml b.jsonl b.toml file");
}

/// Only what is printed can be lost here, but it must not be lost in silence.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_behind_stdout_is_an_error() {
    let scratch = scratch();
    for command in
        ["compare a.jsonl --stacks a.toml", "convert a.jsonl", "rules list", "schema trace", "--help", "corpus a.jsonl"]
    {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = scratch.command(command).stdout(full).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(3) && told.contains("cannot write") && told.contains("stdout"),
            "{command}: {told}"
        );
    }
    // A reader that has gone away has heard enough.
    let mut child = scratch.command("rules list").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
