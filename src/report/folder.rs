//! Replaces several files that belong together: all of them or none, and an interrupted replacement is detectable.
//!
//! Files are first written to a hidden folder inside the target. Only when all are complete are they renamed one after
//! the other; during that moment a file called `INCOMPLETE` exists beside them. If the program is killed before it,
//! the old files are unchanged; if it is killed during it, `INCOMPLETE` remains and the folder is refused until it is
//! written again. A lock on the folder, which ends with the process that holds it, keeps two writers apart. This
//! protects against a killed program and a full disk, not against a power failure.
//!
//! The hidden list `.whenstop-files` names what was written; no other file of the folder is replaced.

use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::CsvStyle;
use super::owned::{LIST, Owned};
use crate::diagnostic::{Diagnostic, Location};

/// The file that marks a folder whose files do not belong together.
pub const INCOMPLETE: &str = "INCOMPLETE";

const STAGING: &str = ".whenstop-new-";

const NOTICE: &str = "The files of this folder are being replaced by whenstop. If no whenstop is running, it was ended while it did so:\n\
    some files are new and some are old. Write the folder again with the same command.\n";

/// A folder's lock: shared for reading, exclusive for writing. Released on drop.
#[derive(Debug)]
pub struct Lock {
    _held: Option<File>,
}

impl Lock {
    /// Locks `folder` for reading; refuses a folder that is being written or was left half-written.
    pub fn to_read(folder: &Path) -> Result<Self, Diagnostic> {
        let lock = locked(folder, File::try_lock_shared)?;
        refuse_half_written(folder).map(|()| lock)
    }
}

/// Refuses a folder that a writer left half-written. A file of that name with other contents is not ours and is
/// ignored.
pub fn refuse_half_written(folder: &Path) -> Result<(), Diagnostic> {
    let ours = std::fs::read(folder.join(INCOMPLETE)).is_ok_and(|text| NOTICE.as_bytes().starts_with(&text));
    if !ours {
        return Ok(());
    }
    let what = "this folder is half written: some of its files are new and some are old";
    Err(Diagnostic::new(at(folder), what, "write it again with the command that wrote it"))
}

fn at(folder: &Path) -> Location {
    Location::file(folder.display().to_string())
}

fn locked(folder: &Path, lock: fn(&File) -> Result<(), TryLockError>) -> Result<Lock, Diagnostic> {
    // If a folder cannot be opened or locked (some systems, some network disks), there is no lock and no error.
    let Ok(opened) = File::open(folder) else { return Ok(Lock { _held: None }) };
    match lock(&opened) {
        Ok(()) => Ok(Lock { _held: Some(opened) }),
        Err(TryLockError::WouldBlock) => {
            let help = "wait for it to end, or give a folder of its own with `--out`";
            Err(Diagnostic::new(at(folder), "another whenstop is writing to this folder", help))
        }
        Err(TryLockError::Error(_)) => Ok(Lock { _held: None }),
    }
}

/// Files written but not yet moved into their folder.
#[derive(Debug)]
struct Staged {
    folder: PathBuf,
    staging: tempfile::TempDir,
    /// Held until everything is done.
    _lock: Lock,
}

impl Staged {
    /// Prepares `folder` for writing and locks it.
    fn begin(folder: &Path) -> Result<Self, Diagnostic> {
        let failed = |error: io::Error| cannot_write(folder, &error);
        std::fs::create_dir_all(folder).map_err(failed)?;
        let lock = locked(folder, File::try_lock)?;
        remove_leftovers(folder).map_err(failed)?;
        let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(folder).map_err(failed)?;
        Ok(Self { folder: folder.to_path_buf(), staging, _lock: lock })
    }

    /// Where to write the files. Subfolders are not moved, only files.
    fn path(&self) -> &Path {
        self.staging.path()
    }

    /// Moves all files into the folder, replacing those of the same name. CSV is written in the given style.
    fn commit(self, csv: CsvStyle) -> Result<(), Diagnostic> {
        let failed = |error: io::Error| cannot_write(&self.folder, &error);
        let names = self.names().map_err(failed)?;
        let owned = Owned::from_folder(&self.folder);
        names.iter().try_for_each(|name| owned.refuse(&self.folder, name))?;
        for name in names.iter().filter(|name| csv != CsvStyle::Plain && name.extension().is_some_and(|e| e == "csv")) {
            let path = self.path().join(name);
            let text = std::fs::read(&path).map_err(failed)?;
            std::fs::write(&path, csv.styled(text).map_err(failed)?).map_err(failed)?;
        }
        let list = owned.with(names.iter().map(|name| name.to_string_lossy().into_owned()));
        std::fs::write(self.path().join(LIST), list).map_err(failed)?;
        let notice = self.folder.join(INCOMPLETE);
        put_notice(&notice).map_err(failed)?;
        // The list first: what is ours is known even if this is interrupted.
        for name in [PathBuf::from(LIST)].iter().chain(&names) {
            std::fs::rename(self.path().join(name), self.folder.join(name)).map_err(failed)?;
        }
        std::fs::remove_file(&notice).map_err(failed)
    }

