//! What is answered: which stack to ship, how the others stand, what is said below, and the tables behind it. All from
//! rows, and all as data; `words` alone turns it into English.

mod choice;
mod first;
mod followed;
mod headline;
pub mod known;
mod note;
pub mod tables;
mod verdict;
pub mod words;

pub use choice::Choice;
pub use first::{Appetite, Field, FirstTable, Tuned, lacks};
pub use followed::{Agreeing, FollowedReport, FollowedVerdict, Pays, StackStops};
pub use headline::Headline;
pub use note::{Note, RoughNumber, TailOfGroup, further, without_tasks};
pub use verdict::{ChosenOn, CompareVerdict, Conclusion, Fault, NotWorth, Promise, Saved, Ship, Tie, Tied, WhyNot};
