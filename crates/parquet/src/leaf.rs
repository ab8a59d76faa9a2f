//! Reads one column of a row group, a few rows at a time: values with their levels, each written as JSON.

use std::io::Write as _;
use std::sync::Arc;

use chrono::{DateTime, Datelike as _, SecondsFormat};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{DataType, FixedLenByteArray};
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;

use super::TornColumn;
use super::guarded::{CheckedParquetFile, Pages, ValueAllowance};

/// Rows read from a column at a time.
const ROWS: usize = 16;

/// Writes one value as JSON.
type WriteValue<T> = fn(&<T as DataType>::T, Meaning, &mut Vec<u8>);

/// Values of one physical type that have been read but not yet written.
struct Typed<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
    write: WriteValue<T>,
}

/// The same, of whatever type.
trait LeafValues {
    /// Reads the next rows and returns the number of their levels.
    fn read(&mut self, definitions: &mut Vec<i16>, repetitions: &mut Vec<i16>) -> Result<usize>;

    /// Writes value number `at`; `None` if there is none.
    fn write(&self, at: usize, meaning: Meaning, out: &mut Vec<u8>) -> Option<()>;
}

/// What the values of a column mean.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meaning {
    /// Numbers, booleans, and text as it is.
    Plain,
    /// Text that is written without quotes.
    Unquoted,
    /// Unsigned integers.
    Unsigned,
    /// Integers with this many decimal places.
    Decimal(u32),
    /// Ticks since 1970, with this many per second.
    Ticks(i64),
    /// Days since 1970.
    Days,
}

/// One column of a row group.
pub struct Leaf {
    values: Box<dyn LeafValues + Send>,
    meaning: Meaning,
    is_text: bool,
    allowance: ValueAllowance,
    /// The column's name, for messages.
    name: String,
    max_definition: i16,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    /// The number of level entries read, and the index of the next one.
    levels: usize,
    at: usize,
    value_at: usize,
}

impl Leaf {
    /// Opens a column of a row group.
    pub(crate) fn open(
        file: &Arc<CheckedParquetFile>,
        chunk: &ColumnChunkMetaData,
        rows: usize,
    ) -> std::result::Result<Self, TornColumn> {
        let descriptor = chunk.column_descr_ptr();
        let name = descriptor.path().string();
        let torn = |error: parquet::errors::ParquetError| TornColumn { column: name.clone(), why: error.to_string() };
        let pages = SerializedPageReader::new(file.clone(), chunk, rows, None).map_err(torn)?;
        let allowance = ValueAllowance::default();
        let pages = Pages { pages: Box::new(pages), allowance: allowance.clone() };
        let values = match get_column_reader(descriptor.clone(), Box::new(pages)) {
            ColumnReader::BoolColumnReader(reader) => typed(reader, |value, _, out| put(out, value)),
            ColumnReader::Int32ColumnReader(reader) => {
                typed(reader, |value, meaning, out| whole(i64::from(*value), 32, meaning, out))
            }
            ColumnReader::Int64ColumnReader(reader) => {
                typed(reader, |value, meaning, out| whole(*value, 64, meaning, out))
            }
            ColumnReader::Int96ColumnReader(reader) => {
                typed(reader, |value, _, out| instant(value.to_nanos().into(), 1_000_000_000, out))
            }
            ColumnReader::FloatColumnReader(reader) => typed(reader, |value, _, out| number(f64::from(*value), out)),
            ColumnReader::DoubleColumnReader(reader) => typed(reader, |value, _, out| number(*value, out)),
            ColumnReader::ByteArrayColumnReader(reader) => {
                typed(reader, |value, meaning, out| bytes(value.data(), meaning, out))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => typed(reader, fixed),
        };
        Ok(Self {
            values,
            meaning: meaning(&descriptor),
            is_text: descriptor.physical_type() == Type::BYTE_ARRAY,
            allowance,
            name,
            max_definition: descriptor.max_def_level(),
            definitions: Vec::new(),
            repetitions: Vec::new(),
            levels: 0,
            at: 0,
            value_at: 0,
        })
    }

    /// Reads the next rows once all rows read so far have been written. `false` at the end of the chunk.
    pub(crate) fn refill(&mut self) -> std::result::Result<bool, TornColumn> {
        if self.at < self.levels {
            return Ok(true);
        }
        self.definitions.clear();
        self.repetitions.clear();
        (self.at, self.value_at) = (0, 0);
        self.allowance.renew();
        let read = self.values.read(&mut self.definitions, &mut self.repetitions);
        self.levels = read.map_err(|error| self.torn(error.to_string()))?;
        Ok(self.levels > 0)
    }

    /// Definition and repetition level of the next value; `None` if all rows read so far have been written.
    pub(crate) fn peek(&self) -> Option<(i16, i16)> {
        let level = |levels: &[i16], constant| levels.get(self.at).copied().unwrap_or(constant);
        if self.at >= self.levels {
            return None;
        }
        Some((level(&self.definitions, self.max_definition), level(&self.repetitions, 0)))
    }

    /// Skips a position that has no value.
    pub(crate) fn skip(&mut self) -> std::result::Result<(), TornColumn> {
        match self.peek() {
            Some((definition, _)) if definition < self.max_definition => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.torn("it has a value where the columns beside it have none".to_owned())),
        }
    }

