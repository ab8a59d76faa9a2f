//! The material beside the project, which may be absent: then the tests that need it are ignored.

use std::path::{Path, PathBuf};

/// The folder `name` of the shared material. Where there is none (`build.rs` sees to it) the test that asks is ignored:
/// `#[cfg_attr(not(shared_material), ignore = "../shared is not here")]`.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared").join(name);
    assert!(path.is_dir(), "{} is not here; touch build.rs, so that this test is ignored", path.display());
    path
}

/// The folders of the recorded corpora, in order.
pub(crate) fn corpora() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder("corpora")).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Whether the long tests are to take every run of the corpora (minutes in a debug build).
pub(crate) fn takes_all_runs() -> bool {
    std::env::var_os("WHENSTOP_TEST_ALL_RUNS").is_some()
}

/// A long test takes one run of so many: fewer of the large corpora.
pub(crate) fn one_of(corpus: &Path) -> u64 {
    match corpus.file_name().and_then(|name| name.to_str()) {
        _ if takes_all_runs() => 1,
        Some("intercode") => 83,
        Some("mini-swe-agent" | "tau2") => 29,
        Some("tau-bench" | "claude-agent-sdk-log" | "who-and-when") => 11,
        _ => 2,
    }
}
