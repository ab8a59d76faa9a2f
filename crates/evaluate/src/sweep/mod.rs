//! Tries many limits at once: grids of settings, the [`engine`] (computes first firings instead of replaying, with the
//! same results), the search through a grid file, and the split of the tasks into a part to choose on and another.

mod candidates;
pub mod engine;
mod grid_file;
mod limits;
mod parts;
mod question;
mod search;

pub use candidates::Candidates;
pub use grid_file::{Combine, GridAxis, GridFile, GridKind, SettingsAxis, WideGrid, WrittenChoice, shown};
pub use limits::{Axis, limits, stacks_of};
pub use parts::Split;
pub use question::GridQuestion;
pub use search::{Find, Objective, Search};
