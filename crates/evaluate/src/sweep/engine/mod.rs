//! The engine: evaluates many stacks on runs that are read only once.
//!
//! A [`Plan`] says what to read from each run: the readings of every signal that some stack uses, at every point where
//! it is used. An [`Extract`] holds these readings for one run with everything its rows need, so a run is read once
//! for any number of stacks and limits and is then no longer needed. A [`Formula`] is a compiled stack: it finds the
//! first firing on an extract from the readings, without replaying, and yields the same row in every field.
//!
//! Whole grids take a third step. [`Runs`] turns extracts into columns; an [`Atom`] is the first firing of one
//! condition on every run, a column; [`Product`] walks all stacks that take one atom from each axis, depth first,
//! sharing the columns of a common prefix. What stops first is then a minimum, and the result of a stack is a sum of
//! whole numbers: the same for any number of threads.
//!
//! An extract cannot tell how a run would have continued after a warning, a nudge or a refusal; a stack that does more
//! than stop has no formula and goes through [`replay`](crate::replay::replay()).

mod atom;
mod extract;
mod formula;
mod kept;
mod kernel;
mod plan;
mod product;
mod runs;
mod tally;
mod walk;

pub use atom::{Atom, AxisChoice, Join};
pub use extract::Extract;
pub use formula::Formula;
pub use kept::KeptExtract;
pub use plan::{Feature, Plan};
pub use product::Product;
pub(super) use product::choices_of;
pub use runs::Runs;
pub use tally::Tally;
pub use walk::GridWalk;
