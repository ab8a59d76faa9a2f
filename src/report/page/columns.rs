//! Numbers as binary columns: one block of bytes that a page splits into typed arrays without parsing each number.

use std::io::{self, BufWriter, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use serde::Serialize;

/// A whole number that is missing.
pub(super) const MISSING: u64 = u64::MAX;

/// The number type of a column. A missing value has all bits set, or is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Width {
    U8,
    U16,
    U32,
    F64,
}

/// A column's position in the block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct ColumnPosition {
    pub(super) name: &'static str,
    #[serde(rename = "type")]
    pub(super) width: Width,
    /// Offset in bytes.
    pub(super) at: usize,
    pub(super) length: usize,
}

/// Collects columns, compressed as they arrive: those of a million rows take tens of megabytes.
pub(super) struct ColumnBlock {
    columns: Vec<ColumnPosition>,
    /// Buffered, because the encoder has much to do for every write.
    packed: BufWriter<GzEncoder<Vec<u8>>>,
    /// Bytes so far, before compression.
    length: usize,
}

impl Default for ColumnBlock {
    fn default() -> Self {
        Self { columns: Vec::new(), packed: BufWriter::new(packer()), length: 0 }
    }
}

impl ColumnBlock {
    /// Adds whole numbers in the narrowest width that holds them all and a missing value.
    pub(super) fn push_whole(&mut self, name: &'static str, numbers: &[u64]) -> io::Result<()> {
        let most = numbers.iter().copied().filter(|number| *number != MISSING).max().unwrap_or(0);
        let width = match most {
            0..0xff => Width::U8,
            0xff..0xffff => Width::U16,
            0xffff..0xffff_ffff => Width::U32,
            _ => Width::F64,
        };
        self.begin(name, width, numbers.len())?;
        for number in numbers {
            match width {
                Width::F64 if *number == MISSING => self.write(&f64::NAN.to_le_bytes())?,
                Width::F64 => self.write(&(*number as f64).to_le_bytes())?,
                // The low bytes of a little-endian number come first; those of a missing one are all ones.
                _ => self.write(&number.to_le_bytes()[..width.bytes()])?,
            }
        }
        Ok(())
    }

    /// Adds floating-point numbers; NaN is a missing value.
    pub(super) fn push_real(&mut self, name: &'static str, numbers: &[f64]) -> io::Result<()> {
        self.begin(name, Width::F64, numbers.len())?;
        numbers.iter().try_for_each(|number| self.write(&number.to_le_bytes()))
    }

    /// The columns, and their bytes encoded for the page.
    pub(super) fn finish(self) -> io::Result<(Vec<ColumnPosition>, String)> {
        Ok((self.columns, STANDARD.encode(self.packed.into_inner()?.finish()?)))
    }

    /// A browser accepts a typed array only at an offset that is a multiple of its number width.
    fn begin(&mut self, name: &'static str, width: Width, length: usize) -> io::Result<()> {
        let place = self.length.next_multiple_of(width.bytes());
        self.write(&[0; 8][..place - self.length])?;
        self.columns.push(ColumnPosition { name, width, at: place, length });
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.length += bytes.len();
        self.packed.write_all(bytes)
    }
}

impl Width {
    fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 => 4,
            Self::F64 => 8,
        }
    }
}

/// Compresses bytes and encodes them as base64. The same bytes always give the same text.
pub(super) fn packed(bytes: &[u8]) -> io::Result<String> {
    let mut out = packer();
    out.write_all(bytes)?;
    Ok(STANDARD.encode(out.finish()?))
}

fn packer() -> GzEncoder<Vec<u8>> {
    GzBuilder::new().mtime(0).write(Vec::new(), Compression::default())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn a_column_is_as_wide_as_its_numbers_and_stands_where_a_browser_can_take_it() -> io::Result<()> {
        let mut block = ColumnBlock::default();
        block.push_whole("small", &[0, MISSING, 254])?;
        block.push_whole("wide", &[255, MISSING])?;
        block.push_whole("wider", &[70_000, MISSING])?;
        block.push_whole("widest", &[1 << 40, MISSING])?;
        block.push_real("real", &[0.5, f64::NAN])?;
        let (columns, packed) = block.finish()?;
        let mut bytes = Vec::new();
        GzDecoder::new(&*STANDARD.decode(packed).unwrap_or_default()).read_to_end(&mut bytes)?;
        let told: Vec<_> = columns.iter().map(|column| (column.width, column.at, column.length)).collect();
        assert_eq!(
            told,
            [(Width::U8, 0, 3), (Width::U16, 4, 2), (Width::U32, 8, 2), (Width::F64, 16, 2), (Width::F64, 32, 2)]
        );
        assert_eq!(bytes[..3], [0, 0xff, 254]);
        assert_eq!(bytes[4..8], [255, 0, 0xff, 0xff]);
        assert_eq!(bytes[16..24], (1_099_511_627_776_f64).to_le_bytes());
        assert!(f64::from_le_bytes(bytes[40..48].try_into().unwrap_or_default()).is_nan());
        Ok(())
    }

    #[test]
    fn packing_is_the_same_on_any_day() -> io::Result<()> {
        let letters = packed(b"abc")?;
        assert_eq!(letters, packed(b"abc")?);
        // A gzip header without a timestamp: 1f 8b 08, flags, four zeros, the level.
        assert!(letters.starts_with("H4sIAAAAAAAA"), "{letters}");
        Ok(())
    }
}
