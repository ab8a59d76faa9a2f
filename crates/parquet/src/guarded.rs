//! Limits what the Parquet library allocates: the size a page claims to unpack to, and the number of values it claims,
//! are checked before memory is allocated for them.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::depth::Thrift;

/// The most bytes a page may unpack to. Writers aim for one megabyte, but a page holds at least one value, however
/// long.
const MOST_PAGE_BYTES: u64 = 512 << 20;
/// The most values that a few rows may have in one column: run-length encoding claims a billion nulls in five bytes.
const MOST_VALUES: u64 = 8 << 20;

/// A Parquet file with checked page sizes.
pub(crate) struct CheckedParquetFile {
    file: File,
    bytes: u64,
}

impl CheckedParquetFile {
    /// Wraps an open file.
    pub(crate) fn new(file: File) -> std::io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Self { file, bytes })
    }
}

impl Length for CheckedParquetFile {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for CheckedParquetFile {
    type T = BufReader<File>;

    /// The library reads page headers through this method, so the size a page claims is checked here first.
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

/// The unpacked size in a page header: the second field of a Thrift struct in the compact protocol.
fn claimed_bytes(header: &[u8]) -> Option<u64> {
    const NEXT_I32: u8 = 0x15;
    let mut thrift = Thrift { rest: header };
    let mut zigzag = 0;
    for _ in 0..2 {
        if thrift.byte()? != NEXT_I32 {
            return None;
        }
        zigzag = thrift.varint()?;
    }
    Some(zigzag >> 1)
}

/// How many values a column may still return for the rows being read.
#[derive(Clone, Debug)]
pub(crate) struct ValueAllowance(Arc<AtomicU64>);

impl Default for ValueAllowance {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(MOST_VALUES)))
    }
}

impl ValueAllowance {
    /// Resets the allowance, for the next rows.
    pub(crate) fn renew(&self) {
        self.0.store(MOST_VALUES, Ordering::Relaxed);
    }
}

/// The pages of a column, limited by its allowance.
pub(crate) struct Pages {
    /// The library's page reader.
    pub(crate) pages: Box<dyn PageReader>,
    /// The number of values still allowed.
    pub(crate) allowance: ValueAllowance,
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
