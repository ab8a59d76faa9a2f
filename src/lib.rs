//! `whenstop` answers one question about recorded AI-agent runs: *when should it have stopped?*
//!
//! ```text
//! recorded file -> reader -> run -> signals -> strategy -> decisions -> verdict -> rows -> tables, figures
//! ```
//!
//! The modules in reading order: [`transcript`] is the recorded run; [`decision`] is what a strategy
//! says at a point of it; [`signal`] holds the numbers rules watch.

pub mod aggregate;
pub mod bailout;
pub mod catalog;
pub mod cli;
pub mod compare;
pub mod conformance;
pub mod decision;
pub mod diagnostic;
pub mod explain;
mod json_text;
pub mod judge;
pub mod preset;
pub mod python;
pub mod reader;
pub mod redact;
pub mod replay;
pub mod report;
pub mod rule;
pub mod signal;
pub mod snapshot;
pub mod stack;
pub mod stats;
pub mod sweep;
pub mod synth;
pub mod system;
pub mod text;
pub mod transcript;
pub mod verdict;
