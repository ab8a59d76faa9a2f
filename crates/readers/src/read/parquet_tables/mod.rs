//! Tables of runs in Parquet: each row becomes a text record, which a format then parses like any other.
//!
//! Only the needed columns are read, a few rows at a time, so memory is bounded by the pages of one row group. A
//! damaged row group loses only its own rows. The library checks much of its input but panics on some errors; panics
//! are caught here and reported like other damage.
//!
//! Without the feature `parquet` the library is left out, and every table is refused with the same error ([`absent`]).

#[cfg(not(feature = "parquet"))]
mod absent;
#[cfg(feature = "parquet")]
mod assemble;
mod cell;
#[cfg(feature = "parquet")]
mod depth;
#[cfg(feature = "parquet")]
mod export;
#[cfg(feature = "parquet")]
mod guarded;
mod layout;
#[cfg(feature = "parquet")]
mod leaf;
#[cfg(feature = "parquet")]
mod table;
mod tables;
#[cfg(feature = "parquet")]
mod write;

#[cfg(not(feature = "parquet"))]
pub(crate) use absent::{AbsentExport as Export, AbsentRecords as TableRecords, AbsentTable as ParquetTable};
#[cfg(not(feature = "parquet"))]
pub use absent::{AbsentRows as ParquetRows, AbsentWriter as ParquetWriter};
pub use cell::{ParquetCell, ParquetKind};
#[cfg(feature = "parquet")]
pub(crate) use export::Export;
pub(crate) use layout::{ColumnPlan, RowDialect, by_name};
#[cfg(feature = "parquet")]
pub use table::ParquetRows;
#[cfg(feature = "parquet")]
pub(crate) use table::{ParquetTable, TableRecords};
pub(crate) use tables::TableStatistics;
#[cfg(feature = "parquet")]
pub use write::ParquetWriter;
