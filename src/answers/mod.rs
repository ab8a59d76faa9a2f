//! What is answered: which stack to ship, how the others stand, what is said below, and the tables behind it. All from
//! rows, and all as data; `words` alone turns it into English.

mod against;
mod answer;
mod choice;
mod evidence;
mod first;
mod followed;
mod headline;
pub mod known;
mod note;
pub mod tables;
mod told;
mod verdict;
pub mod words;

pub use against::{AgainstAnswer, AgainstLine, WhyNotCompared};
pub use answer::CompareAnswer;
pub use choice::SplitChoice;
pub use evidence::RunEvidence;
pub use first::{ComparedStacks, FirstTable, Tolerances, TunedAnswer, lacks};
pub use followed::{Agreeing, FollowedReport, FollowedVerdict, Pays};
pub use headline::Headline;
pub use note::{AnswerNote, TailOfGroup, further, without_tasks};
pub use told::{ToldRuns, UnderToldLimits};
pub use verdict::{ChosenOn, CompareVerdict, Conclusion, Fault, KillPromise, NotWorth, Ship, Tie, WhyNot};
