//! Rules that read no texts, on all cases.

use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use crate::decision::Need;
use crate::reader::unpacked_text;
use crate::redact::redact;

/// For each rule that reads no texts, checks that it acts the same on every case with the texts removed.
fn check(folder: &Path) -> (usize, BTreeMap<String, usize>) {
    let (mut cases, mut differences) = (0, BTreeMap::new());
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(|entry| entry.unwrap().into_path());
    for file in files.filter(|file| file.is_file()) {
        let name = file.file_name().unwrap().to_string_lossy();
        let Some(stem) = crate::conformance::table_name(&name) else { continue };
        let framework = file.parent().and_then(Path::file_name).unwrap().to_string_lossy().into_owned();
        let Some(found) = catalog::find(&framework) else { continue };
        for line in unpacked_text(&file).unwrap().lines() {
            let Ok(row) = serde_json::from_str::<Value>(line) else { continue };
            let rule = row.get("rule").and_then(Value::as_str).unwrap_or(stem);
            let Some(input) = row.get("input").and_then(Value::as_object) else { continue };
            let driver = driver(found.id);
            let known = driver.rules.iter().copied().find(|known| *known == rule);
            let mut case = PresetCase::new(known.unwrap_or(COMBINED), input);
            let (Ok(Ok(recipe)), Ok(run)) = (prepared(found, driver, &mut case, None), recording(input)) else {
                continue;
            };
            cases += 1;
            let needs = recipe.requirements();
            let reads = |rule: &str| needs.iter().any(|need| need.need == Need::Texts && need.rule.as_str() == rule);
            let told = |run: &Run| {
                let (mut watch, mut acts) = (recipe.start(&run.header), Vec::new());
                for view in run.views() {
                    watch.advance(&view, &mut acts);
                }
                let kept = acts.into_iter().map(|act| act.decision).filter(|decision| !reads(decision.rule.as_str()));
                kept.map(|decision| (decision.rule.to_string(), decision.event, decision.action, decision.evidence))
                    .collect::<Vec<_>>()
            };
            if told(&run) != told(&redact(&run, "")) {
                *differences.entry(format!("{framework} {rule}")).or_default() += 1;
            }
        }
    }
    (cases, differences)
}

#[test]
fn rules_that_read_no_texts_do_the_same_without_them() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let (cases, differences) = check(&root.join("fixtures/presets"));
    assert!(cases > 100 && differences.is_empty(), "{cases} cases: {differences:#?}");
    let (cases, differences) = check(&root.join("fixtures/golden/presets"));
    assert!(cases > 1000 && differences.is_empty(), "{cases} cases: {differences:#?}");
}
