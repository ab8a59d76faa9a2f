//! The effect of a tool call on the world: it changes something, hands work over, checks it, or only looks; and what of
//! it followed a stop.
//!
//! What programs, sub-commands, tools and verbs do stands in `tables.toml`. Shell commands are parsed, and code passed
//! to an interpreter is searched for writes. If the call does not show its effect, the effect is [`Effect::Unknown`],
//! never a guess. [`Work`] counts the effects that came after a stop. Outcomes are not considered.
//!
//! The modules below stand in the order in which they may use one another: each uses only those above it. A test of
//! `tests/it/architecture.rs` reads this order.

pub(crate) use whenstop_core::{text, transcript, verdict};

mod path;

mod parts;

mod words;

mod tables;

mod verbs;

mod sql;

mod code;

mod sed_awk;

mod scripts;

mod git;

mod packages;

mod cloud;

mod command;

mod powershell;

mod shell;

mod arguments;

mod tools;

mod reader;

mod followed;

mod marks;

mod manual;

#[cfg(test)]
mod tests;

pub use followed::{CountBounds, Followed, TailTokens, Work};
#[doc(hidden)]
pub use manual::manual;
pub use marks::{RoundMark, RoundMarks};
#[doc(hidden)]
pub use parts::CallEffect;
pub use reader::EffectReader;
pub use whenstop_core::effect::{Effect, EffectTable};
