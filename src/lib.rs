//! `whenstop` answers one question about recorded AI-agent runs: *when should it have stopped?*
//!
//! ```text
//! recorded file -> reader -> run -> signals -> strategy -> decisions -> verdict -> rows -> tables, figures
//! ```
//!
//! To read recordings, replay them under stop strategies and sum up what came of it:
//!
//! ```
//! use whenstop::aggregate::{by_stack, summarise};
//! use whenstop::catalog;
//! use whenstop::compare::{Evaluator, EvaluationOptions};
//! use whenstop::reader::{Corpus, ReadOptions};
//! use whenstop::stack::StackFile;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let file = StackFile::parse(
//!     "my.toml",
//!     r#"
//!     [[stack]]
//!     name = "loops"
//!     any = [{ signal = "call_result.streak", at_least = 3 }]
//!     "#,
//! )?;
//! let strategies = catalog::strategies(&file, &|name| unreachable!("{name} is not asked for"))?;
//! let evaluator = Evaluator::new(&strategies, EvaluationOptions::default());
//!
//! // Any format, detected from the content; runs are replayed on all threads and returned in the order of the files.
//! let corpus = Corpus::open(&["traces/verdicts".into()], ReadOptions::default())?;
//! let mut gathered = evaluator.gather();
//! corpus.process(|run| evaluator.evaluate(&run), |of_run| gathered.take(of_run))?;
//!
//! let evaluation = gathered.finish();
//! for summary in summarise(&by_stack(&evaluation.rows), None) {
//!     println!("{}: {} of {} runs stopped early", summary.stack, summary.stops(), summary.runs);
//!     # assert_eq!(summary.runs, 9);
//!     # assert!(summary.stops() <= summary.runs);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The modules in reading order: [`reader`] turns recordings into runs ([`transcript`]); [`stack`], [`system`] and
//! [`preset`] are strategies, [`catalog`] finds them by name; [`mod@replay`] walks one run under one strategy, and
//! [`verdict`] judges the stop. [`compare`] does both for many runs and strategies and returns rows; [`aggregate`]
//! sums the rows, [`stats`] computes how certain the sums are, [`report`] writes tables and figures. [`sweep`] tries
//! many limits at once, [`snapshot`] keeps stop points for CI, [`explain`] shows one run step by step.
//!
//! Code that needs no tables is in smaller crates, which this one re-exports: `whenstop-core` (runs, rules, verdicts),
//! `whenstop-readers` and `whenstop-frameworks`. `whenstop-frames` gives rows and tables as polars data frames. The
//! command line is not part of the library.

pub use whenstop_core::{bailout, decision, diagnostic, judge, replay, rule, signal, stack, text, transcript, verdict};
pub use whenstop_effects as effects;
pub(crate) use whenstop_evaluate::parallel;
pub use whenstop_evaluate::{against, aggregate, bench, class, compare, explain, forecast, stats, sweep, tune, words};
pub use whenstop_frameworks::{catalog, export, framework, host, preset, python, system};
pub use whenstop_guard as guard;
pub use whenstop_readers::{reader, redact};

pub mod answers;
#[doc(hidden)]
pub mod cli;
pub mod project;
pub mod report;
pub mod review;
pub mod snapshot;
