//! What whenstop's own development needs and the program does not: [`conformance`] holds golden tables of decisions
//! against the systems and presets that should reproduce them, and [`synth`] generates runs with known truth.

pub(crate) use whenstop_core::{bailout, decision, text, transcript};
pub(crate) use whenstop_frameworks::{catalog, framework, preset, python, system};
pub(crate) use whenstop_readers::reader;
#[cfg(test)]
pub(crate) use whenstop_readers::redact;

pub mod conformance;
pub mod synth;
