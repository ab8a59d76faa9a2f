//! Ids of runs stay with their runs, whichever folders come and go beside them: for every format, where files of one
//! name stand in several folders.

#![allow(
    clippy::unwrap_used,
    clippy::allow_attributes,
    clippy::disallowed_methods,
    reason = "tests: stop loudly and never hang"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use whenstop_readers::reader::{self, Corpus, ReadError, ReadOptions};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/readers")
}

/// The ids of the runs of each file, by its path below `root`.
fn ids(root: &Path) -> BTreeMap<String, Vec<String>> {
    let options = ReadOptions { sealed: true, ..ReadOptions::default() };
    let (runs, _) = Corpus::open(&[root.to_path_buf()], options).unwrap().runs().unwrap();
    let mut ids: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut all = BTreeSet::new();
    for run in runs {
        let path = run.header.file.clone().unwrap();
        let below = Path::new(&path).strip_prefix(root).unwrap().display().to_string();
        assert!(all.insert(run.header.run_id.clone()), "{} twice", run.header.run_id);
        ids.entry(below).or_default().push(run.header.run_id);
    }
    ids
}

#[test]
fn no_folder_that_comes_or_goes_changes_the_ids_of_the_others() {
    let mut tried = 0;
    for format in reader::FORMATS {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(fixtures().join(format.id())).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files.iter().filter(|file| file.file_name().unwrap().to_string_lossy().starts_with("good")) {
            let name = file.file_name().unwrap();
            let Ok(text) = std::fs::read_to_string(file) else { continue };
            if name.to_string_lossy().ends_with(".snap") {
                continue;
            }
            let root = tempfile::tempdir().unwrap();
            // Not byte for byte the same, which would be one run.
            let put = |folder: &str, n: usize| {
                let folder = root.path().join(folder);
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(folder.join(name), format!("{text}{}", "\n".repeat(n))).unwrap();
            };
            for (n, folder) in ["a", "b/deep", "c", "d"].iter().enumerate() {
                put(folder, n);
            }
            let before = ids(root.path());
            if before.is_empty() {
                continue;
            }
            tried += 1;
            for gone in ["a", "b", "c"] {
                std::fs::rename(root.path().join(gone), root.path().with_extension(gone)).unwrap();
                let now = ids(root.path());
                for (file, ids) in &now {
                    assert_eq!(Some(ids), before.get(file), "{} {file} without {gone}", format.id());
                }
                std::fs::rename(root.path().with_extension(gone), root.path().join(gone)).unwrap();
            }
            put("0-new", 9);
            std::fs::create_dir_all(root.path().join("other")).unwrap();
            std::fs::write(root.path().join("other/unrelated.jsonl"), "{\"type\":\"run\",\"run_id\":\"u\"}\n").unwrap();
            let now = ids(root.path());
            for (file, ids) in &before {
                assert_eq!(Some(ids), now.get(file), "{} {file} beside more", format.id());
            }
        }
    }
    assert!(tried > 60, "{tried}");
}

#[test]
fn a_label_under_a_name_that_several_runs_have_is_refused_with_their_ids() {
    let root = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let chat = |said: &str| {
        format!(
            "{{\"messages\":[{{\"role\":\"user\",\"content\":\"a\"}},{{\"role\":\"assistant\",\"content\":\"{said}\"}}]}}"
        )
    };
    for folder in ["one", "two"] {
        put(&format!("runs/{folder}/x.json"), &chat(folder));
    }
    let read = |labels: &str| {
        put("l.csv", labels);
        let options = ReadOptions { labels: vec![root.path().join("l.csv")], ..ReadOptions::default() };
        Corpus::open(&[root.path().join("runs")], options).unwrap().runs()
    };
    let Err(ReadError::Labels(refused)) = read("run_id,success\nx,true\n") else { panic!("not refused") };
    assert!(refused.what.contains("fits 2 runs: `one/x`, `two/x`"), "{refused:?}");
    let outcomes = |labels: &str| -> Vec<String> {
        let (runs, _) = read(labels).unwrap();
        runs.iter().map(|run| format!("{} {}", run.header.run_id, run.grade.outcome.name())).collect()
    };
    assert_eq!(outcomes("run_id,success\none/x,true\ntwo/x,false\n"), ["one/x success", "two/x failure"]);
    // With one of the folders gone the name is short again, and the old label still fits.
    std::fs::remove_dir_all(root.path().join("runs/one")).unwrap();
    assert_eq!(outcomes("run_id,success\ntwo/x,false\n"), ["x failure"]);
}
