//! `whenstop` answers one question about recorded AI-agent runs: *when should it have stopped?*
//!
//! ```text
//! recorded file -> reader -> run -> signals -> strategy -> decisions -> verdict -> rows -> tables, figures
//! ```
//!
//! The modules in reading order: [`transcript`] is the recorded run; [`decision`] is what a strategy
//! says at a point of it; [`signal`] holds the numbers rules watch.
//!
//! The lower half lives in crates of its own: `whenstop-core`, `whenstop-readers` and `whenstop-frameworks`.

pub use whenstop_core::{
    bailout, decision, diagnostic, effect, judge, replay, rule, signal, stack, text, transcript, verdict,
};
pub use whenstop_frameworks::{catalog, conformance, preset, python, system};
pub use whenstop_readers::{reader, redact, synth};

pub mod aggregate;
pub mod cli;
pub mod compare;
pub mod explain;
pub mod report;
pub mod snapshot;
pub mod stats;
pub mod sweep;
