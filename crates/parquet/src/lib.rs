//! Tables in Parquet: rows are read as JSON, a few at a time, and rows are written.
//!
//! Only the needed columns are read, so memory is bounded by the pages of one row group. A damaged row group loses only
//! its own rows. The library checks much of its input but panics on some errors; panics are caught here and reported
//! like other damage.
//!
//! Without the feature `parquet` the library is left out: every table is refused, to read and to write, with the same
//! error.

#[cfg(not(feature = "parquet"))]
mod absent;
#[cfg(feature = "parquet")]
mod assemble;
mod cell;
mod damage;
#[cfg(feature = "parquet")]
mod depth;
#[cfg(feature = "parquet")]
mod guarded;
#[cfg(feature = "parquet")]
mod leaf;
mod object;
#[cfg(feature = "parquet")]
mod table;
#[cfg(feature = "parquet")]
mod write;

#[cfg(not(feature = "parquet"))]
pub use absent::{Absent as ParquetTable, Absent as ParquetWriter, Absent as RowField, Absent as TableRows};
#[cfg(feature = "parquet")]
pub use assemble::RowField;
pub use cell::{ParquetCell, ParquetKind};
pub use damage::{LostRows, TornColumn};
pub use object::{begin_field, write_object};
#[cfg(feature = "parquet")]
pub use table::{ParquetTable, TableRows};
#[cfg(feature = "parquet")]
pub use write::ParquetWriter;
