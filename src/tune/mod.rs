//! From recordings to the stack to ship: a fixed catalogue of one-limit rules is walked from cautious to bold on all tasks,
//! under one certificate; a short list of rules, or a stack of one's own grid, is chosen on one half of the tasks and
//! certified on the other.
//!
//! Nothing here reads a file or prints. A [`Study`] holds what every stop of every run would come to, so that walks,
//! cross-fits and draws of tasks replay nothing again.

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
