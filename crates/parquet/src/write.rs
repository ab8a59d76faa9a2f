//! Writes tables of texts and numbers to Parquet, one row group at a time.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::cell::{ParquetCell, ParquetKind};

/// A row group ends at this many rows …
const MOST_ROWS: usize = 1 << 16;
/// … or this many bytes of text.
const MOST_BYTES: usize = 32 << 20;

#[derive(Default)]
struct ColumnBuffer {
    definitions: Vec<i16>,
    texts: Vec<ByteArray>,
    wholes: Vec<i64>,
    reals: Vec<f64>,
    truths: Vec<bool>,
}

/// The destination of a table. A single type for both, so that the encoders are compiled only once.
enum Sink {
    File(BufWriter<File>),
    Memory(Vec<u8>),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Memory(memory) => memory.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Memory(_) => Ok(()),
        }
    }
}

/// Writes a table. The same rows always give the same bytes.
pub struct ParquetWriter {
    file: SerializedFileWriter<Sink>,
    kinds: Vec<ParquetKind>,
    columns: Vec<ColumnBuffer>,
    rows: usize,
    bytes: usize,
}

fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        error => io::Error::other(error),
    }
}

impl ParquetWriter {
    /// Creates a table with these columns in a file.
    pub fn to_file(file: File, columns: &[(&str, ParquetKind)]) -> io::Result<Self> {
        Self::new(Sink::File(BufWriter::new(file)), columns)
    }

    /// Creates a table with these columns in memory.
    pub fn in_memory(columns: &[(&str, ParquetKind)]) -> io::Result<Self> {
        Self::new(Sink::Memory(Vec::new()), columns)
    }

    fn new(to: Sink, columns: &[(&str, ParquetKind)]) -> io::Result<Self> {
        let field = |(name, kind): &(&str, ParquetKind)| {
            let (physical, logical) = match kind {
                ParquetKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                ParquetKind::Whole => (Physical::INT64, None),
                ParquetKind::Real => (Physical::DOUBLE, None),
                ParquetKind::Truth => (Physical::BOOLEAN, None),
            };
            let built = Type::primitive_type_builder(name, physical)
                .with_logical_type(logical)
                .with_repetition(Repetition::OPTIONAL)
                .build();
            built.map(Arc::new)
        };
        let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let schema = Type::group_type_builder("rows").with_fields(fields).build().map_err(failed)?;
        let level = ZstdLevel::try_new(1).map_err(failed)?;
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
        let file = SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties)).map_err(failed)?;
        let kinds: Vec<ParquetKind> = columns.iter().map(|(_, kind)| *kind).collect();
        let columns = kinds.iter().map(|_| ColumnBuffer::default()).collect();
        Ok(Self { file, kinds, columns, rows: 0, bytes: 0 })
    }

    /// Adds a row: one cell per column, in order.
    pub fn row<'c>(&mut self, cells: impl IntoIterator<Item = ParquetCell<'c>>) -> io::Result<()> {
        let mut n = 0;
        for (cell, (kind, column)) in cells.into_iter().zip(self.kinds.iter().zip(&mut self.columns)) {
            n += 1;
            column.definitions.push(i16::from(cell != ParquetCell::None));
            match (cell, kind) {
                (ParquetCell::None, _) => {}
                (ParquetCell::Text(text), ParquetKind::Text) => {
                    self.bytes += text.len();
                    // Rows of the same run repeat most of their texts, so an equal text is stored once.
                    let same = column.texts.last().filter(|last| last.data() == text.as_bytes());
                    column.texts.push(same.cloned().unwrap_or_else(|| ByteArray::from(text)));
                }
                (ParquetCell::Whole(number), ParquetKind::Whole) => column.wholes.push(number),
                (ParquetCell::Real(number), ParquetKind::Real) => column.reals.push(number),
                #[expect(clippy::cast_precision_loss, reason = "a column of real numbers holds whole ones as such")]
                (ParquetCell::Whole(number), ParquetKind::Real) => column.reals.push(number as f64),
                (ParquetCell::Truth(truth), ParquetKind::Truth) => column.truths.push(truth),
                (cell, kind) => return Err(io::Error::other(format!("{cell:?} in a column of {kind:?}"))),
            }
        }
        if n != self.columns.len() {
            return Err(io::Error::other(format!("a row of {n} cells in a table of {} columns", self.columns.len())));
        }
        self.rows += 1;
        if self.rows >= MOST_ROWS || self.bytes >= MOST_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group().map_err(failed)?;
        for column in &mut self.columns {
            let Some(mut writer) = group.next_column().map_err(failed)? else { break };
            let levels = Some(&column.definitions[..]);
            let written = match writer.untyped() {
                ColumnWriter::ByteArrayColumnWriter(to) => to.write_batch(&column.texts, levels, None),
                ColumnWriter::Int64ColumnWriter(to) => to.write_batch(&column.wholes, levels, None),
                ColumnWriter::DoubleColumnWriter(to) => to.write_batch(&column.reals, levels, None),
                ColumnWriter::BoolColumnWriter(to) => to.write_batch(&column.truths, levels, None),
                _ => Ok(0),
            };
            written.map_err(failed)?;
            writer.close().map_err(failed)?;
            *column = ColumnBuffer::default();
        }
        group.close().map_err(failed)?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    /// Writes the remaining rows and the footer. Returns the bytes of a table in memory; for a file, an empty vector.
    pub fn close(mut self) -> io::Result<Vec<u8>> {
        self.flush()?;
        match self.file.into_inner().map_err(failed)? {
            Sink::File(mut file) => file.flush().map(|()| Vec::new()),
            Sink::Memory(memory) => Ok(memory),
        }
    }
}
