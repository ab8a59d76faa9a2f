//! The generated runs among the bundled recordings are what the commands in `traces/README.md` write.
#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn path(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(of)
}

#[test]
fn the_commands_of_the_readme_make_the_synthetic_files() {
    let readme = std::fs::read_to_string(path("traces/README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut made = BTreeSet::new();
    for line in readme.lines().filter_map(|line| line.strip_prefix("cargo run -p whenstop-dev -- ")) {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let bundled = words.pop().unwrap();
        let name = Path::new(bundled).file_name().unwrap();
        let again = folder.path().join(name);
        let status = Command::new(env!("CARGO_BIN_EXE_whenstop-dev")).args(words).arg(&again).status();
        assert!(status.unwrap().success(), "{line}");
        assert!(std::fs::read(path(bundled)).unwrap() == std::fs::read(again).unwrap(), "{bundled} differs");
        made.insert(name.to_owned());
    }
    let kept = std::fs::read_dir(path("traces/synthetic")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(kept.collect::<BTreeSet<_>>(), made);
}

#[test]
fn synth_refuses_what_it_cannot_make() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.jsonl");
    for (arguments, message) in [
        (["--suite", "cod", "--kind", "healthy"], "did you mean `code`?"),
        (["--suite", "code", "--kind", "heathly"], "did you mean `healthy`?"),
        (["--suite", "code", "--kind", "greeting"], "it occurs in: service"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whenstop-dev"));
        let output = command.args(["synth", "--runs", "1", "--seed", "1", "--out"]).arg(&out).args(arguments).output();
        let output = output.unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && told.contains(message), "{told}");
        assert!(!out.exists());
    }
}