    fn names(&self) -> io::Result<Vec<PathBuf>> {
        let entries = std::fs::read_dir(self.path())?;
        let mut names =
            entries.map(|entry| entry.map(|entry| entry.file_name().into())).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }
}

/// Creates the notice completely, or leaves the folder as it is: if the disk is full, nothing has changed yet. An
/// existing notice stays, since the folder is half-written until this writer is done.
fn put_notice(path: &Path) -> io::Result<()> {
    if std::fs::symlink_metadata(path).is_ok_and(|data| data.is_file()) {
        let ours = NOTICE.as_bytes().starts_with(&std::fs::read(path)?);
        if ours {
            return Ok(());
        }
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("a file `{INCOMPLETE}` is in the way")));
    }
    // Replaces a link of that name instead of following it.
    let _ = std::fs::remove_file(path);
    let written = File::create_new(path).and_then(|mut file| file.write_all(NOTICE.as_bytes()));
    written.inspect_err(|_| _ = std::fs::remove_file(path))
}

/// Removes what interrupted writers left behind. No writer is active: the folder is locked.
fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(STAGING) && entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Writes the files of a folder through `fill`, which receives the path to write them to: all of them appear, or none.
/// Returns what `fill` returns. CSV is written in the given style.
pub fn write_folder<T>(
    folder: &Path,
    csv: CsvStyle,
    fill: impl FnOnce(&Path) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    let is_new = !folder.exists();
    let staged = Staged::begin(folder)?;
    match fill(staged.path()) {
        Ok(filled) => staged.commit(csv).map(|()| filled),
        Err(error) => {
            let error = moved(error, staged.path(), folder);
            drop(staged);
            if is_new {
                // This only succeeds if the folder is empty.
                let _ = std::fs::remove_dir(folder);
            }
            Err(error)
        }
    }
}

/// Rewrites an error about a staged file to name its final path.
fn moved(mut error: Diagnostic, from: &Path, to: &Path) -> Diagnostic {
    if let Ok(name) = Path::new(&error.at.path).strip_prefix(from) {
        error.at.path = to.join(name).display().to_string();
    }
    error
}

/// The diagnostic for a folder or a file that cannot be written.
pub(crate) fn cannot_write(folder: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::new(
        at(folder),
        format!("cannot write: {error}"),
        "check that the folder may be written to, and has room",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn all_files_appear_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let write = |text: &'static str, fails: bool| {
            write_folder(folder.path(), CsvStyle::Plain, |to| {
                std::fs::write(to.join("a"), text).unwrap();
                std::fs::write(to.join("b"), text).unwrap();
                let error = Diagnostic::new(Location::file(to.join("c").display().to_string()), "no", "");
                if fails { Err(error) } else { Ok(()) }
            })
        };
        write("old", false).unwrap();
        let error = write("new", true).unwrap_err();
        assert_eq!(error.at.path, folder.path().join("c").display().to_string());
        assert_eq!(names(folder.path()), [LIST, "a", "b"]);
        assert_eq!(std::fs::read_to_string(folder.path().join("b")).unwrap(), "old");
        // The next writer removes what a killed one left.
        std::fs::create_dir(folder.path().join(".whenstop-new-x")).unwrap();
        std::fs::write(folder.path().join(INCOMPLETE), NOTICE).unwrap();
        assert!(Lock::to_read(folder.path()).unwrap_err().what.contains("half written"));
        write("new", false).unwrap();
        assert_eq!(names(folder.path()), [LIST, "a", "b"]);
        assert!(Lock::to_read(folder.path()).is_ok());
    }

    #[test]
    fn a_folder_has_one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let one = Staged::begin(folder.path()).unwrap();
        assert!(Staged::begin(folder.path()).unwrap_err().what.contains("another whenstop"));
        assert!(Lock::to_read(folder.path()).is_err());
        drop(one);
        let readers = [Lock::to_read(folder.path()).unwrap(), Lock::to_read(folder.path()).unwrap()];
        assert!(Staged::begin(folder.path()).is_err());
        drop(readers);
        assert!(Staged::begin(folder.path()).is_ok());
    }
}
