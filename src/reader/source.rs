//! Where recordings come from: files and folders, walked in path order; gzip is seen through.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::reading::FileName;
use super::{ReadError, Skipped};

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
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    /// The files, in order.
    pub(super) files: Vec<Source>,
    /// What could not even be listed.
    pub(super) skipped: Vec<Skipped>,
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

    /// The file's text, uncompressed.
    pub(super) fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let mut file = File::open(&self.path)?;
        let mut magic = Vec::new();
        file.by_ref().take(4).read_to_end(&mut magic)?;
        let is_gzip = magic.starts_with(&[0x1F, 0x8B]);
        let whole = io::Cursor::new(magic).chain(file);
        if is_gzip {
            return Ok(Box::new(flate2::read::MultiGzDecoder::new(whole)));
        }
        Ok(Box::new(whole))
    }
}

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

/// Lists the files under `paths`: each path in the order given, folders in path order without hidden
/// files. A file named twice is listed once.
pub(super) fn walk(paths: &[PathBuf]) -> Result<Sources, ReadError> {
    let mut found = Sources::default();
    let mut seen = std::collections::BTreeSet::new();
    for path in paths {
        let kind = std::fs::metadata(path)
            .map_err(|cause| ReadError::Unreadable { path: path.display().to_string(), cause })?;
        if !kind.is_dir() {
            if seen.insert(path.clone()) {
                found.files.push(Source::of(path, kind.len(), true));
            }
            continue;
        }
        let entries = walkdir::WalkDir::new(path)
            .follow_links(true)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.'));
        for entry in entries {
            match entry {
                Ok(entry) if entry.file_type().is_file() => {
                    if seen.insert(entry.path().to_path_buf()) {
                        let bytes = entry.metadata().map_or(0, |data| data.len());
                        found.files.push(Source::of(entry.path(), bytes, false));
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    let path = error.path().unwrap_or(path).display().to_string();
                    found.skipped.push(Skipped { path, reason: format!("cannot be listed: {error}") });
                }
            }
        }
    }
    Ok(found)
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
