//! A Parquet file as its library reads it, held to sizes: what a page claims to unpack to, and how many values it claims to
//! hold, are looked at before memory is made for them.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// Most bytes a page may unpack to. Writers aim at one megabyte; a page never holds less than one value.
const MOST_PAGE_BYTES: u64 = 512 << 20;
/// Most values that a few rows may have in one column: a run-length of nulls says a billion of them in five bytes.
const MOST_VALUES: u64 = 8 << 20;

/// The file.
pub(super) struct Guarded {
    file: File,
    bytes: u64,
}

impl Guarded {
    /// Takes an open file.
    pub(super) fn new(file: File) -> std::io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Self { file, bytes })
    }
}

impl Length for Guarded {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Guarded {
    type T = BufReader<File>;

    /// The library reads the header of a page this way, so the size the page claims is seen here first.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut input = self.file.get_read(start)?;
        if let Some(claimed) = claimed_bytes(input.fill_buf()?).filter(|claimed| *claimed > MOST_PAGE_BYTES) {
            return Err(ParquetError::General(format!(
                "a page claims to unpack to {claimed} bytes, more than {MOST_PAGE_BYTES}"
            )));
        }
        Ok(input)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.bytes) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} of a file of {}", self.bytes)));
        }
        self.file.get_bytes(start, length)
    }
}

/// What the header of a page says it unpacks to: the second field of a Thrift struct in the compact protocol.
fn claimed_bytes(header: &[u8]) -> Option<u64> {
    const NEXT_I32: u8 = 0x15;
    let (first, rest) = header.split_first()?;
    let (_, rest) = varint(rest).filter(|_| *first == NEXT_I32)?;
    let (second, rest) = rest.split_first()?;
    let (zigzag, _) = varint(rest).filter(|_| *second == NEXT_I32)?;
    Some(zigzag >> 1)
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (at, byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}

/// How many values a column may still hand out before the next rows are asked for.
#[derive(Clone, Debug)]
pub(super) struct Allowance(Arc<AtomicU64>);

impl Default for Allowance {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(MOST_VALUES)))
    }
}

impl Allowance {
    /// The next rows are asked for.
    pub(super) fn renew(&self) {
        self.0.store(MOST_VALUES, Ordering::Relaxed);
    }
}

/// The pages of a column, within its allowance.
pub(super) struct Pages {
    /// The library's.
    pub(super) pages: Box<dyn PageReader>,
    /// What is left.
    pub(super) allowance: Allowance,
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        let values = page.as_ref().map_or(0, |page| u64::from(page.num_values()));
        let left = self.allowance.0.load(Ordering::Relaxed);
        let Some(left) = left.checked_sub(values) else {
            return Err(ParquetError::General(format!("a few rows of it claim more than {MOST_VALUES} values")));
        };
        self.allowance.0.store(left, Ordering::Relaxed);
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

#[cfg(test)]
mod tests {
    use super::claimed_bytes;

    #[test]
    fn the_size_a_page_claims_is_read_off_its_header() {
        // Type 0, 300 bytes unpacked (zigzag 600), 10 packed.
        assert_eq!(claimed_bytes(&[0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0x14]), Some(300));
        assert_eq!(
            claimed_bytes(&[0x15, 0x00, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f]),
            Some(i32::MAX.unsigned_abs().into())
        );
        assert_eq!(claimed_bytes(b""), None);
        assert_eq!(claimed_bytes(b"PAR1PAR1"), None);
    }
}
