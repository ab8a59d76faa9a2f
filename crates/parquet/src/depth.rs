//! How deep the schema in a Parquet footer nests. The library descends by calls, so a footer of 80 kB could use up the stack
//! before the library returns an error: the depth is found here first, without one.

use std::io;

use bytes::Bytes;
use parquet::file::reader::{ChunkReader as _, Length as _};

use super::guarded::CheckedParquetFile;

/// The most levels of a schema. Messages with calls take about a dozen.
const MOST_LEVELS: usize = 200;
/// A footer of at most this many bytes has too few levels to matter, and may be damaged: the library says how.
const SMALL: usize = 2_000;
/// The most levels of values within values in the footer itself, where nothing takes more than five.
const MOST_WITHIN: usize = 16;
/// The length of the footer, and the file's last four bytes.
const TAIL: u64 = 8;

/// Returns an error if the schema of `file` nests too deep. A file without a footer is left to the library.
pub(crate) fn refuse_too_deep(file: &CheckedParquetFile) -> Result<(), String> {
    let Ok(Some(footer)) = footer_of(file) else { return Ok(()) };
    match levels(&footer) {
        Some(levels) if levels <= MOST_LEVELS => Ok(()),
        Some(_) => Err(format!("its columns nest more than {MOST_LEVELS} levels deep")),
        None if footer.len() <= SMALL => Ok(()),
        None => Err("its footer is damaged: the schema cannot be followed".to_owned()),
    }
}

fn footer_of(file: &CheckedParquetFile) -> io::Result<Option<Bytes>> {
    let Some(end) = file.len().checked_sub(TAIL) else { return Ok(None) };
    let tail = file.get_bytes(end, 8)?;
    let length = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
    let Some(start) = end.checked_sub(u64::from(length)).filter(|_| tail.ends_with(b"PAR1")) else { return Ok(None) };
    Ok(Some(file.get_bytes(start, length as usize)?))
}

/// The levels of the schema in a footer; `None` if they cannot be followed. Counting ends soon after [`MOST_LEVELS`].
fn levels(footer: &[u8]) -> Option<usize> {
    const SCHEMA: i64 = 2;
    let mut thrift = Thrift { rest: footer };
    let mut id = 0;
    while let Some(kind) = thrift.field(&mut id)? {
        if id == SCHEMA {
            return levels_of(&mut thrift, kind);
        }
        thrift.skip(kind, 0)?;
    }
    None
}

/// The levels of a list of schema elements, each of which says how many children follow it.
fn levels_of(thrift: &mut Thrift<'_>, kind: u8) -> Option<usize> {
    const CHILDREN: i64 = 5;
    let (elements, of) = thrift.list().filter(|_| kind == LIST)?;
    let (mut open, mut deepest): (Vec<u64>, usize) = (Vec::new(), 0);
    for _ in 0..elements {
        let (mut id, mut children) = (0, 0);
        while let Some(kind) = thrift.field(&mut id).filter(|_| of == STRUCT)? {
            if id == CHILDREN && (I16..=I64).contains(&kind) {
                let zigzag = thrift.varint()?;
                children = if zigzag & 1 == 0 { zigzag >> 1 } else { 0 };
            } else {
                thrift.skip(kind, 0)?;
            }
        }
        deepest = deepest.max(open.len() + 1);
        if deepest > MOST_LEVELS {
            return Some(deepest);
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        open.push(children);
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    Some(deepest)
}

// The kinds of values in Thrift's compact protocol.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// Values in Thrift's compact protocol.
pub(crate) struct Thrift<'f> {
    pub(crate) rest: &'f [u8],
}

impl Thrift<'_> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    pub(crate) fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// The kind of a struct's next field, whose number replaces `id`; `Some(None)` at the end of the struct.
    #[expect(clippy::option_option, reason = "damage and the end of a struct are two things")]
    fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let head = self.byte()?;
        if head == 0 {
            return Some(None);
        }
        *id = match i64::from(head >> 4) {
            0 => {
                let zigzag = i64::try_from(self.varint()?).ok()?;
                zigzag >> 1 ^ -(zigzag & 1)
            }
            delta => id.checked_add(delta)?,
        };
        Some(Some(head & 15))
    }

    /// The length of a list or set, and the kind of its values.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let length = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        Some((length, head & 15))
    }

    fn skip(&mut self, kind: u8, within: usize) -> Option<()> {
        if within > MOST_WITHIN {
            return None;
        }
        match kind {
            TRUE | FALSE => Some(()),
            BYTE => self.pass(1),
            I16..=I64 => self.varint().map(|_| ()),
            DOUBLE => self.pass(8),
            BINARY => {
                let length = self.varint()?;
                self.pass(length)
            }
            LIST | SET => {
                let (length, of) = self.list()?;
                self.skip_many(length, &[of], within)
            }
            MAP => {
                let length = self.varint()?;
                let kinds = if length == 0 { 0 } else { self.byte()? };
                self.skip_many(length, &[kinds >> 4, kinds & 15], within)
            }
            STRUCT => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, within + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Skips values within a value, each of which takes a byte at least: a truth value does there too.
    fn skip_many(&mut self, times: u64, kinds: &[u8], within: usize) -> Option<()> {
        for _ in 0..times {
            for kind in kinds {
                let kind = if matches!(*kind, TRUE | FALSE) { BYTE } else { *kind };
                self.skip(kind, within + 1)?;
            }
        }
        Some(())
    }
}
