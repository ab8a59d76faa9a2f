//! The stop rules that agent frameworks ship: [`system`] holds the five seed systems, [`preset`] the rules of other
//! frameworks, [`catalog`] the names of them all; [`host`] is what their configurations can hold, [`export`] writes a stack in them; [`python`] what Python does where
//! a framework written in it depends on it; [`conformance`] holds them against the originals' own answers.

#[cfg(test)]
pub(crate) use whenstop_core::replay;
pub(crate) use whenstop_core::{bailout, decision, diagnostic, judge, rule, signal, stack, text, transcript};
pub(crate) use whenstop_readers::reader;
#[cfg(test)]
pub(crate) use whenstop_readers::redact;

pub mod catalog;
pub mod conformance;
pub mod export;
pub mod framework;
pub mod host;
pub mod preset;
pub mod python;
pub mod system;
