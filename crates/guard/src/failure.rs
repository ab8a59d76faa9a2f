//! The ways in which a guard can fail, in words.

use std::fmt;
use std::time::Duration;

use whenstop_core::diagnostic::one_line;

/// After waiting this long in all for late answers, a guard is given up.
pub(super) const MOST_WAITED: Duration = Duration::from_mins(10);

/// Why a guard gave no valid answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardFailure {
    /// It could not be started.
    NotStarted(String),
    /// It gave no answer within this many seconds.
    Silent(u32),
    /// Its answers came late but in time, and took too long in all.
    Late,
    /// It ended, with this status and these last words on stderr.
    Ended {
        /// How it ended.
        status: String,
        /// The last line it wrote to stderr, or nothing.
        last_words: String,
    },
    /// It raised this error, in a program that embeds whenstop.
    Raised(String),
    /// Its answer is longer than this many bytes.
    Long(usize),
    /// It wrote this line, which is not an answer, for this reason.
    Foreign {
        /// The beginning of the line.
        line: String,
        /// What is wrong with it.
        why: String,
    },
    /// It answered a point that it was not asked about: a second answer, or one that comes too late.
    Stray(String),
    /// It speaks another version of the protocol.
    Version(String),
    /// Another process of it says something else about itself: this, and the first one that.
    Differs(String, String),
    /// It failed on too many runs and is not asked any more.
    GivenUp,
}

impl GuardFailure {
    /// The kind of [`Self::GivenUp`].
    pub(super) const GIVEN_UP: &str = "given up";
    /// The kind of [`Self::Silent`].
    pub(super) const SILENT: &str = "silent";
    /// The kind of [`Self::Differs`].
    pub(super) const DIFFERS: &str = "differs";

    /// A line that is not an answer.
    pub(super) fn foreign(line: &[u8], why: impl fmt::Display) -> Self {
        Self::Foreign { line: beginning(&String::from_utf8_lossy(line)), why: beginning(&why.to_string()) }
    }

    /// Refuses a line that is no JSON object, in words that do not depend on how objects are read.
    pub(super) fn unless_object(line: &[u8]) -> Result<(), Self> {
        let begins = line.iter().find(|byte| !byte.is_ascii_whitespace());
        if begins == Some(&b'{') { Ok(()) } else { Err(Self::foreign(line, "an answer is one JSON object")) }
    }

    /// A line that answers no question.
    pub(super) fn stray(line: &[u8]) -> Self {
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Self::Stray(beginning(&String::from_utf8_lossy(line)))
    }

    /// True if it ended by itself, without an error.
    pub(super) fn is_clean_end(&self) -> bool {
        matches!(self, Self::Ended { status, .. } if status == "exit status 0")
    }

    /// A word for the kind of failure: failures of one kind are reported together.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::NotStarted(_) => "not started",
            Self::Silent(_) => Self::SILENT,
            Self::Late => "late",
            Self::Ended { .. } => "ended",
            Self::Raised(_) => "raised",
            Self::Long(_) => "long",
            Self::Foreign { .. } => "foreign",
            Self::Stray(_) => "stray",
            Self::Version(_) => "version",
            Self::Differs(..) => Self::DIFFERS,
            Self::GivenUp => Self::GIVEN_UP,
        }
    }

    /// How to mend it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotStarted(_) => "name a program that can be run, with its arguments",
            Self::Silent(_) => {
                "answer every line that has an `id`, and flush stdout; `time_limit` in a stack file allows more seconds"
            }
            Self::Late => "answer within a second, or ask it about fewer runs",
            Self::Ended { .. } => {
                "run the command by itself to see why; `whenstop rules test` asks it about the bundled runs"
            }
            Self::Raised(_) => "call it by itself to see where the error comes from",
            Self::Long(_) | Self::Foreign { .. } => {
                "write only answers to stdout, one line of JSON each, and logs to stderr; `whenstop schema guard` describes them"
            }
            Self::Stray(_) => "write one answer to each line that has an `id`, with that `id`",
            Self::Version(_) => "this whenstop speaks version 1; `whenstop rules new` writes an example",
            Self::Differs(..) => "answer the handshake alike in every process: one runs for each thread",
            Self::GivenUp => "mend the failure named above first",
        }
    }
}

impl fmt::Display for GuardFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(why) => write!(f, "cannot be started: {why}"),
            Self::Silent(seconds) => write!(f, "gave no answer within {seconds} s"),
            Self::Late => write!(f, "took {} minutes for late answers", MOST_WAITED.as_secs() / 60),
            Self::Ended { status, last_words } if last_words.is_empty() => write!(f, "ended ({status})"),
            Self::Ended { status, last_words } => write!(f, "ended ({status}) and wrote to stderr `{last_words}`"),
            Self::Raised(error) => write!(f, "raised `{}`", beginning(error)),
            Self::Long(most) => write!(f, "answered with more than {most} bytes"),
            Self::Foreign { line, why } => write!(f, "wrote `{line}`, which is not an answer: {why}"),
            Self::Stray(line) => {
                write!(f, "wrote `{line}`, which answers something it was not asked (twice, or too late?)")
            }
            Self::Version(version) => write!(f, "speaks version {version} of the protocol"),
            Self::Differs(now, first) => {
                write!(f, "shook hands with `{now}` in one process and with `{first}` in another")
            }
            Self::GivenUp => f.write_str("failed on too many runs and was not asked any more"),
        }
    }
}

/// The beginning of a text, on one line.
pub(super) fn beginning(text: &str) -> String {
    const SHOWN: usize = 100;
    let mut shown: String = text.trim().chars().take(SHOWN).collect();
    if text.trim().chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    one_line(&shown).into_owned()
}
