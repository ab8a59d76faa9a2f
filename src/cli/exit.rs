//! All exit codes, with one sentence each. The code follows from what was printed.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramExit {
    /// It did what it was asked to.
    Done = 0,
    /// A defect of whenstop itself.
    Internal = 1,
    /// The arguments or a stack file are wrong.
    Usage = 2,
    /// The recordings, labels or rows cannot be read, or the output cannot be written completely.
    BadInput = 3,
    /// Nothing matched: no recording, no run, no stack.
    NothingMatched = 4,
    /// A gate failed, stop points changed, cases disagreed, or nothing could be certified or is worth shipping.
    GateFailed = 100,
    /// Interrupted by Ctrl-C; what was finished is written.
    Interrupted = 130,
}

impl ProgramExit {
    /// The list shown by `--help`.
    pub const LIST: &'static str = "Exit codes: 0 done; 1 a defect of whenstop; 2 wrong arguments or stack file; \
        3 unreadable recordings, labels or rows, or output that cannot be written; 4 nothing matched; 100 a gate failed, stop points changed, cases disagreed, or \
        nothing could be certified or is worth shipping (`tune`); 130 interrupted, and what was finished is written.";
}

impl From<ProgramExit> for ExitCode {
    fn from(exit: ProgramExit) -> Self {
        Self::from(exit as u8)
    }
}
