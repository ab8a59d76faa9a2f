//! Sources of runs: [`reader`] reads agent recordings in many formats, [`redact`] removes the texts from a run, and
//! [`synth`] generates runs with known ground truth from a seed.

pub(crate) use whenstop_core::{diagnostic, text, transcript};
use whenstop_json_text as json_text;

pub mod reader;
pub mod redact;
