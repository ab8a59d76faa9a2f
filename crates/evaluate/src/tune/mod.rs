//! Finds the stack to ship from recordings. A fixed catalogue of one-limit rules is walked from cautious to bold on
//! all tasks, under one certificate; or a short list of rules, or a stack of the user's own grid, is chosen on one
//! half of the tasks and certified on the other.
//!
//! Nothing here reads a file or prints. A [`Study`] holds the result of every possible stop of every run, so walks,
//! cross-fits and draws of tasks need no replay.

mod catalogue;
mod certificate;
mod choose;
mod contender;
mod grid;
mod held_out;
mod list;
mod study;
#[cfg(test)]
mod tests;
mod track;
mod walk;

pub use catalogue::{BUDGETS, Family, catalogue, pool};
pub use certificate::{Shipped, fingerprint, grounds};
pub use choose::{Choice, Refusal, Tuned};
pub use contender::{Contender, best_contender, held_out_contender};
pub use grid::{GridChoice, GridRefusal, GridStudy, readable};
pub use held_out::{FOLDS, HeldOut, Tuner, folds};

pub use list::{CROSS_FIT_PARTS, Learned, Learner, ListOptions, RuleList, tasks_for_list};
pub use study::{Effect, Effects, Stratum, Study, TaskRuns};
pub use track::{End, Track, Watched};
pub use walk::{Appetite, Bound, Walk, clean_tasks_needed};
