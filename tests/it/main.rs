//! The one integration binary.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::allow_attributes,
    dead_code,
    reason = "tests: stop loudly, skip loudly"
)]

mod against;
mod architecture;
mod bundled;
mod cli;
mod convert;
mod corpora;
mod docs;
mod engine;
mod export;
mod faults;
mod follow;
mod forward;
mod gate;
mod golden;
#[cfg(unix)]
mod guards;
mod hook;
mod hostile;
mod live;
mod messages;
mod mutated;
mod numbers;
mod one_answer;
mod one_number;
mod page;
mod parts;
mod presets;
mod prices;
mod python;
mod readers;
mod redact;
mod review;
mod scores;
mod scratch;
mod sessions;
mod shared;
mod signals;
mod stats;
mod sweep;
mod systems;
mod truth;
mod tune;
mod validity;
mod zoo;
