//! The files that something was read from, so that none of them is written over.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a file is, whatever it is called: the same through a link, through `..` and under a second name.
#[cfg(unix)]
pub type FileIdentity = (u64, u64);
/// What a file is, whatever it is called.
#[cfg(not(unix))]
pub type FileIdentity = std::path::PathBuf;

static INPUTS: Mutex<BTreeSet<FileIdentity>> = Mutex::new(BTreeSet::new());

fn inputs() -> MutexGuard<'static, BTreeSet<FileIdentity>> {
    INPUTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which file the path leads to; `None` if it leads to none, or to a folder or a pipe.
pub fn file_identity(path: &Path) -> Option<FileIdentity> {
    let data = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Some((data.dev(), data.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = data;
        path.canonicalize().ok()
    }
}

/// Keeps in mind that the command depends on this file.
pub fn add_input(path: &Path) {
    if let Some(file) = file_identity(path) {
        inputs().insert(file);
    }
}

/// Whether the path leads to a file that the command depends on.
pub fn is_input(path: &Path) -> bool {
    file_identity(path).is_some_and(|file| inputs().contains(&file))
}

/// Begins a command of a program that runs several in one process: what another has read may be written again.
pub fn forget_inputs() {
    inputs().clear();
}
