//! Tables and figures, each computed from rows alone.

pub mod figure;
mod files;
mod publication;
pub mod table;

pub use files::{read_rows, write_atomically, write_rows};
pub use publication::{Manifest, ManifestStack, Publication, read_manifest};
