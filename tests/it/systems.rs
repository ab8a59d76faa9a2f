//! The seed systems: golden cases and the bundled text benchmark.

use std::path::Path;

use whenstop::conformance::{self, ConformanceReport, TableFile};

use crate::shared;

/// Every JSON Lines file of a folder, in name order.
fn tables(folder: &Path) -> Vec<TableFile> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| TableFile {
        path: path.to_string_lossy().into_owned(),
        text: std::fs::read_to_string(path).unwrap(),
    };
    paths.iter().map(read).collect()
}

fn show(report: &ConformanceReport) -> String {
    let lines = report.disagreed.iter().take(20).map(|d| {
        let file = Path::new(&d.file).file_name().unwrap().to_string_lossy();
        format!("{file} {}: {}: expected {}, got {}", d.id, d.field, d.expected, d.got)
    });
    let more = [format!("unknown tables: {:?}; {} of {} agreed", report.unknown_tables, report.agreed, report.cases)];
    lines.chain(more).collect::<Vec<_>>().join("\n")
}

/// Every golden case of a system agrees.
fn check_golden(system: &str) {
    let Some(folder) = shared::folder(&format!("golden/{system}")) else { return };
    let report = conformance::run(&tables(&folder));
    assert!(report.all_agreed() && report.not_applicable.is_empty(), "{}", show(&report));
}

#[test]
fn awaken_agrees_with_every_golden_case() {
    check_golden("awaken");
}

#[test]
fn agentao_agrees_with_every_golden_case() {
    check_golden("agentao");
}

#[test]
fn mira_agrees_with_every_golden_case() {
    check_golden("mira");
}

#[test]
fn adaptive_agrees_with_every_golden_case() {
    check_golden("adaptive");
}
