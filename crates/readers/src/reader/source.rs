//! Where recordings come from: files, folders and archives, walked in path order.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::reading::FileName;
use super::unpack::{self, Budget, Unpacked};
use super::{ReadError, Skipped, decode, eval_log};

/// One file to read.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Its name.
    pub(super) name: FileName,
    /// Its size on disk.
    pub(super) bytes: u64,
    /// True when the user named it, rather than a folder it lies in.
    pub(super) named: bool,
    path: PathBuf,
}

/// Everything found under the paths of a corpus.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// The files, in order.
    pub(super) files: Vec<Source>,
    /// What could not even be listed.
    pub(super) skipped: Vec<Skipped>,
    /// The folders archives were unpacked to, which go away with this.
    held: Vec<tempfile::TempDir>,
}

impl Source {
    fn of(path: &Path, bytes: u64, named: bool) -> Self {
        let name = FileName {
            path: path.display().to_string(),
            stem: stem(path),
            folder: path.parent().map(Path::to_path_buf).unwrap_or_default(),
        };
        Self { name, bytes, named, path: path.to_path_buf() }
    }

    /// The file's name without its folder.
    pub(super) fn file_name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Where it lies on disk.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// True when it is a zip.
    pub(super) fn is_zip(&self) -> io::Result<bool> {
        Ok(decode::packing(File::open(&self.path)?)?.0 == decode::Packing::Zip)
    }

    /// The file's text, uncompressed.
    pub(super) fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        decode::decoded(File::open(&self.path)?)
    }
}

/// How deep archives within archives are opened.
const NESTED: usize = 1;
/// Endings that say how a file is written, not what it is about.
const ENDINGS: &[&str] = &[
    ".json",
    ".jsonl",
    ".ndjson",
    ".traj",
    ".trajectory",
    ".eval",
    ".log",
    ".txt",
    ".gz",
    ".zst",
    ".zip",
    ".tar",
    ".tgz",
];

/// A file's name without its folder and its endings.
pub(super) fn stem(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut stem = name.as_str();
    while let Some(shorter) = ENDINGS.iter().find_map(|ending| stem.strip_suffix(ending)).filter(|s| !s.is_empty()) {
        stem = shorter;
    }
    stem.to_owned()
}

/// Lists the files under `paths`: each path in the order given, folders and archives in path order
/// without hidden files. A file named twice is listed once.
pub(super) fn walk(paths: &[PathBuf]) -> Result<Sources, ReadError> {
    let mut found = Sources::default();
    let mut seen = BTreeSet::new();
    for path in paths {
        let kind = std::fs::metadata(path)
            .map_err(|cause| ReadError::Unreadable { path: path.display().to_string(), cause })?;
        if kind.is_dir() {
            found.add_folder(path, &mut seen);
        } else if seen.insert(path.clone()) {
            found.add_file(path, kind.len(), true);
        }
    }
    Ok(found)
}

impl Sources {
    fn add_folder(&mut self, folder: &Path, seen: &mut BTreeSet<PathBuf>) {
        for entry in files_of(folder) {
            match entry {
                Ok(entry) if entry.file_type().is_file() => {
                    if seen.insert(entry.path().to_path_buf()) {
                        let bytes = entry.metadata().map_or(0, |data| data.len());
                        self.add_file(entry.path(), bytes, false);
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    let path = error.path().unwrap_or(folder).display().to_string();
                    self.skipped.push(Skipped { path, reason: format!("cannot be listed: {error}") });
                }
            }
        }
    }

    /// Adds a file, or the members of an archive.
    fn add_file(&mut self, path: &Path, bytes: u64, named: bool) {
        if !unpack::is_archive(path) || eval_log::is_log(path) {
            self.files.push(Source::of(path, bytes, named));
            return;
        }
        self.add_archive(path, &path.display().to_string(), NESTED, &mut Budget::default());
    }

    /// Adds the members of an archive and, `deeper` times, of archives among them.
    fn add_archive(&mut self, path: &Path, shown: &str, deeper: usize, budget: &mut Budget) {
        match unpack::unpack(path, &stem(path), budget) {
            Ok(unpacked) => self.add_members(shown, unpacked, deeper, budget),
            Err(error) => {
                let reason = format!("the archive cannot be unpacked: {error}");
                self.skipped.push(Skipped { path: shown.to_owned(), reason });
            }
        }
    }

    fn add_members(&mut self, archive: &str, unpacked: Unpacked, deeper: usize, budget: &mut Budget) {
        for (member, reason) in unpacked.refused {
            self.skipped.push(Skipped { path: format!("{archive}!{member}"), reason });
        }
        for entry in files_of(&unpacked.folder).filter_map(Result::ok).filter(|entry| entry.file_type().is_file()) {
            let inner = entry.path().strip_prefix(&unpacked.folder).unwrap_or(entry.path());
            let shown = format!("{archive}!{}", inner.display());
            if unpack::is_archive(entry.path()) && !eval_log::is_log(entry.path()) {
                if let Some(deeper) = deeper.checked_sub(1) {
                    self.add_archive(entry.path(), &shown, deeper, budget);
                } else {
                    let reason = "an archive in an archive in an archive: unpack it first".to_owned();
                    self.skipped.push(Skipped { path: shown, reason });
                }
                continue;
            }
            let mut source = Source::of(entry.path(), entry.metadata().map_or(0, |data| data.len()), false);
            source.name.path = shown;
            self.files.push(source);
        }
        self.held.push(unpacked.held);
    }
}

/// Everything in a folder that is not hidden, in path order.
fn files_of(folder: &Path) -> impl Iterator<Item = walkdir::Result<walkdir::DirEntry>> {
    walkdir::WalkDir::new(folder)
        .follow_links(true)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.'))
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
