//! Guards: stop rules in other programs and languages. A guard is asked for one answer at every point of a run, and is
//! a strategy like any other.
//!
//! [`Guard`] is the strategy. It talks to the guard over a [`Link`]: a process ([`process`]), or a function of a program
//! that embeds whenstop. Both exchange the same lines of JSON, described in `schema/guard.json` ([`SCHEMA`]).
//!
//! What a guard can know is decided here: the events up to its point, without grades, tasks and anything that it did not
//! say it reads. The next event is sent only after its answer.

mod answer;
mod failure;
mod hello;
mod ledger;
mod lines;
#[cfg(unix)]
pub mod process;
mod strategy;
mod watch;

pub use answer::AnswerKind;
pub use failure::GuardFailure;
pub use hello::{GuardInput, Hello, RuleHello};
pub use lines::EventWriter;
pub use strategy::{Guard, Link, Opener};

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;

/// The JSON Schema of the lines in both directions.
pub const SCHEMA: &str = include_str!("schema/guard.json");

/// A working guard in each language: its name, the name of its file, and its text.
pub const EXAMPLES: [(&str, &str, &str); 3] = [
    ("python", "guard.py", include_str!("../examples/guard.py")),
    ("typescript", "guard.ts", include_str!("../examples/guard.ts")),
    ("rust", "guard.rs", include_str!("../examples/guard.rs")),
];

/// The same, of guards that answer with a number.
pub const NUMBER_EXAMPLES: [(&str, &str, &str); 3] = [
    ("python", "score.py", include_str!("../examples/score.py")),
    ("typescript", "score.ts", include_str!("../examples/score.ts")),
    ("rust", "score.rs", include_str!("../examples/score.rs")),
];

/// Ends every guard that runs as a process, and starts no more. For a program that is about to end.
pub fn end_all() {
    #[cfg(unix)]
    process::end_all();
}
