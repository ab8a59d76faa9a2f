//! Where runs come from: [`reader`] reads the recordings of agents in many formats, [`redact`] takes the texts out of a
//! run, [`synth`] makes runs from a seed, with known truth.

pub(crate) use whenstop_core::{diagnostic, text, transcript};
use whenstop_json_text as json_text;

pub mod reader;
pub mod redact;
pub mod synth;