    /// Writes the next value as JSON.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>) -> std::result::Result<(), TornColumn> {
        self.write_as(self.meaning, out)
    }

    /// Writes the next value unquoted, if it is text.
    pub(crate) fn text(&mut self, out: &mut Vec<u8>) -> std::result::Result<(), TornColumn> {
        self.write_as(if self.is_text { Meaning::Unquoted } else { self.meaning }, out)
    }

    fn write_as(&mut self, meaning: Meaning, out: &mut Vec<u8>) -> std::result::Result<(), TornColumn> {
        match self.peek() {
            Some((definition, _)) if definition == self.max_definition => {
                self.at += 1;
                let at = self.value_at;
                self.value_at += 1;
                self.values.write(at, meaning, out).ok_or_else(|| self.torn("it ends too early".to_owned()))
            }
            _ => Err(self.torn("it has no value where the columns beside it have one".to_owned())),
        }
    }

    fn torn(&self, why: String) -> TornColumn {
        TornColumn { column: self.name.clone(), why }
    }
}

fn typed<T: DataType>(reader: ColumnReaderImpl<T>, write: WriteValue<T>) -> Box<dyn LeafValues + Send> {
    Box::new(Typed { reader, values: Vec::new(), write })
}

impl<T: DataType> LeafValues for Typed<T> {
    fn read(&mut self, definitions: &mut Vec<i16>, repetitions: &mut Vec<i16>) -> Result<usize> {
        self.values.clear();
        let (_, _, levels) = self.reader.read_records(ROWS, Some(definitions), Some(repetitions), &mut self.values)?;
        Ok(levels)
    }

    fn write(&self, at: usize, meaning: Meaning, out: &mut Vec<u8>) -> Option<()> {
        (self.write)(self.values.get(at)?, meaning, out);
        Some(())
    }
}

/// The meaning of a column's values, from its annotations.
fn meaning(column: &ColumnDescriptor) -> Meaning {
    let ticks = |unit: &TimeUnit| match unit {
        TimeUnit::MILLIS => 1_000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    };
    let scale = || u32::try_from(column.type_scale()).unwrap_or(0);
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Timestamp(stamp)), _) => Meaning::Ticks(ticks(&stamp.unit)),
        (_, ConvertedType::TIMESTAMP_MILLIS) => Meaning::Ticks(1_000),
        (_, ConvertedType::TIMESTAMP_MICROS) => Meaning::Ticks(1_000_000),
        (Some(LogicalType::Decimal(_)), _) | (_, ConvertedType::DECIMAL) => Meaning::Decimal(scale()),
        (Some(LogicalType::Date), _) | (_, ConvertedType::DATE) => Meaning::Days,
        (_, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64) => {
            Meaning::Unsigned
        }
        _ => Meaning::Plain,
    }
}

fn put(out: &mut Vec<u8>, value: impl std::fmt::Display) {
    // Writing to memory cannot fail.
    let _ = write!(out, "{value}");
}

fn whole(value: i64, bits: u32, meaning: Meaning, out: &mut Vec<u8>) {
    match meaning {
        Meaning::Plain | Meaning::Unquoted => put(out, value),
        Meaning::Unsigned if bits == 32 => put(out, value & 0xffff_ffff),
        Meaning::Unsigned => put(out, value.cast_unsigned()),
        Meaning::Decimal(scale) => decimal(value.into(), scale, out),
        Meaning::Ticks(a_second) => instant(value.into(), a_second, out),
        Meaning::Days => instant(i128::from(value) * 86_400, 1, out),
    }
}

