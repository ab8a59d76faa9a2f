//! One recording through everything a reader must stand: the counts it should have, damage, conversion, redaction, and any
//! number of threads. Every good fixture goes through it; so does a file of yours:
//!
//! ```sh
//! RECORDING=run.json COUNTS="runs 1 steps 6 calls 5 results 5 tokens 1200" cargo test --test it readers::harness -- --nocapture
//! ```

use std::path::{Path, PathBuf};

use whenstop::reader::{self, Corpus, ReadOptions};
use whenstop::redact::redact;
use whenstop::transcript::{Event, Run};

use super::broken::{BITS, Damage, damaged};
use super::{assert_survives_writing, fixtures, inputs, read};

/// What the runs of a file come to, in words.
fn counts(runs: &[Run]) -> Vec<(&'static str, u64)> {
    let messages = || runs.iter().flat_map(Run::events).filter_map(Event::message);
    let steps = messages().filter(|message| message.is_step());
    vec![
        ("runs", runs.len() as u64),
        ("steps", steps.clone().count() as u64),
        ("calls", steps.map(|reply| reply.tool_calls.len() as u64).sum()),
        ("results", messages().filter(|message| message.is_result()).count() as u64),
        ("tokens", runs.iter().filter_map(reader::tokens).map(|tokens| tokens.0).sum()),
    ]
}

/// Puts a recording through everything; `expected` names the counts that are known.
pub(super) fn stands(file: &Path, expected: &[(&str, u64)]) {
    let shown = file.display();
    let (runs, report) = read(&[file.to_path_buf()]);
    assert_eq!(report.errors, 0, "{shown}: {:?}", report.findings);
    let found = counts(&runs);
    for (name, count) in expected {
        let own = found.iter().find(|(own, _)| own == name);
        let (_, own) = own.unwrap_or_else(|| panic!("`{name}` is no count; there are {found:?}"));
        assert_eq!(own, count, "{shown}: {name}; all there is: {found:?}");
    }
    for run in &runs {
        assert_survives_writing(run);
    }
    in_copies_without_texts(&runs, &shown.to_string());
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (again, _) = pool.install(|| read(&[file.to_path_buf()]));
        assert_eq!(counts(&again), found, "{shown} on {threads} threads");
    }
    under_damage(file);
}

/// A copy without texts has the same steps, and every one of its lines can be read again.
fn in_copies_without_texts(runs: &[Run], shown: &str) {
    for run in runs {
        let copy = redact(run, "salt");
        assert_eq!(copy.steps(), run.steps(), "{shown}: {}", run.header.run_id);
        assert_eq!(reader::tokens(&copy), reader::tokens(run), "{shown}: {}", run.header.run_id);
        assert_survives_writing(&copy);
    }
}

/// Damage of every kind at places all over the file: it is read or named, within memory and without a panic.
fn under_damage(file: &Path) {
    const PLACES: usize = 12;
    const LARGEST: usize = 1 << 18;
    let whole = std::fs::read(file).unwrap();
    let bytes = &whole[..whole.len().min(LARGEST)];
    let folder = tempfile::tempdir().unwrap();
    let name = file.file_name().unwrap();
    for place in 0..PLACES {
        let at = bytes.len() * place / PLACES;
        for damage in [
            Damage::Cut,
            Damage::Flip(3),
            Damage::Insert(BITS[place % BITS.len()]),
            Damage::Remove(7),
            Damage::Repeat(40),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, damaged(bytes.to_vec(), at, &damage)).unwrap();
            let corpus = Corpus::open(&[path], ReadOptions::default()).unwrap();
            let report = corpus.process(|run| run.steps().len(), |_| ()).unwrap();
            let told = report.runs() > 0
                || report.errors > 0
                || report.unreadable > 0
                || !report.skipped.is_empty()
                || !report.unknown_kinds.is_empty();
            assert!(told, "{} damaged at {at} by {damage:?} is neither read nor named", file.display());
        }
    }
}

#[test]
fn every_good_fixture_stands_everything() {
    for format in reader::FORMATS {
        let folder = fixtures().join(format.id());
        // Tables are no lines of text, and have tests of their own.
        if !folder.is_dir() {
            continue;
        }
        let good = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("good"));
        for file in inputs(&folder).into_iter().filter(good) {
            if read(std::slice::from_ref(&file)).1.errors == 0 {
                stands(&file, &[]);
            }
        }
    }
}

#[test]
fn a_recording_of_yours_stands_everything() {
    let Some(file) = std::env::var_os("RECORDING") else { return };
    let words = std::env::var("COUNTS").unwrap_or_default();
    let words: Vec<&str> = words.split_whitespace().collect();
    let expected: Vec<(&str, u64)> =
        words.chunks(2).map(|pair| (pair[0], pair[1].parse().expect("a number behind each name"))).collect();
    stands(Path::new(&file), &expected);
}
