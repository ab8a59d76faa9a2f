//! The files that something was read from, so that none of them is written over.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Which file it is, whatever it is called: the same through a link, through `..` and under a second name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIdentity {
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    #[cfg(not(unix))]
    path: std::path::PathBuf,
}

static INPUTS: Mutex<BTreeSet<FileIdentity>> = Mutex::new(BTreeSet::new());

fn inputs() -> MutexGuard<'static, BTreeSet<FileIdentity>> {
    INPUTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which file the path leads to; `None` if it leads to none, or to a folder or a pipe.
pub fn file_identity(path: &Path) -> Option<FileIdentity> {
    identity_in(path, &std::fs::metadata(path).ok()?)
}

/// The same, where the metadata of what the path leads to are known.
pub(crate) fn identity_in(path: &Path, data: &Metadata) -> Option<FileIdentity> {
    if !data.is_file() {
        return None;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let _ = path;
        Some(FileIdentity { device_and_inode: (data.dev(), data.ino()) })
    }
    #[cfg(not(unix))]
    Some(FileIdentity { path: path.canonicalize().ok()? })
}

/// Keeps in mind that the command depends on this file.
pub fn add_input(path: &Path) {
    add_known_input(file_identity(path));
}

/// The same, where it is known which file it is, if it is one.
pub(crate) fn add_known_input(file: Option<FileIdentity>) {
    inputs().extend(file);
}

/// Whether the path leads to a file that the command depends on.
pub fn is_input(path: &Path) -> bool {
    file_identity(path).is_some_and(|file| inputs().contains(&file))
}

/// Begins a command of a program that runs several in one process: what another has read may be written again.
pub fn forget_inputs() {
    inputs().clear();
}
