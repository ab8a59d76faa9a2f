//! Inspect's `.eval` logs: a zip with a header and one sample per member, compressed with deflate or Zstandard.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::CrcReader;
use zip::{CompressionMethod, ZipArchive};

use crate::diagnostic::{Diagnostic, Location};
use crate::open::records::{self, Cut, Item};
use crate::open::{archive, decompress};

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
    /// Index and name of the samples that are left.
    samples: std::vec::IntoIter<(usize, String)>,
    /// Samples hidden by another one with the same name.
    hidden: std::vec::IntoIter<String>,
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
        let samples: Vec<(usize, String)> = names
            .into_iter()
            .enumerate()
            .filter(|(_, name)| name.starts_with("samples/") && !name.ends_with('/'))
            .collect();
        let hidden = archive::hidden(&mut archive, &mut BufReader::new(File::open(path)?))?;
        let hidden: Vec<String> =
            hidden.into_iter().map(|member| member.name).filter(|name| name.starts_with("samples/")).collect();
        let envelope = records::envelope(member(&mut archive, header, limit)?.as_slice(), keys);
        let log =
            Self { archive, samples: samples.into_iter(), hidden: hidden.into_iter(), path: name.to_owned(), limit };
        Ok(Some((log, envelope)))
    }

    /// The next sample or finding; `None` after the last.
    pub(crate) fn next(&mut self) -> Option<Item> {
        let Some((index, name)) = self.samples.next() else {
            let name = self.hidden.next()?;
            let what = "this sample is left out: another one has its name";
            let at = Location::file(format!("{}!{name}", self.path));
            return Some(Item::Broken(Diagnostic::new(
                at,
                what,
                "unpack the log, and give each sample a name of its own",
            )));
        };
        Some(match member(&mut self.archive, index, self.limit) {
            Ok(bytes) => {
                let key = name.trim_start_matches("samples/").trim_end_matches(".json").to_owned();
                Item::Record(Cut { bytes, key, line: 1, column: 1, member: Some(name) })
            }
            Err(error) => Item::Broken(Diagnostic::new(
                Location::file(format!("{}!{name}", self.path)),
                format!("this sample is left out: {error}"),
                "if the log was cut off, its other samples are read",
            )),
        })
    }
}

/// Unpacks one member.
fn member(archive: &mut ZipArchive<BufReader<File>>, index: usize, limit: u64) -> io::Result<Vec<u8>> {
    let too_long = || io::Error::other(format!("it unpacks to more than {limit} bytes"));
    let method = archive.by_index_raw(index).map_err(io::Error::other)?.compression();
    let mut bytes = Vec::new();
    let most = limit.saturating_add(1);
    if method == CompressionMethod::ZSTD {
        let raw = archive.by_index_raw(index).map_err(io::Error::other)?;
        let (encrypted, crc) = (raw.encrypted(), raw.crc32());
        let mut packed = CrcReader::new(decompress::zstd(raw).take(most));
        packed.read_to_end(&mut bytes)?;
        if encrypted || (bytes.len() as u64 <= limit && packed.crc().sum() != crc) {
            return Err(io::Error::other(if encrypted { "it is encrypted" } else { "its checksum is wrong" }));
        }
    } else {
        let packed = archive.by_index(index).map_err(io::Error::other)?;
        packed.take(most).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > limit { Err(too_long()) } else { Ok(bytes) }
}
