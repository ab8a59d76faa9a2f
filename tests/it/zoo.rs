//! The endless-call family: at which call each framework's shipped rules first act, and how.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use whenstop::catalog;
use whenstop::explain::{first_actions, trail_lines};
use whenstop::framework::FrameworkKind;
use whenstop::reader::{Corpus, ReadOptions};

/// Rule set and run to what it did, in short.
fn matrix() -> BTreeMap<(String, String), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/zoo/endless");
    let (runs, _) = Corpus::open(&[folder], ReadOptions::default()).unwrap().runs().unwrap();
    assert_eq!(runs.len(), 9);
    let strategies = catalog::all(FrameworkKind::Preset);
    let mut matrix = BTreeMap::new();
    for run in &runs {
        let lines = trail_lines(run, &strategies);
        for strategy in &strategies {
            let acts = first_actions(lines.iter().filter(|line| line.stack == strategy.name()));
            matrix.insert((strategy.name().to_owned(), run.header.run_id.clone()), acts);
        }
    }
    matrix
}

#[test]
fn every_rule_set_acts_at_its_own_call() {
    let mut lines =
        csv::Reader::from_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/zoo/first-actions.csv"));
    let table = lines.as_mut().unwrap();
    let runs = table.headers().unwrap().clone();
    let mut expected = BTreeMap::new();
    for line in table.records() {
        let line = line.unwrap();
        for (run, acts) in runs.iter().zip(&line).skip(1) {
            expected.insert((line[0].to_owned(), run.to_owned()), acts.to_owned());
        }
    }
    let found = matrix();
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (key, acts) in found {
        assert_eq!(acts, expected[&key], "{key:?}");
    }
}

#[test]
fn a_guard_against_repetition_is_silent_on_different_calls() {
    let matrix = matrix();
    for guard in ["cline", "gemini-cli", "goose", "hermes-agent", "opencode", "openhands", "roo-code"] {
        assert_eq!(matrix[&(guard.to_owned(), "different".to_owned())], "–", "{guard}");
    }
}

#[test]
fn the_shipped_goose_and_opencode_never_see_a_loop_across_messages() {
    let matrix = matrix();
    for run in ["same", "polling", "errors", "abab", "abc", "key-order", "user-between"] {
        for guard in ["goose", "opencode"] {
            assert_eq!(matrix[&(guard.to_owned(), run.to_owned())], "–", "{guard} {run}");
        }
    }
    assert_eq!(matrix[&("opencode".to_owned(), "three-at-once".to_owned())], "a3");
}

fn whenstop(args: &[&str]) -> (Option<i32>, String, String) {
    let folder = env!("CARGO_MANIFEST_DIR");
    let output = Command::new(env!("CARGO_BIN_EXE_whenstop")).args(args).current_dir(folder).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_command_line_tells_decisions_one_a_line() {
    let endless = "fixtures/zoo/endless/errors.jsonl";
    let (code, out, _) = whenstop(&["explain", endless, "--stacks", "preset:openhands", "--trail", "--format", "csv"]);
    assert_eq!(code, Some(0));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "run_id,stack,call,point,action,rule,code,observed,limit,delivered");
    assert!(lines[1].starts_with("errors,openhands,3,"), "{}", lines[1]);
    assert!(lines[2].starts_with("errors,openhands,4,"), "{}", lines[2]);
    assert_eq!(lines.len(), 3);
    let (code, _, err) = whenstop(&["explain", endless, "--stacks", "preset:openhands", "--format", "csv"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("--trail"), "{err}");
}

#[test]
fn the_text_tests_are_scored_on_bundled_and_on_own_texts() {
    let (code, out, _) = whenstop(&["rules", "texts", "--format", "csv"]);
    assert_eq!(code, Some(0));
    assert_eq!(out.lines().count(), 11, "ten tests: {out}");
    let own = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(own.path(), r#"{"id":"a","input":{"text":"We are done."},"label":{"really_blocked":false}}"#)
        .unwrap();
    let (code, out, _) = whenstop(&["rules", "texts", &own.path().display().to_string(), "--format", "csv"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("really_blocked") && !out.contains("really_asks_user"), "{out}");
    std::fs::write(own.path(), "{}").unwrap();
    let (code, _, err) = whenstop(&["rules", "texts", &own.path().display().to_string()]);
    assert_ne!(code, Some(0));
    assert!(err.contains("no labelled text"), "{err}");
}
