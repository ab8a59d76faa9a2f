//! Several files that belong together: all of them are replaced, or none, and a folder in between says so.
//!
//! The files are written to a hidden folder within the one they are for. Only when all are whole are they renamed, one
//! after the other; for that moment a file called `INCOMPLETE` lies beside them. Whoever kills the program earlier leaves
//! the old files as they were; whoever kills it in that moment leaves `INCOMPLETE` behind, and the folder is not read
//! until it is written again. A lock on the folder, which ends with the process that holds it, keeps two writers apart.
//! This holds against a program that is killed and a disk that is full, not against one that loses its power.

use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::CsvStyle;
use crate::diagnostic::{Diagnostic, Location};

/// The file that says that a folder's files do not belong together.
pub const INCOMPLETE: &str = "INCOMPLETE";

const STAGING: &str = ".whenstop-new-";

const NOTICE: &str = "The files of this folder are being replaced by whenstop. If no whenstop is running, it was ended while it did so:\n\
    some files are new and some are old. Write the folder again with the same command.\n";

/// A folder's lock: for reading beside others, or for writing alone. It ends when this is dropped.
#[derive(Debug)]
pub struct Lock {
    _held: Option<File>,
}

impl Lock {
    /// Locks `folder` for reading; refuses while it is written, and where a writer was ended half-way.
    pub fn to_read(folder: &Path) -> Result<Self, Diagnostic> {
        let lock = locked(folder, File::try_lock_shared)?;
        refuse_half_written(folder).map(|()| lock)
    }
}

/// Refuses a folder in which a writer was ended half-way. A file of that name that says something else is none of ours.
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
    // Where a folder cannot be opened or locked (some systems, some network disks) there is no lock, and no error.
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

/// Files written so far that are not yet in their folder.
#[derive(Debug)]
struct Staged {
    folder: PathBuf,
    staging: tempfile::TempDir,
    /// Held until all is done.
    _lock: Lock,
}

impl Staged {
    /// Makes `folder` ready to be written to, and locks it.
    fn begin(folder: &Path) -> Result<Self, Diagnostic> {
        let failed = |error: io::Error| cannot_write(folder, &error);
        std::fs::create_dir_all(folder).map_err(failed)?;
        let lock = locked(folder, File::try_lock)?;
        remove_leftovers(folder).map_err(failed)?;
        let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(folder).map_err(failed)?;
        Ok(Self { folder: folder.to_path_buf(), staging, _lock: lock })
    }

    /// Where the files are to be written. No folders: only files are taken over.
    fn path(&self) -> &Path {
        self.staging.path()
    }

    /// Puts all files into the folder, over those of the same name. CSV is written in the style given.
    fn commit(self, csv: CsvStyle) -> Result<(), Diagnostic> {
        let failed = |error: io::Error| cannot_write(&self.folder, &error);
        let names = self.names().map_err(failed)?;
        for name in names.iter().filter(|name| csv != CsvStyle::Plain && name.extension().is_some_and(|e| e == "csv")) {
            let path = self.path().join(name);
            let styled = std::fs::read(&path).and_then(|text| csv.styled(text));
            styled.and_then(|text| std::fs::write(&path, text)).map_err(failed)?;
        }
        let notice = self.folder.join(INCOMPLETE);
        put_notice(&notice).map_err(failed)?;
        for name in &names {
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

/// Puts the notice there, whole, or leaves the folder as it is: with a full disk nothing has changed yet. One that is there
/// stays, since the folder is half written until this writer is done.
fn put_notice(path: &Path) -> io::Result<()> {
    if std::fs::symlink_metadata(path).is_ok_and(|data| data.is_file()) {
        let ours = NOTICE.as_bytes().starts_with(&std::fs::read(path)?);
        let in_the_way =
            || io::Error::new(io::ErrorKind::AlreadyExists, format!("a file `{INCOMPLETE}` is in the way"));
        return ours.then_some(()).ok_or_else(in_the_way);
    }
    // A link of that name is replaced, not followed.
    let _ = std::fs::remove_file(path);
    let written = File::create_new(path).and_then(|mut file| file.write_all(NOTICE.as_bytes()));
    written.inspect_err(|_| _ = std::fs::remove_file(path))
}

/// What writers left that were ended before they were done. Nobody is at it any more: the folder is locked.
fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(STAGING) && entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Writes the files of a folder through `fill`, which is handed the path to write them to: all appear, or none. Gives what
/// `fill` gives. CSV is written in the style given.
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
                // Only an empty folder can be removed this way.
                let _ = std::fs::remove_dir(folder);
            }
            Err(error)
        }
    }
}

/// An error about a file not yet in its folder, told of where it was to be.
fn moved(mut error: Diagnostic, from: &Path, to: &Path) -> Diagnostic {
    if let Ok(name) = Path::new(&error.at.path).strip_prefix(from) {
        error.at.path = to.join(name).display().to_string();
    }
    error
}

fn cannot_write(folder: &Path, error: &io::Error) -> Diagnostic {
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
        assert_eq!(names(folder.path()), ["a", "b"]);
        assert_eq!(std::fs::read_to_string(folder.path().join("b")).unwrap(), "old");
        // What a killed writer left is swept up by the next.
        std::fs::create_dir(folder.path().join(".whenstop-new-x")).unwrap();
        std::fs::write(folder.path().join(INCOMPLETE), NOTICE).unwrap();
        assert!(Lock::to_read(folder.path()).unwrap_err().what.contains("half written"));
        write("new", false).unwrap();
        assert_eq!(names(folder.path()), ["a", "b"]);
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
