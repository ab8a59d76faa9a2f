//! Tables and figures, each computed from rows alone.

mod choice;
mod csv_style;
mod evidence;
pub mod figure;
mod files;
mod first;
mod folder;
mod further;
mod markdown;
mod page;
mod publication;
pub mod table;

pub use choice::Choice;
pub use csv_style::CsvStyle;
pub use files::{read_rows, write_atomically, write_rows};
pub use first::{Appetite, FirstTable};
pub use folder::{INCOMPLETE, Lock, refuse_half_written, write_folder};
pub use markdown::{code, page};
pub use publication::{Manifest, ManifestStack, Publication, Saved, read_saved};
