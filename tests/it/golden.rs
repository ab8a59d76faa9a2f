//! The golden tables: what the originals decided, case by case.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use whenstop::catalog;
use whenstop::framework::FrameworkKind;
use whenstop::reader::unpacked_text;
use whenstop_dev::conformance::{self, ConformanceReport, TableFile};

/// A folder of golden tables, or a file of one.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/golden").join(name)
}

/// The cases of one table.
pub(crate) fn cases(table: &str) -> Vec<serde_json::Value> {
    let text = unpacked_text(&path(&format!("{table}.jsonl.gz"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every table below a folder, in path order.
pub(crate) fn tables(folder: &Path) -> Vec<TableFile> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(|entry| entry.unwrap().into_path());
    let is_table = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).and_then(conformance::table_name).is_some() && path.is_file()
    };
    let read =
        |path: PathBuf| TableFile { path: path.to_string_lossy().into_owned(), text: unpacked_text(&path).unwrap() };
    files.filter(is_table).map(read).collect()
}

/// The first cases that do not agree, and the figures.
pub(crate) fn show(report: &ConformanceReport) -> String {
    let name = |file: &str| {
        Path::new(file).components().rev().take(2).map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>()
    };
    let malformed = report.malformed.iter().map(|case| format!("{:?} {}: {}", name(&case.file), case.id, case.why));
    let disagreed = report.disagreed.iter().map(|case| {
        format!("{:?} {}: {}: expected {}, got {}", name(&case.file), case.id, case.field, case.expected, case.got)
    });
    let figures = format!(
        "{} cases, {} agreed, {} disagreed, {} malformed, {} not applicable, unknown tables: {:?}",
        report.cases,
        report.agreed,
        report.disagreed.len(),
        report.malformed.len(),
        report.not_applicable.len(),
        report.unknown_tables
    );
    malformed.chain(disagreed).take(20).chain([figures]).collect::<Vec<_>>().join("\n")
}

/// Every case of a set agrees, but for those that rest on what is not the framework's own.
fn check(set: &str, cases: usize, not_applicable: usize) {
    let report = conformance::run(&tables(&path(set)));
    assert!(report.all_agreed(), "{set}: {}", show(&report));
    assert_eq!((report.cases, report.not_applicable.len()), (cases, not_applicable), "{set}");
}

#[test]
fn the_systems_agree_with_the_originals() {
    check("systems", 1517, 0);
    check("systems-2", 2004, 0);
    check("systems-3", 2084, 0);
    check("systems-4", 85, 0);
    check("sessions", 480, 0);
    check("sessions-1.4.6", 120, 0);
}

#[test]
fn mira_agrees_with_the_released_wheels() {
    check("mira-0.2.0", 1250, 0);
    check("mira-0.3.0", 1400, 0);
    check("mira-0.3.2", 1550, 0);
    check("mira-0.5.0", 1550, 0);
}

#[test]
fn the_presets_agree_with_the_frameworks() {
    check("presets", 1771, 0);
    check("presets-2", 449, 0);
    check("presets-3", 2279, 0);
    check("presets-4", 783, 0);
    check("presets-5", 659, 0);
}

#[test]
fn the_cases_by_framework_are_those_of_the_tables() {
    let mut held = BTreeMap::new();
    for file in
        ["presets", "presets-2", "presets-3", "presets-4", "presets-5"].iter().flat_map(|set| tables(&path(set)))
    {
        let folder = Path::new(&file.path).parent().unwrap().file_name().unwrap().to_str().unwrap();
        *held.entry(folder.trim_end_matches("-2026.7").to_owned()).or_insert(0) += file.text.lines().count();
    }
    let told = whenstop::catalog::frameworks()
        .filter_map(|framework| Some((framework.id.to_owned(), usize::try_from(framework.golden_cases?).unwrap())));
    assert_eq!(told.collect::<BTreeMap<_, _>>(), held);
}

/// A table given as text, under a name of its own.
fn run(path: &str, line: &str) -> ConformanceReport {
    conformance::run(&[TableFile { path: path.to_owned(), text: line.to_owned() }])
}

#[test]
fn a_table_of_another_name_is_known_by_its_shape() {
    let report = run(
        "golden-9/agentica/more.jsonl",
        r#"{"id": "a", "input": {"raw": "{\"done\": 1}"}, "expected": {"verdict": "done"}}"#,
    );
    assert!(report.all_agreed(), "{}", show(&report));
    let report = run(
        "golden-9/mira/replan_again.jsonl",
        r#"{"id": "a", "input": {"policy": null, "plan": null}, "expected": {"replan": true}}"#,
    );
    assert!(report.all_agreed(), "{}", show(&report));
    let report = run("golden-9/mira/unheard.jsonl", r#"{"id": "a", "input": {"weather": 1}, "expected": {}}"#);
    assert_eq!(report.unknown_tables.len(), 1);
}

/// All rules at once, of every preset: with nothing configured and nothing recorded nothing is done.
#[test]
fn every_preset_is_driven_with_all_its_rules_at_once() {
    for preset in catalog::by_kind(FrameworkKind::Preset) {
        for table in ["combined", "everything_together"] {
            let line = r#"{"id": "a", "input": {"config": {}, "events": []}, "expected": {"actions": []}}"#;
            let report = run(&format!("golden-9/{}/{table}.jsonl", preset.id), line);
            assert_eq!((report.cases, report.unknown_tables.len()), (1, 0), "{} {table}", preset.id);
            assert!(report.malformed.is_empty(), "{}: {}", preset.id, show(&report));
        }
    }
}

#[test]
fn a_malformed_case_is_an_error_that_names_folder_and_case() {
    let events = r#"[{"type": "message", "role": "assistant", "content": 5, "tool_calls": 7}]"#;
    for (line, id) in [
        ("not JSON".to_owned(), "line 1"),
        (r#"{"id": "a", "input": {"events": []}}"#.to_owned(), "line 1"),
        (format!(r#"{{"id": "b", "input": {{"events": {events}}}, "expected": {{"actions": []}}}}"#), "b"),
        (r#"{"id": "c", "input": {"config": {"warn_threshol": 1}, "events": []}, "expected": {}}"#.to_owned(), "c"),
    ] {
        let report = run("golden-9/deerflow/combined.jsonl", &line);
        let named: Vec<_> = report.malformed.iter().map(|case| (case.folder.as_str(), case.id.as_str())).collect();
        assert_eq!(named, [("deerflow", id)], "{line}: {}", show(&report));
        assert!(!report.all_agreed());
    }
}
