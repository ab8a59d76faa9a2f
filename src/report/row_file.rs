//! Rows and firings as Parquet: written one row group at a time, and read back.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::path::Path;

use serde::de::DeserializeOwned;

use super::files::unwritten;
use crate::aggregate::{CellKind, ColumnSpec, FileLine, RecordCell};
use crate::diagnostic::{Diagnostic, Location};
use crate::reader::{ParquetCell, ParquetKind, ParquetRows, ParquetWriter};

/// The file format of rows and firings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowFormat {
    /// `rows.csv`, readable by people and every program.
    #[default]
    Csv,
    /// `rows.parquet`: a tenth of the size, typed.
    Parquet,
}

/// The columns as Parquet has them.
fn parquet_columns(columns: &[ColumnSpec]) -> Vec<(&str, ParquetKind)> {
    let kind = |kind| match kind {
        CellKind::Text => ParquetKind::Text,
        CellKind::Whole => ParquetKind::Whole,
        CellKind::Real => ParquetKind::Real,
        CellKind::Truth => ParquetKind::Truth,
    };
    columns.iter().map(|column| (column.name.as_str(), kind(column.kind))).collect()
}

/// The cell of a record as Parquet has it.
pub fn parquet_cell<'c>(cell: &'c RecordCell<'_>) -> ParquetCell<'c> {
    match cell {
        RecordCell::Text(text) => ParquetCell::Text(text),
        RecordCell::Whole(number) => ParquetCell::Whole(*number),
        RecordCell::Real(number) => ParquetCell::Real(*number),
        RecordCell::Truth(truth) => ParquetCell::Truth(*truth),
        RecordCell::Empty => ParquetCell::None,
    }
}

/// Writes records of type `T` to a Parquet table one at a time.
pub struct RowWriter<T> {
    table: ParquetWriter,
    of: PhantomData<T>,
}

impl<T: FileLine> RowWriter<T> {
    /// Starts a table in a file.
    pub fn to_file(file: File) -> io::Result<Self> {
        Ok(Self { table: ParquetWriter::to_file(file, &parquet_columns(&T::columns()))?, of: PhantomData })
    }

    /// Adds a record; an error for a number of 2^63 or more.
    pub fn row(&mut self, row: &T) -> io::Result<()> {
        self.table.row(row.cells()?.as_ref().iter().map(parquet_cell))
    }

    /// Writes the remaining records.
    pub fn close(self) -> io::Result<()> {
        self.table.close().map(drop)
    }
}

/// Writes records to a file, one row group at a time.
pub(super) fn write_parquet<T: FileLine>(path: &Path, rows: impl IntoIterator<Item = T>) -> Result<(), Diagnostic> {
    let write = || -> io::Result<()> {
        let mut writer = RowWriter::to_file(File::create_new(path)?)?;
        rows.into_iter().try_for_each(|row| writer.row(&row))?;
        writer.close()
    };
    write().map_err(|error| unwritten(path, &error))
}

/// Reads the records of a Parquet file in order.
pub(super) struct SavedRows {
    rows: ParquetRows,
    name: String,
}

impl SavedRows {
    pub(super) fn open(path: &Path) -> Result<Self, Diagnostic> {
        Ok(Self { rows: ParquetRows::open(path)?, name: path.display().to_string() })
    }

    /// The next record; `None` after the last.
    pub(super) fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Diagnostic> {
        let Some((row, text)) = self.rows.next().transpose()? else { return Ok(None) };
        serde_json::from_slice(text).map(Some).map_err(|error| {
            let what = format!("row {row} is none of this version: {error}");
            let help = "rows are written by `compare`; write them again";
            Diagnostic::new(Location::file(&self.name), what, help)
        })
    }

    /// Passes all records to `take`. The first bad record is the error.
    pub(super) fn each<T: DeserializeOwned>(mut self, mut take: impl FnMut(T)) -> Result<(), Diagnostic> {
        while let Some(row) = self.next()? {
            take(row);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;
    use crate::aggregate::{Firing, Row};

    fn header<T: Serialize>(row: &T) -> Vec<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(row).unwrap();
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        text.lines().next().unwrap().split(',').map(str::to_owned).collect()
    }

    /// Rows of fixtures under presets: some stop, some warn, some cannot be evaluated.
    fn rows() -> (Vec<Row>, Vec<Firing>) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let paths = [root.join("fixtures/signals")];
        let (runs, _) =
            crate::reader::Corpus::open(&paths, crate::reader::ReadOptions::default()).unwrap().runs().unwrap();
        // The rules of a plain stack are independent and fire one by one.
        let plain = "[[stack]]\nname = \"plain\"\nany = [{ signal = \"steps\", at_least = 1 }, { signal = \"tokens.total\", at_least = 100 }]\n";
        let plain = crate::stack::StackFile::parse("plain.toml", plain).unwrap();
        let mut strategies = crate::catalog::strategies(&plain, &|name| unreachable!("{name}")).unwrap();
        strategies.extend(crate::catalog::all(crate::framework::FrameworkKind::Preset));
        let comparison = crate::compare::Comparison::new(&strategies, crate::verdict::Assumptions::default());
        let (mut rows, mut firings) = (Vec::new(), Vec::new());
        for run in &runs {
            let (more, fired) = comparison.rows_of(run);
            rows.extend(more);
            firings.extend(fired);
        }
        (rows, firings)
    }

    #[test]
    fn what_is_written_is_read_back_the_same() {
        let (rows, firings) = rows();
        assert!(rows.len() > 50 && firings.len() > 10, "{} {}", rows.len(), firings.len());
        let names = |columns: Vec<ColumnSpec>| columns.into_iter().map(|column| column.name).collect::<Vec<_>>();
        assert_eq!(names(Row::columns()), header(&rows[0]));
        assert_eq!(names(Firing::columns()), header(&firings[0]));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.parquet");
        write_parquet(&path, rows.iter().cloned()).unwrap();
        let mut back = Vec::new();
        SavedRows::open(&path).unwrap().each(|row: Row| back.push(row)).unwrap();
        assert_eq!(back, rows);
        let path = folder.path().join("firings.parquet");
        write_parquet(&path, firings.iter().cloned()).unwrap();
        let mut back = Vec::new();
        SavedRows::open(&path).unwrap().each(|firing: Firing| back.push(firing)).unwrap();
        assert_eq!(back, firings);
    }
}
