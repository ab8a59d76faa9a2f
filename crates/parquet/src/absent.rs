//! What stands for Parquet in a build without the feature `parquet`: every table is refused, in the same words.

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::path::Path;

use super::{LostRows, ParquetCell, ParquetKind, TornColumn};

const REFUSED: &str = "this whenstop was built without Parquet: install it with its default features, or write JSON \
                       lines or CSV instead";

/// A table that this build can neither read nor write, its rows and their fields: there is none.
pub struct Absent(Infallible);

impl Absent {
    /// The error.
    pub fn open(_: &Path) -> Result<Self, String> {
        Err(REFUSED.to_owned())
    }

    /// The error.
    pub fn to_file(_: File, _: &[(&str, ParquetKind)]) -> io::Result<Self> {
        Err(io::Error::other(REFUSED))
    }

    /// The error.
    pub fn in_memory(_: &[(&str, ParquetKind)]) -> io::Result<Self> {
        Err(io::Error::other(REFUSED))
    }

    /// Never called.
    pub fn columns(&self) -> Vec<String> {
        match self.0 {}
    }

    /// Never called.
    pub fn file_size(&self) -> u64 {
        match self.0 {}
    }

    /// Never called.
    #[must_use]
    pub fn rows(self, _: Vec<usize>) -> Self {
        match self.0 {}
    }

    /// Never called.
    pub fn next<T>(
        &mut self,
        _: impl FnOnce(&mut [Self]) -> Result<T, TornColumn>,
    ) -> Option<Result<(u64, T), LostRows>> {
        match self.0 {}
    }

    /// Never called.
    pub fn write(&mut self, _: &mut Vec<u8>) -> Result<(), TornColumn> {
        match self.0 {}
    }

    /// Never called.
    pub fn text(&mut self, _: &mut Vec<u8>) -> Result<bool, TornColumn> {
        match self.0 {}
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
