//! Tables and figures, each computed from rows only.

mod cells;
mod choice;
mod configuration;
mod csv_style;
mod evidence;
pub mod figure;
mod files;
mod first;
mod folder;
mod followed;
mod found;
mod further;
pub mod known;
mod markdown;
mod page;
mod part;
mod publication;
mod row_file;
mod said;
mod saved;
pub mod table;
pub mod verdict;

pub use choice::Choice;
pub use configuration::Configuration;
pub use csv_style::CsvStyle;
pub use files::{read_rows, write_atomically, write_rows};
pub use first::{Appetite, Field, FirstTable, Tuned};
pub use folder::{INCOMPLETE, Lock, refuse_half_written, write_folder};
pub use followed::FollowedReport;
pub use found::{Found, unreadable};
pub use markdown::{code, page};
pub use part::{About, Division, Input, Merge, PART, PartManifest, PartWriter, Shard, write_part};
pub use publication::Publication;
pub use row_file::{Columns, RowFormat, RowWriter, parquet_bytes};
pub use said::Said;
pub use saved::{Manifest, ManifestStack, Saved, read_saved};
