//! What stands for Parquet in a build without the feature `parquet`: every table is refused, in the same words.

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::layout::ColumnPlan;
use super::{ParquetCell, ParquetKind};
use crate::diagnostic::{Diagnostic, Location};
use crate::open::records::Item;

/// Why it cannot be read or written.
const ABSENT: &str = "this whenstop was built without Parquet";
/// What to do.
const BUILD: &str = "install it with its default features, or write JSON lines or CSV instead";

fn refused() -> String {
    format!("{ABSENT}: {BUILD}")
}

/// There is none.
pub(crate) struct AbsentTable(Infallible);

impl AbsentTable {
    pub(crate) fn open(_: &Path, _: &str) -> Result<Self, String> {
        Err(refused())
    }

    pub(crate) fn columns(&self) -> Vec<String> {
        match self.0 {}
    }
}

/// There are none.
pub(crate) struct AbsentRecords(Infallible);

impl AbsentRecords {
    #[expect(clippy::needless_pass_by_value, reason = "the real one keeps the table")]
    pub(crate) fn new(table: AbsentTable, _: ColumnPlan, _: u64) -> Self {
        match table.0 {}
    }

    pub(crate) fn next(&mut self) -> Option<Item> {
        match self.0 {}
    }
}

/// There is none.
pub(crate) struct AbsentExport(Infallible);

impl AbsentExport {
    pub(crate) fn open(_: Vec<(PathBuf, String)>, _: u64) -> Result<Self, String> {
        Err(refused())
    }

    pub(crate) fn next(&mut self) -> Option<Item> {
        match self.0 {}
    }
}

/// The rows of a table, which this build cannot read.
pub struct AbsentRows(Infallible);

impl AbsentRows {
    /// The error.
    pub fn open(path: &Path) -> Result<Self, Diagnostic> {
        Err(Diagnostic::new(Location::file(path.display().to_string()), ABSENT, BUILD))
    }

    /// Never called.
    #[expect(clippy::should_implement_trait, reason = "as with Parquet")]
    pub fn next(&mut self) -> Option<Result<(u64, &[u8]), Diagnostic>> {
        match self.0 {}
    }
}

/// A table that this build cannot write.
pub struct AbsentWriter(Infallible);

impl AbsentWriter {
    /// The error.
    pub fn to_file(_: File, _: &[(&str, ParquetKind)]) -> io::Result<Self> {
        Err(io::Error::other(refused()))
    }

    /// The error.
    pub fn in_memory(_: &[(&str, ParquetKind)]) -> io::Result<Self> {
        Err(io::Error::other(refused()))
    }

    /// Never called.
    pub fn row<'c>(&mut self, _: impl IntoIterator<Item = ParquetCell<'c>>) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called.
    pub fn close(self) -> io::Result<Vec<u8>> {
        match self.0 {}
    }
}
