//! The effect of a tool call on the world: it changes something, hands work over, checks it, or only looks; and what of
//! it followed a stop.
//!
//! Tool names (`tools.rs`) and command names (`words.rs`) have a table each; shell commands are parsed, and code passed
//! to an interpreter is searched for writes. If the call does not show its effect, the effect is [`Effect::Unknown`],
//! never a guess. [`Work`] counts the effects that came after a stop. Outcomes are not considered.

pub(crate) use whenstop_core::{transcript, verdict};

mod arguments;
mod cloud;
mod code;
mod command;
mod followed;
mod git;
mod manual;
mod marks;
mod packages;
mod parts;
mod path;
mod powershell;
mod programs;
mod reader;
mod shell;
mod sql;
mod tools;
mod verbs;
mod words;

#[cfg(test)]
mod tests;

pub use followed::{Bound, Followed, TailTokens, Work};
#[doc(hidden)]
pub use manual::manual;
pub use marks::{Mark, Marks};
#[doc(hidden)]
pub use parts::CallEffect;
pub use reader::EffectReader;
pub use whenstop_core::effect::{Effect, EffectTable};
