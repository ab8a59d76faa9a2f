//! What stop rules would have done to recorded runs, and how certain that is.
//!
//! [`compare`] replays runs under strategies and judges each stop; [`aggregate`] keeps the results as rows and sums them;
//! [`stats`] has the intervals and tests. [`sweep`] evaluates many limits at once and [`tune`] chooses the rule to ship;
//! [`explain`] shows one run step by step. This crate takes runs and returns values: it reads no files and prints nothing.

pub(crate) use whenstop_core::{decision, diagnostic, replay, rule, signal, stack, transcript, verdict};
pub(crate) use whenstop_effects as effects;

pub mod aggregate;
pub mod compare;
pub mod explain;
pub mod stats;
pub mod sweep;
pub mod tune;
