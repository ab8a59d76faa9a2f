//! The presets: golden cases.

use std::path::Path;

use whenstop::conformance::{self, ConformanceReport, TableFile};

/// Every `.jsonl` below `folder`, in path order.
fn tables(folder: &Path) -> Vec<TableFile> {
    let walk = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    walk.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "jsonl"))
        .map(|entry| TableFile {
            path: entry.path().to_string_lossy().into_owned(),
            text: std::fs::read_to_string(entry.path()).unwrap(),
        })
        .collect()
}

fn show(report: &ConformanceReport) -> String {
    let lines = report.disagreed.iter().take(60).map(|disagreement| {
        let table = Path::new(&disagreement.file).file_stem().unwrap().to_string_lossy();
        let conformance::Disagreement { id, field, expected, got, .. } = disagreement;
        format!("{table} {id}: {field}: expected {expected}, got {got}")
    });
    let figures = format!(
        "{} cases, {} agreed, {} disagreed, {} not applicable, unknown tables: {:#?}",
        report.cases,
        report.agreed,
        report.disagreed.len(),
        report.not_applicable.len(),
        report.unknown_tables
    );
    lines.chain([figures]).collect::<Vec<_>>().join("\n")
}

#[test]
fn presets_agree_with_the_frameworks_own_code() {
    let Some(folder) = crate::shared::folder("golden-presets") else { return };
    let report = conformance::run(&tables(&folder));
    eprintln!("{}", show(&report));
    assert!(report.disagreed.is_empty(), "{}", show(&report));
    assert!(report.not_applicable.len() * 100 <= report.cases * 3, "{}", show(&report));
}

#[test]
fn presets_agree_with_our_own_cases() {
    let report = conformance::run(&tables(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/presets")));
    assert!(report.all_agreed() && report.not_applicable.is_empty(), "{}", show(&report));
}
