//! The engine: many stacks on runs that are read once.
//!
//! A [`Plan`] says what is to be read of each run: the readings of every signal that some stack looks at, at every point
//! it is looked at. An [`Extract`] holds that of one run, beside all that its rows need, so a run is read once for any
//! number of stacks and limits and is then no longer needed. A [`Formula`] is a stack taken apart: where it first fires on
//! an extract follows from the readings, without the fold, and comes to the same in every field of the row.
//!
//! Whole grids take a third step. [`Runs`] turns extracts into columns; an [`Atom`] is the first firing of one condition on
//! every run, a column; [`Product`] walks all stacks that take one atom of each axis, depth first, with the columns of a
//! common beginning shared. What stops first is then a least element, and what a stack comes to is a sum of whole numbers:
//! the same for any number of threads.
//!
//! What an extract does not tell is how a run would have gone on after a warning, a nudge or a refusal; a stack that does
//! more than stop has no formula and goes through [`replay`](crate::replay::replay()).

mod atom;
mod extract;
mod formula;
mod kept;
mod kernel;
mod plan;
mod product;
mod runs;
mod tally;
mod truth;

pub use atom::{Atom, Choice, Join};
pub use extract::Extract;
pub use formula::Formula;
pub use plan::{Feature, Plan};
pub use product::{Product, Walk};
pub use runs::Runs;
pub use tally::Tally;
