//! Temporary folders that are removed when dropped, and when a signal ends the program.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

/// The folders that exist now.
static HELD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// How often to try to remove a folder that is still being written to.
const TRIES: usize = 100;

fn held() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary folder that only this user can access.
#[derive(Debug)]
pub struct TemporaryFolder(TempDir);

impl TemporaryFolder {
    /// Creates an empty folder in the system's temporary directory (`TMPDIR` on Unix).
    pub fn new() -> io::Result<Self> {
        let mut held = held();
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.prefix("whenstop-").tempdir()?;
        held.insert(folder.path().to_path_buf());
        Ok(Self(folder))
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // Removed before it is unregistered, so that a signal in between still finds it. A folder that cannot be
        // removed stays.
        let _ = std::fs::remove_dir_all(self.0.path());
        held().remove(self.0.path());
    }
}

/// Removes every temporary folder of this process and prevents new ones. For a program that is about to end: reading
/// from such a folder fails afterwards.
pub fn clean_up() {
    let held = held();
    for folder in held.iter() {
        for _ in 0..TRIES {
            if std::fs::remove_dir_all(folder).is_ok() || !folder.exists() {
                break;
            }
        }
    }
    std::mem::forget(held);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_away_with_its_holder() {
        let folder = TemporaryFolder::new().unwrap();
        let path = folder.path().to_path_buf();
        std::fs::write(path.join("x"), "x").unwrap();
        assert!(held().contains(&path));
        drop(folder);
        assert!(!path.exists() && !held().contains(&path));
    }

    #[cfg(unix)]
    #[test]
    fn others_cannot_enter_it() {
        let folder = TemporaryFolder::new().unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(folder.path()).unwrap().permissions());
        assert_eq!(mode & 0o077, 0, "{mode:o}");
    }
}
