//! Tables and figures, each computed from rows alone.

mod choice;
mod csv_style;
pub mod figure;
mod files;
mod first;
mod folder;
mod followed;
mod further;
mod markdown;
mod publication;
pub mod table;

pub use choice::Choice;
pub use csv_style::CsvStyle;
pub use files::{read_rows, write_atomically, write_rows};
pub use first::{Appetite, FirstTable};
pub use folder::{INCOMPLETE, Lock, refuse_half_written, write_folder};
pub use followed::FollowedReport;
pub use markdown::page;
pub use publication::{Manifest, ManifestStack, Publication, Saved, read_saved};
