//! What is answered: which stack to ship, how the others stand, and the tables behind it, from rows alone.

mod choice;
mod first;
mod followed;
pub mod further;
pub mod known;
pub mod tables;
pub mod verdict;

pub use choice::Choice;
pub use first::{Appetite, Field, FirstTable, Tuned, lacks};
pub use followed::FollowedReport;
