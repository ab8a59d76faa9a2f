//! Finds the stack to ship from recordings. A fixed catalogue of one-limit rules is walked from cautious to bold on
//! all tasks, under one certificate; or a short list of rules is chosen on one half of the tasks and certified on the
//! other.
//!
//! Nothing here reads a file or prints. A [`Study`] holds what the [engine](crate::sweep::engine) reads of every run, and
//! the result of every possible stop, so walks, cross-fits and draws of tasks need no replay.

mod by_class;
mod catalogue;
mod certificate;
mod choose;
mod contender;
mod held_out;
mod list;
mod question;
mod rate;
mod study;
#[cfg(test)]
mod tests;
mod walk;

pub use by_class::{ClassLimit, TunedClass, TunedClasses, tune_classes};
pub use catalogue::{BUDGETS, Family, catalogue, pool};
pub use certificate::{Shipped, grounds, names_in};
pub use choose::{Choice, Refusal, Tuned};
pub use contender::{Contender, Contenders};
pub use held_out::{Chosen, FOLDS, HeldOut, folds};

pub use list::{Learned, Learner, ListOptions, RuleList, tasks_for_list};
pub use question::{TuneQuestion, promise};
pub use study::{
    Choosing, EndIx, Fate, KeptReadings, LimitIx, Stratum, Study, StudyRun, TaskRuns, TaskTotals, UNREADABLE,
    names_too_few_tasks,
};
pub use walk::{Appetite, Tuner, Walk, clean_tasks_needed};
