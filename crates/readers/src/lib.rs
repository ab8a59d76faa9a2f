//! Recordings of AI agents, in many formats, as runs: [`reader`] is what other crates see of the reading, and [`redact`]
//! removes the texts from a run.
//!
//! The modules below stand in the order in which they may use one another: each uses only those above it. A test of
//! `tests/it/architecture.rs` reads this order.

pub(crate) use whenstop_core::{diagnostic, text, transcript};
use whenstop_json_text as json_text;

mod value;

mod open;

mod find;

mod label;

mod price;

mod record;

mod read;

mod survey;

mod corpus;

pub mod reader;

pub mod redact;
