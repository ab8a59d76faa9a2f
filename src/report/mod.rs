//! Tables and figures, each computed from rows alone.

pub mod figure;
mod files;
pub mod table;

pub use files::{read_rows, write_atomically, write_rows};
