//! What stop rules would have done to recorded runs, and how certain that is.
//!
//! [`compare`] replays runs under strategies and judges each stop; [`aggregate`] keeps the results as rows and sums them;
//! [`stats`] has the intervals and tests. [`sweep`] evaluates many limits at once and [`tune`] chooses the rule to ship;
//! [`explain`] shows one run step by step. This crate takes runs and returns values: it reads no files and prints nothing.
//!
//! ```
//! use std::sync::Arc;
//!
//! use whenstop_core::{Draft, Event, Message, Outcome, Role, Run, StackFile, Strategy};
//! use whenstop_evaluate::compare::{Evaluation, EvaluationOptions};
//!
//! let text = "[[stack]]\nname = \"two\"\nany = [{ signal = \"steps\", at_least = 2 }]";
//! let stack: Arc<dyn Strategy> = StackFile::parse("stacks.toml", text)?.stack("two").expect("it is in the file");
//!
//! let events = ["a", "b", "c"].map(|text| Event::Message(Message::saying(Role::Assistant, text))).to_vec();
//! let mut draft = Draft { events, ..Draft::default() };
//! draft.grade.outcome = Outcome::Success;
//! let evaluation = Evaluation::from_runs(&[Run::new(draft)], &[stack], EvaluationOptions::default());
//!
//! let row = evaluation.rows.iter().next().expect("one run under one stack");
//! assert_eq!(row.stop_point().expect("it stops").to_string(), "1:after_tools");
//! # Ok::<(), whenstop_core::diagnostic::Diagnostics>(())
//! ```

pub(crate) use whenstop_core::{decision, diagnostic, replay, rule, signal, stack, transcript, verdict};
pub(crate) use whenstop_effects as effects;

pub mod against;
pub mod aggregate;
pub mod bench;
pub mod class;
pub mod compare;
pub mod explain;
pub mod forecast;
#[doc(hidden)]
pub mod parallel;
pub mod stats;
pub mod sweep;
pub mod tune;
pub mod words;
