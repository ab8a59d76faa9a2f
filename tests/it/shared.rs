//! The material beside the project, which may be absent.

use std::path::PathBuf;

/// The folder `name` of the shared material, or `None` with a loud note that the test is skipped.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared").join(name);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("SKIPPED: {} is not here, so this test checks nothing", path.display());
    None
}
