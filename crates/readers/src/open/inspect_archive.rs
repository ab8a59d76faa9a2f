//! Inspect's `.eval` logs: a zip with a header and one sample per member, compressed with deflate or Zstandard.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use zip::ZipArchive;

use crate::diagnostic::{Diagnostic, Location};
use crate::open::archive;
use crate::open::records::{self, Cut, Item};

/// Members with the data common to all samples; a log that was cut off has only the second.
const HEADERS: &[&str] = &["header.json", "_journal/start.json"];

/// Whether a zip is a log.
pub(crate) fn is_log(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let Ok(archive) = ZipArchive::new(BufReader::new(file)) else { return false };
    HEADERS.iter().any(|name| archive.index_for_name(name).is_some())
}

/// The samples of a log.
pub(crate) struct EvalLog {
    archive: ZipArchive<BufReader<File>>,
    /// Index and name of the samples that are left; no index for one that is hidden by another with the same name.
    samples: std::vec::IntoIter<(Option<usize>, String)>,
    path: String,
    limit: u64,
}

impl EvalLog {
    /// Opens a zip and reads `keys` of its header; `None` if it is not a log. A member that unpacks to more than
    /// `limit` bytes is refused.
    pub(crate) fn open(path: &Path, name: &str, keys: &[&str], limit: u64) -> io::Result<Option<(Self, String)>> {
        let mut archive = ZipArchive::new(BufReader::new(File::open(path)?)).map_err(io::Error::other)?;
        if archive::overlaps(&mut archive, std::fs::metadata(path)?.len()) {
            return Err(io::Error::other("its members overlap, as in an archive that is made to fill a disk"));
        }
        let names: Vec<String> =
            archive.file_names_raw().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let Some(header) = HEADERS.iter().find_map(|wanted| names.iter().position(|name| name == wanted)) else {
            return Ok(None);
        };
        let hidden = archive::hidden(&mut archive, &mut BufReader::new(File::open(path)?))?;
        let hidden = hidden.into_iter().map(|member| (None, member.name));
        let shown = names.into_iter().enumerate().filter(|(_, name)| !name.ends_with('/'));
        let all = shown.map(|(index, name)| (Some(index), name)).chain(hidden);
        let samples: Vec<_> = all.filter(|(_, name)| name.starts_with("samples/")).collect();
        let envelope = records::envelope(member(&mut archive, header, limit)?.as_slice(), keys);
        Ok(Some((Self { archive, samples: samples.into_iter(), path: name.to_owned(), limit }, envelope)))
    }

    /// The next sample or finding; `None` after the last.
    pub(crate) fn next(&mut self) -> Option<Item> {
        let (index, name) = self.samples.next()?;
        let lost = |why: &str, help: &str| {
            let at = Location::file(format!("{}!{name}", self.path));
            Some(Item::Broken(Diagnostic::new(at, format!("this sample is left out: {why}"), help)))
        };
        let Some(index) = index else {
            return lost("another one has its name", "unpack the log, and give each sample a name of its own");
        };
        match member(&mut self.archive, index, self.limit) {
            Ok(bytes) => {
                let key = name.trim_start_matches("samples/").trim_end_matches(".json").to_owned();
                Some(Item::Record(Cut { bytes, key, line: 1, column: 1, member: Some(name) }))
            }
            Err(error) => lost(&error.to_string(), "if the log was cut off, its other samples are read"),
        }
    }
}

/// Unpacks one member.
fn member(archive: &mut ZipArchive<BufReader<File>>, index: usize, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = |member: &mut dyn Read, _| member.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    let (read, wrong) = archive::read_member(archive, index, read).map_err(io::Error::other)?;
    if read? as u64 > limit {
        return Err(io::Error::other(format!("it unpacks to more than {limit} bytes")));
    }
    match wrong {
        Some(wrong) => Err(io::Error::other(wrong)),
        None => Ok(bytes),
    }
}
