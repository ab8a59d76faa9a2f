//! Files that hold the same as another, byte for byte, once unpacked: copies, backups, a recording beside the archive it
//! was packed into. Each run counts once.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use crate::find::source::Source;

/// Files shorter than this may be equal and be different runs: an empty list of messages looks like any other.
const LEAST: u64 = 64;
/// Bytes hashed at a time.
const PIECE: usize = 64 << 10;

/// The files of a corpus, by what decides whether they can be equal.
#[derive(Debug)]
pub(crate) struct Twins<'c> {
    files: &'c [Source],
    /// The files of each unpacked length, in corpus order, unless they have been compared.
    by_length: BTreeMap<u64, Vec<usize>>,
    /// For each file that holds the same as one before it: the first of these.
    first: BTreeMap<&'c Path, usize>,
}

impl<'c> Twins<'c> {
    /// Looks at names and lengths only; no file is read.
    pub(crate) fn from_files(files: &'c [Source]) -> Self {
        let mut by_length: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (nth, source) in files.iter().enumerate() {
            if let Some(length) = unpacked_length(source).filter(|length| *length >= LEAST) {
                by_length.entry(length).or_default().push(nth);
            }
        }
        by_length.retain(|_, files| files.len() > 1);
        Self { files, by_length, first: BTreeMap::new() }
    }

    /// The first file in corpus order that holds the same as `source`, if it comes before it.
    pub(crate) fn earlier(&mut self, source: &Source) -> Option<&'c Source> {
        if let Some(of_length) = self.by_length.remove(&unpacked_length(source)?) {
            self.compare(&of_length);
        }
        self.first.get(source.path()).map(|nth| &self.files[*nth])
    }

    /// Finds the equal ones among files of one length.
    fn compare(&mut self, of_length: &[usize]) {
        let mut known: BTreeMap<u128, usize> = BTreeMap::new();
        let mut piece = vec![0; PIECE];
        for nth in of_length {
            // One that cannot be read to its end is like no other.
            let Ok(print) = print(&self.files[*nth], &mut piece) else { continue };
            let first = *known.entry(print).or_insert(*nth);
            if first != *nth {
                self.first.insert(self.files[*nth].path(), first);
            }
        }
    }
}

/// The length of a file's content, as far as it can be known without reading it.
fn unpacked_length(source: &Source) -> Option<u64> {
    let name = source.file_name();
    let ends = |extension: &str| Path::new(&name).extension().is_some_and(|own| own == extension);
    if ends("gz") {
        // A gzip file ends with the length of its content.
        let mut file = File::open(source.path()).ok()?;
        file.seek(SeekFrom::End(-4)).ok()?;
        let mut length = [0; 4];
        file.read_exact(&mut length).ok()?;
        return Some(u64::from(u32::from_le_bytes(length)));
    }
    if ends("zst") {
        // Its frames need not say; few corpora have any.
        return source.open().and_then(|mut input| io::copy(&mut input, &mut io::sink())).ok();
    }
    Some(source.bytes)
}

fn print(source: &Source, piece: &mut [u8]) -> io::Result<u128> {
    let mut input = source.open()?;
    let mut hasher = Xxh3::new();
    loop {
        match input.read(piece)? {
            0 => return Ok(hasher.digest128()),
            n => hasher.update(&piece[..n]),
        }
    }
}
