//! Finds the recordings: files, folders and archives, walked in path order.

use std::collections::{HashMap, HashSet};
use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Location};
use crate::find::file_name::{real_path, stem};
use crate::find::hidden_names::HiddenNames;
use crate::find::read_error::ReadError;
use crate::find::run_ids;
use crate::find::skipped::Skipped;
use crate::find::source::InputFile;
use crate::open::archive::{self, RefusedMember, UnpackBudget, Unpacked};
use crate::open::inputs::{add_known_input, identity_in};
use crate::open::temp_folder::TemporaryFolder;
use crate::open::whole_file::{is_open_stream, kind_of};
use crate::open::{input_errors, inspect_archive};

/// Everything found under the paths of a corpus.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// The files, in order.
    pub(crate) files: Vec<InputFile>,
    /// What was not read.
    pub(crate) skipped: Vec<Skipped>,
    /// Failures to read what should have been read, in order.
    pub(crate) unreadable: Vec<Diagnostic>,
    /// Warnings about archive members that are read under another name, in order.
    pub(crate) renamed: Vec<Diagnostic>,
    /// The temporary folders of unpacked archives, deleted when this is dropped.
    held: Vec<TemporaryFolder>,
}

/// How deep archives within archives are opened.
const NESTED: usize = 1;

/// Most bytes read from a pipe. Its content is stored on disk, since files are read more than once.
const PIPED: u64 = 16 << 30;

/// Lists the files under `paths`: paths in the order given, folders and archives in path order, hidden names only where
/// agents keep recordings. A file named twice is listed once, even if spelled differently.
pub(crate) fn walk(paths: &[PathBuf]) -> Result<Sources, ReadError> {
    let mut found = Sources::default();
    let mut seen = HashSet::new();
    for path in paths {
        let kind = std::fs::metadata(path)
            .map_err(|cause| ReadError::Unreadable { path: path.display().to_string(), cause })?;
        if kind.is_dir() {
            found.add_folder(path, &place_of(path), &mut seen);
        } else if !seen.insert(place_of(path)) {
            // Already listed.
        } else if kind.is_file() {
            add_known_input(identity_in(path, &kind));
            found.add_file(path, &place_of(path), &kind, true);
        } else {
            found.add_stream(path, kind.file_type());
        }
    }
    found.mark_alone();
    run_ids::mark_clashes(&mut found.files, paths);
    Ok(found)
}

/// The canonical spelling of a path: its folder's real path plus its own name.
fn place_of(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => {
            real_path(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }).join(name)
        }
        _ => real_path(path),
    }
}

impl Sources {
    /// Marks files that are the only possible recording in their folder.
    fn mark_alone(&mut self) {
        let mut n_files: HashMap<PathBuf, usize> = HashMap::new();
        for source in self.files.iter().filter(|source| source.may_be_recording()) {
            *n_files.entry(source.name.folder.clone()).or_default() += 1;
        }
        for source in &mut self.files {
            source.name.is_alone = n_files.get(&source.name.folder) == Some(&1);
        }
    }

