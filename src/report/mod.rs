//! Tables and figures, each computed from rows only.

mod configuration;
mod csv_style;
mod evidence;
pub mod figure;
mod files;
mod folder;
mod found;
mod latex;
mod made;
mod markdown;
mod owned;
mod page;
mod part;
mod publication;
mod render;
mod row_file;
mod saved;
pub mod schema;

pub use configuration::Configuration;
pub use csv_style::CsvStyle;
pub use files::{read_rows, write_atomically, write_rows, write_text};
pub(crate) use folder::cannot_write;
pub use folder::{INCOMPLETE, Lock, refuse_half_written, write_folder};
pub use found::{ReadingFindings, unreadable};
pub use latex::latex_notes;
pub use made::{MadeFile, Provenance};
pub use markdown::{bullets, code, page, prose};
pub use owned::{reads_it_too, refuse_foreign};
pub use page::PlainPage;
pub use part::{
    Division, Input, Merge, PART, PartManifest, PartSearch, PartWriter, SearchQuestion, SearchedRun, Shard, Shippable,
    ShippableSettings, write_part_folder,
};
pub use publication::{FolderFormat, Publication};
pub use render::plain_number;
pub use row_file::{RowFormat, RowWriter, parquet_cell};
pub use saved::{Manifest, ManifestStack, Saved, read_saved};
