//! The generic machine: caps over counters, as data.
//!
//! Many frameworks have no other rules than "so many of these, looked at then". Such a preset is one
//! TOML file: what is counted, when it is looked at, the comparator, the limit's parameter and its off
//! value, what is done, and what starts a run of the framework and ends it.

mod counts;
mod decimal;
mod file;
mod machine;
mod plan;

pub use file::CapsFile;
pub(in crate::preset) use file::case;