/// Writes a number; an infinite value or NaN becomes text, so that whoever wants a number reports it.
fn number(value: f64, out: &mut Vec<u8>) {
    if value.is_finite() { put(out, value) } else { put(out, format_args!("\"{value}\"")) }
}

/// Writes a point in time as text; one outside the calendar becomes null.
fn instant(ticks: i128, a_second: i64, out: &mut Vec<u8>) {
    let (seconds, rest) = (ticks.div_euclid(a_second.into()), ticks.rem_euclid(a_second.into()));
    let nanos = u32::try_from(rest * (1_000_000_000 / i128::from(a_second))).unwrap_or(0);
    let at = i64::try_from(seconds).ok().and_then(|seconds| DateTime::from_timestamp(seconds, nanos));
    match at {
        // Those that RFC 3339 can write.
        Some(at) if (0..=9999).contains(&at.year()) => {
            put(out, format_args!("\"{}\"", at.to_rfc3339_opts(SecondsFormat::AutoSi, true)));
        }
        _ => out.extend_from_slice(b"null"),
    }
}

fn decimal(value: i128, scale: u32, out: &mut Vec<u8>) {
    match 10_u128.checked_pow(scale) {
        None | Some(1) => put(out, value),
        Some(unit) => {
            let (sign, size) = (if value < 0 { "-" } else { "" }, value.unsigned_abs());
            let places = scale as usize;
            put(out, format_args!("{sign}{}.{:0places$}", size / unit, size % unit));
        }
    }
}

/// Writes text, or a decimal number stored as big-endian bytes.
fn bytes(value: &[u8], meaning: Meaning, out: &mut Vec<u8>) {
    match meaning {
        Meaning::Unquoted => out.extend_from_slice(value),
        Meaning::Decimal(scale) => match big_endian(value) {
            Some(value) => decimal(value, scale, out),
            None => out.extend_from_slice(b"null"),
        },
        // Writing to memory cannot fail.
        _ => drop(serde_json::to_writer(out, &String::from_utf8_lossy(value))),
    }
}

fn fixed(value: &FixedLenByteArray, meaning: Meaning, out: &mut Vec<u8>) {
    let value = value.data();
    if meaning == Meaning::Plain && std::str::from_utf8(value).is_err() {
        // A 16-byte id or other bytes, written in hexadecimal so that equal values stay equal.
        out.push(b'"');
        for byte in value {
            put(out, format_args!("{byte:02x}"));
        }
        return out.push(b'"');
    }
    bytes(value, meaning, out);
}

/// A two's complement number; `None` if it needs more than 128 bits.
fn big_endian(value: &[u8]) -> Option<i128> {
    let first = *value.first()?;
    let sign = if first & 0x80 == 0 { 0_i128 } else { -1 };
    if value.len() > 16 {
        return None;
    }
    Some(value.iter().fold(sign, |number, byte| (number << 8) | i128::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_what_their_annotations_say() {
        assert_eq!(shown(|out| whole(-1, 32, Meaning::Unsigned, out)), "4294967295");
        assert_eq!(shown(|out| whole(-12_345, 64, Meaning::Decimal(2), out)), "-123.45");
        assert_eq!(shown(|out| whole(5, 64, Meaning::Decimal(3), out)), "0.005");
        assert_eq!(shown(|out| whole(1_500, 64, Meaning::Ticks(1_000), out)), "\"1970-01-01T00:00:01.500Z\"");
        assert_eq!(shown(|out| whole(i64::MAX, 64, Meaning::Ticks(1_000), out)), "null");
        assert_eq!(shown(|out| whole(253_402_300_800, 64, Meaning::Ticks(1), out)), "null");
        assert_eq!(shown(|out| whole(1, 32, Meaning::Days, out)), "\"1970-01-02T00:00:00Z\"");
        assert_eq!(shown(|out| number(f64::NAN, out)), "\"NaN\"");
        assert_eq!(shown(|out| bytes(&[0xff, 0x38], Meaning::Decimal(1), out)), "-20.0");
        assert_eq!(shown(|out| bytes(b"a\"b\xff", Meaning::Plain, out)), "\"a\\\"b\u{fffd}\"");
    }
}
