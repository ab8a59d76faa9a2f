//! What may be written over: no file that the command reads, and in a folder only what whenstop wrote there before.

use std::collections::BTreeSet;
use std::path::Path;

use crate::diagnostic::{Diagnostic, Location};
use crate::reader::{is_input, read_whole_text};

/// The list of the files that whenstop wrote into a folder, one name a line.
pub(super) const LIST: &str = ".whenstop-files";

/// The most bytes of a list: `convert` writes a file for each run.
const LARGEST_LIST: u64 = 256 << 20;

/// Refuses to write over a file that this command reads.
pub(super) fn refuse_input(path: &Path) -> Result<(), Diagnostic> {
    if is_input(path) {
        return Err(reads_it_too(path));
    }
    Ok(())
}

/// The error for a file that a command would both read and write.
pub fn reads_it_too(path: &Path) -> Diagnostic {
    let what = "this command reads this file, so it does not write over it";
    Diagnostic::new(Location::file(path.display().to_string()), what, "write somewhere else")
}

/// The files of a folder that whenstop wrote.
#[derive(Debug, Default)]
pub(super) struct Owned(BTreeSet<String>);

impl Owned {
    /// As the folder's list says; nothing without a list.
    pub(super) fn from_folder(folder: &Path) -> Self {
        let text = read_whole_text(&folder.join(LIST), LARGEST_LIST).unwrap_or_default();
        Self(text.lines().map(str::to_owned).collect())
    }

    /// Refuses to write a file of that name into the folder if there is one that is read, or that is not whenstop's.
    pub(super) fn refuse(&self, folder: &Path, name: &Path) -> Result<(), Diagnostic> {
        let path = folder.join(name);
        refuse_input(&path)?;
        if self.0.contains(&*name.to_string_lossy()) || path.symlink_metadata().is_err() {
            return Ok(());
        }
        let what = "there is a file of this name, and whenstop did not write it";
        let help = "move it away, or give a folder of its own with `--out`";
        Err(Diagnostic::new(Location::file(path.display().to_string()), what, help))
    }

    /// The list for the folder when these files have been added.
    pub(super) fn with(mut self, names: impl Iterator<Item = String>) -> String {
        self.0.extend(names);
        self.0.into_iter().map(|name| name + "\n").collect()
    }
}

/// Refuses a folder that holds files of these names that whenstop did not write: before the work, not after it.
pub fn refuse_foreign<'n>(folder: &Path, names: impl Iterator<Item = &'n str>) -> Result<(), Diagnostic> {
    let owned = Owned::from_folder(folder);
    names.map(Path::new).try_for_each(|name| owned.refuse(folder, name))
}
