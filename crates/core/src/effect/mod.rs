//! The effects that a tool call can have, and the table of them that a stack file may add.
//!
//! Plain data: the crate `whenstop-effects` derives the effect of a recorded call.

mod kind;
mod table;

pub use kind::Effect;
pub use table::EffectTable;
