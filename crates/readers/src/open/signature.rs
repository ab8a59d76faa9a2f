//! What a file is by its first bytes, where these decide how it is opened.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use crate::open::scan::read_some;

/// Bytes that decide.
const DECISIVE: usize = 16;
/// Bytes asked for at once: many files end before.
const FIRST: usize = 1 << 12;

/// What the first bytes of a file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signature {
    Parquet,
    /// An SQLite database.
    Database,
    Zip,
    /// A text, compressed or not, or nothing known.
    Other,
}

impl Signature {
    /// Looks at the first bytes of a file.
    pub(crate) fn from_file(path: &Path) -> io::Result<Self> {
        Ok(Self::opened(path)?.0)
    }

    /// Opens a file and looks at its first bytes, which are read from the result again.
    pub(crate) fn opened(path: &Path) -> io::Result<(Self, impl Read + Send + use<>)> {
        let mut file = File::open(path)?;
        let (mut first, mut n) = (vec![0; FIRST], 0);
        while n < DECISIVE {
            match read_some(&mut file, &mut first[n..])? {
                0 => break,
                more => n += more,
            }
        }
        first.truncate(n);
        let signature = match first.as_slice() {
            [b'P', b'A', b'R', b'1' | b'E', ..] => Self::Parquet,
            [..] if first.starts_with(b"SQLite format 3\0") => Self::Database,
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Self::Zip,
            _ => Self::Other,
        };
        Ok((signature, Cursor::new(first).chain(file)))
    }

    /// Whether the file can be read and is a Parquet table.
    pub(crate) fn is_parquet(path: &Path) -> bool {
        matches!(Self::from_file(path), Ok(Self::Parquet))
    }
}
