//! The stop rules that agent frameworks ship.
//!
//! [`system`] holds the five seed systems and [`preset`] the other frameworks; [`catalog`] looks them all up by name.
//! [`host`] describes what their configurations can express and [`export`] writes a stack in those terms. [`python`]
//! reproduces the Python behaviour that some decisions depend on.

#[cfg(test)]
pub(crate) use whenstop_core::replay;
pub(crate) use whenstop_core::{bailout, decision, diagnostic, judge, rule, signal, stack, text, transcript};

pub mod catalog;
pub mod export;
pub mod framework;
pub mod host;
pub mod preset;
pub mod python;
pub mod system;
