//! One file that may be a recording, or a member of an archive.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::find::file_name::{FileName, is_report, stem};
use crate::open::decompress;
use crate::open::inputs::{FileIdentity, identity_in};
use crate::open::signature::Signature;

/// One file to read.
#[derive(Clone, Debug)]
pub(crate) struct InputFile {
    /// Its name.
    pub(crate) name: FileName,
    /// Its size on disk.
    pub(crate) bytes: u64,
    /// True if the user named the file itself, rather than a folder that contains it.
    pub(crate) named: bool,
    /// Which file it is on disk; `None` for a member of an archive and for what came through a pipe.
    pub(crate) identity: Option<FileIdentity>,
    path: PathBuf,
}

impl InputFile {
    /// The file at the path, of which `place` is the canonical spelling.
    pub(super) fn from_path(path: &Path, place: &Path, data: &Metadata, named: bool) -> Self {
        let identity = identity_in(path, data);
        Self { identity, ..Self::unpacked(path, place, data.len(), named) }
    }

    /// A file that was written for this command only.
    pub(super) fn unpacked(path: &Path, place: &Path, bytes: u64, named: bool) -> Self {
        let folder_name = place.parent().and_then(Path::file_name).unwrap_or_default();
        let name = FileName {
            path: path.display().to_string(),
            stem: stem(path),
            folder: path.parent().map(Path::to_path_buf).unwrap_or_default(),
            folder_name: folder_name.to_string_lossy().into_owned(),
            ..FileName::default()
        };
        Self { name, bytes, named, identity: None, path: path.to_path_buf() }
    }

    /// The file's name without its folder.
    pub(crate) fn file_name(&self) -> Cow<'_, str> {
        self.path.file_name().unwrap_or_default().to_string_lossy()
    }

    /// Whether its name is that of a recording, rather than of a report or of something about runs.
    pub(crate) fn may_be_recording(&self) -> bool {
        let name = self.file_name();
        !is_report(&name) && !is_prose(&name)
    }

    /// Its path on disk.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What its first bytes say, and its text, uncompressed.
    pub(crate) fn look(&self) -> io::Result<(Signature, Box<dyn Read + Send>)> {
        let (signature, file) = Signature::opened(&self.path)?;
        Ok((signature, decompress::decoded(file)?))
    }

    /// The file's text, uncompressed.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        decompress::decoded(File::open(&self.path)?)
    }
}

/// Whether the name is that of a file describing runs rather than a recording.
fn is_prose(name: &str) -> bool {
    const OTHERS: [&str; 8] = [".md", ".txt", ".log", ".csv", ".patch", ".diff", ".png", ".pdf"];
    OTHERS.iter().any(|ending| name.ends_with(ending))
}
