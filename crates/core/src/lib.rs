//! The core of `whenstop`: a recorded AI-agent run, the rules that could have stopped it, and what a stop would have
//! changed.
//!
//! [`transcript`] is the recorded run; [`decision`] is what a strategy says at a point of it; [`signal`] holds the
//! numbers that rules watch; a [`stack`] is a set of rules written down in a file. [`replay`] walks one run under one
//! strategy, and [`verdict`] says what the stop would have cost or saved. No file is read here and nothing is drawn.

use whenstop_json_text as json_text;

pub mod bailout;
pub mod decision;
pub mod diagnostic;
pub mod effect;
pub mod judge;
pub mod replay;
pub mod rule;
pub mod signal;
pub mod stack;
pub mod text;
pub mod transcript;
pub mod verdict;
