//! Tables and figures, each computed from rows alone.

mod choice;
pub mod figure;
mod files;
mod first;
mod further;
mod publication;
pub mod table;

pub use choice::Choice;
pub use files::{read_rows, write_atomically, write_rows};
pub use first::{Appetite, FirstTable};
pub use publication::{Manifest, ManifestStack, Publication, read_manifest};
