//! Tables of runs in Parquet: each row becomes a text record, which a format then parses like any other.

mod export;
mod layout;
mod records;
mod tables;

pub(crate) use export::Export;
pub(crate) use layout::{ColumnPlan, RowDialect, by_name};
pub use records::ParquetRows;
pub(crate) use records::TableRecords;
pub(crate) use tables::TableStatistics;
pub(crate) use whenstop_parquet::ParquetTable;
pub use whenstop_parquet::{ParquetCell, ParquetKind, ParquetWriter};