    fn add_folder(&mut self, folder: &Path, place: &Path, seen: &mut HashSet<PathBuf>) {
        let mut hidden = HiddenNames::default();
        hidden.walk(folder, |entry| {
            match entry {
                Ok(entry) if entry.depth() > 0 && leads_out(&entry, folder) => {
                    let what = "a link that leads out of the folder: it is not followed";
                    let help = "name what it leads to as well, if recordings are there";
                    self.lose(Diagnostic::new(Location::file(entry.path().display().to_string()), what, help));
                    return false;
                }
                Ok(entry) if entry.file_type().is_file() => {
                    let place = place.join(entry.path().strip_prefix(folder).unwrap_or(entry.path()));
                    if seen.insert(place.clone()) {
                        match entry.metadata() {
                            Ok(data) => self.add_file(entry.path(), &place, &data, false),
                            Err(error) => self.add_unlisted(&error, &folder.display().to_string()),
                        }
                    }
                }
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) => {
                    let reason = format!("it is {}, not a file", kind_of(entry.file_type()));
                    self.skip(entry.path().display().to_string(), reason);
                }
                Err(error) => self.add_unlisted(&error, &folder.display().to_string()),
            }
            true
        });
        self.skipped.extend(hidden.skipped());
    }

    /// Reports an entry of a folder that could not be listed.
    fn add_unlisted(&mut self, error: &walkdir::Error, shown: &str) {
        let path = match error.path() {
            Some(path) => path.display().to_string(),
            None => shown.to_owned(),
        };
        if let Some(above) = error.loop_ancestor() {
            // The target is read under its own path.
            return self.skip(path, format!("a link back to `{}`, which is read already", above.display()));
        }
        let is_link = error.path().is_some_and(Path::is_symlink);
        let cause = match error.io_error() {
            Some(error) => error.to_string(),
            None => error.to_string(),
        };
        let what =
            if is_link { format!("a link that leads nowhere: {cause}") } else { format!("cannot be read: {cause}") };
        let help = "check the permissions and the disk, or leave it out";
        self.lose(Diagnostic::new(Location::file(path), what, help));
    }

    fn skip(&mut self, path: String, reason: String) {
        self.skipped.push(Skipped { path, reason, unreadable: false, ..Skipped::default() });
    }

    /// Reports something that should have been read.
    fn lose(&mut self, diagnostic: Diagnostic) {
        let (path, reason) = (diagnostic.at.path.clone(), diagnostic.what.clone());
        self.skipped.push(Skipped { path, reason, unreadable: true, ..Skipped::default() });
        self.unreadable.push(diagnostic);
    }

    /// Adds the content of an open pipe (`/dev/stdin`, `/dev/fd/63`), which is read once and completely. Any other
    /// special file is refused: it may never end, or block until something writes to it.
    fn add_stream(&mut self, path: &Path, kind: FileType) {
        let shown = path.display().to_string();
        if !is_open_stream(path, kind) {
            let what = format!("this is {}, which may never end: it is not read", kind_of(kind));
            let help = "write it to a file, or pipe it in and name `/dev/stdin`";
            return self.lose(Diagnostic::new(Location::file(shown), what, help));
        }
        match Self::kept(path) {
            Ok((held, bytes)) => {
                let file = held.path().join(path.file_name().unwrap_or_default());
                let mut source = InputFile::unpacked(&file, path, bytes, true);
                source.name.path = shown;
                self.files.push(source);
                self.held.push(held);
            }
            Err(error) => {
                let what = format!("cannot be read: {error}");
                let help = "check its permissions and the disk it is on, or leave it out";
                self.lose(Diagnostic::new(Location::file(shown), what, help));
            }
        }
    }

    /// Stores a pipe's content in a file with the same name.
    fn kept(path: &Path) -> io::Result<(TemporaryFolder, u64)> {
        let held = TemporaryFolder::new()?;
        let mut file = File::create_new(held.path().join(path.file_name().unwrap_or_default()))?;
        let mut input: Box<dyn Read> =
            if path == Path::new("/dev/stdin") { Box::new(io::stdin().lock()) } else { Box::new(File::open(path)?) };
        let bytes = io::copy(&mut input.by_ref().take(PIPED + 1), &mut file)?;
        if bytes > PIPED {
            return Err(io::Error::other(format!(
                "more than {PIPED} bytes came through the pipe: write them to a file"
            )));
        }
        Ok((held, bytes))
    }

    /// Adds a file, or the members of an archive.
    fn add_file(&mut self, path: &Path, place: &Path, data: &Metadata, named: bool) {
        if !archive::is_archive(path) || inspect_archive::is_log(path) {
            self.files.push(InputFile::from_path(path, place, data, named));
            return;
        }
        add_known_input(identity_in(path, data));
        self.add_archive(path, &path.display().to_string(), NESTED, &mut UnpackBudget::from_packed(data.len()));
    }

    /// Adds the members of an archive, and of archives inside it up to `deeper` levels.
    fn add_archive(&mut self, path: &Path, shown: &str, deeper: usize, budget: &mut UnpackBudget) {
        match archive::unpack(path, &stem(path), budget) {
            Ok(unpacked) => self.add_members(shown, unpacked, deeper),
            Err(error) => {
                let what = format!("the archive cannot be unpacked: {error}");
                self.lose(Diagnostic::new(Location::file(shown), what, input_errors::ARCHIVE));
            }
        }
    }

    fn add_members(&mut self, archive: &str, unpacked: Unpacked<'_>, deeper: usize) {
        for RefusedMember { name, reason, lost } in unpacked.refused {
            let path = if name.is_empty() { archive.to_owned() } else { format!("{archive}!{name}") };
            if lost {
                self.lose(Diagnostic::new(Location::file(path), reason, input_errors::ARCHIVE));
            } else {
                self.skip(path, reason);
            }
        }
        for (name, inner) in unpacked.renamed {
            let what = format!("another member has this name too; this one is read as `{}`", inner.display());
            let help = "give each member a name of its own";
            self.renamed.push(Diagnostic::new(Location::file(format!("{archive}!{name}")), what, help));
        }
        let mut hidden = HiddenNames::default();
        hidden.walk(&unpacked.folder, |entry| {
            let entry = match entry {
                Ok(entry) if entry.file_type().is_file() => entry,
                Ok(_) => return true,
                Err(error) => {
                    self.add_unlisted(&error, archive);
                    return true;
                }
            };
            let inner = entry.path().strip_prefix(&unpacked.folder).unwrap_or(entry.path());
            let shown = format!("{archive}!{}", inner.display());
            if archive::is_archive(entry.path()) && !inspect_archive::is_log(entry.path()) {
                if let Some(deeper) = deeper.checked_sub(1) {
                    self.add_archive(entry.path(), &shown, deeper, unpacked.budget);
                } else {
                    let what = "an archive in an archive in an archive: unpack it first";
                    self.lose(Diagnostic::new(Location::file(shown), what, input_errors::ARCHIVE));
                }
                return true;
            }
            let bytes = entry.metadata().map_or(0, |data| data.len());
            let mut source = InputFile::unpacked(entry.path(), entry.path(), bytes, false);
            source.name.path = shown;
            self.files.push(source);
            true
        });
        for skipped in hidden.skipped() {
            let inner = Path::new(&skipped.path).strip_prefix(&unpacked.folder).unwrap_or(Path::new(""));
            self.skipped.push(Skipped { path: format!("{archive}!{}", inner.display()), ..skipped });
        }
        self.held.push(unpacked.held);
    }
}

/// True for a link to a folder outside `folder`, or to what the system makes up while it is read. A link to a file
/// elsewhere is followed: caches of data sets keep their files so.
fn leads_out(entry: &walkdir::DirEntry, folder: &Path) -> bool {
    const MADE_UP: [&str; 3] = ["/proc", "/sys", "/dev"];
    if !entry.path_is_symlink() {
        return false;
    }
    let Ok(target) = entry.path().canonicalize() else { return false };
    let is_outside = || folder.canonicalize().is_ok_and(|folder| !target.starts_with(folder));
    (entry.file_type().is_dir() || MADE_UP.iter().any(|root| target.starts_with(root))) && is_outside()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stem_keeps_dots_that_belong_to_the_name() {
        for (name, expected) in [
            ("gpt-4.1_airline.json", "gpt-4.1_airline"),
            ("x.traj.json", "x"),
            ("a/b/run.jsonl.gz", "run"),
            (".json", ".json"),
            ("plain", "plain"),
        ] {
            assert_eq!(stem(Path::new(name)), expected);
        }
    }
}
