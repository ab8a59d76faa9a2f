//! Runs stop rules inside a coding agent, as the agent's own hook.
//!
//! The agent starts `whenstop-hook HOST` once per event and writes the event to its standard input ([`payload`]). A
//! session's events are kept as short records of fingerprints ([`record`], [`state`]); each call appends its own, feeds
//! all records of the round to the rules ([`round`]) and answers ([`answer`]). What the tokens are is read from the
//! transcript that the agent writes ([`tail`]). [`call`] puts these together; [`host`] says what each host lets a
//! rule see.
//!
//! A failure here must never stop anybody's work: whatever goes wrong, the answer is `{}`.

pub mod answer;
pub mod call;
pub mod files;
pub mod host;
pub mod log;
pub mod payload;
mod question;
pub mod record;
pub mod recording;
pub mod round;
pub mod settings;
pub mod state;
pub mod tail;

use whenstop_core::{decision, diagnostic, replay, rule, signal, stack, transcript};
use whenstop_frameworks::{catalog, framework};
