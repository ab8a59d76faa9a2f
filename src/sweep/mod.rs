//! Many limits at once: grids of settings, the second path to the same answer (first firings instead of a fold), and
//! what a sweep comes to: rates, savings and differences per setting, the choice on one part of the tasks and its
//! report on the other, the certificate.

mod first_fire;
mod grid;

pub use first_fire::Climb;
pub use grid::{Axis, Grid, Setting, limits};
