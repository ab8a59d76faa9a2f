//! Files that hold the same as another, byte for byte, once unpacked: copies, backups, a recording beside the archive it
//! was packed into. Each run counts once.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::find::source::InputFile;

/// Files shorter than this may be equal and be different runs: an empty list of messages looks like any other.
const LEAST: u64 = 64;
/// The files of a corpus that were asked for so far, by what they hold.
#[derive(Debug)]
pub(crate) struct Twins<'c> {
    /// What `unpacked_length` gives for more than one file: others are like no file.
    shared_lengths: HashSet<u64>,
    first: HashMap<u128, &'c InputFile>,
}

impl<'c> Twins<'c> {
    /// Looks at names and lengths only; no file is read.
    pub(crate) fn from_files(files: &'c [InputFile]) -> Self {
        let mut lengths: Vec<u64> = files.iter().filter_map(unpacked_length).collect();
        lengths.sort_unstable();
        let shared = lengths.chunk_by(|a, b| a == b).filter(|equal| equal.len() > 1).map(|equal| equal[0]);
        Self { shared_lengths: shared.filter(|length| *length >= LEAST).collect(), first: HashMap::new() }
    }

    /// The first file asked for that holds the same as `source`, if it is another. `text` is what `source` holds, where
    /// it has been read.
    pub(crate) fn earlier(&mut self, source: &'c InputFile, text: Option<&[u8]>) -> Option<&'c InputFile> {
        if !self.shared_lengths.contains(&unpacked_length(source)?) {
            return None;
        }
        let print = match text {
            Some(text) => xxh3_128(text),
            // One that cannot be read to its end is like no other.
            None => print(source).ok()?,
        };
        let first = *self.first.entry(print).or_insert(source);
        if first.path() == source.path() { None } else { Some(first) }
    }
}

/// The length of a file's content, as far as it can be known without reading it.
fn unpacked_length(source: &InputFile) -> Option<u64> {
    let name = source.file_name();
    let extension = Path::new(&*name).extension();
    if extension == Some(OsStr::new("gz")) {
        // A gzip file ends with the length of its content, or of the last of several members: enough to tell files apart.
        let mut file = File::open(source.path()).ok()?;
        file.seek(SeekFrom::End(-4)).ok()?;
        let mut length = [0; 4];
        file.read_exact(&mut length).ok()?;
        return Some(u64::from(u32::from_le_bytes(length)));
    }
    if extension == Some(OsStr::new("zst")) {
        // Its frames need not say; few corpora have any.
        return io::copy(&mut source.open().ok()?, &mut io::sink()).ok();
    }
    Some(source.bytes)
}

fn print(source: &InputFile) -> io::Result<u128> {
    let mut hash = Xxh3::new();
    io::copy(&mut source.open()?, &mut hash)?;
    Ok(hash.digest128())
}
