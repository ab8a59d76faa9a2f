//! Closed lists of words in the files that describe frameworks: a wrong word is refused with the nearest right one.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::diagnostic::nearest;
use crate::transcript::Moment;

/// A closed list of words, each with what it stands for.
pub(crate) trait Keyword: Copy + 'static {
    /// What the words name, for messages: `action`.
    const WHAT: &'static str;
    /// The words.
    const ALL: &'static [(&'static str, Self)];
}

/// Reads one of the words; the error names the nearest one.
pub(crate) fn word<'de, W: Keyword, D: Deserializer<'de>>(deserializer: D) -> Result<W, D::Error> {
    one_of(W::WHAT, W::ALL, deserializer)
}

/// Reads a moment by its name; the error names the nearest one.
pub(crate) fn moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Moment, D::Error> {
    one_of("moment", &Moment::ALL.map(|moment| (moment.name(), moment)), deserializer)
}

fn one_of<'de, W: Copy, D: Deserializer<'de>>(what: &str, all: &[(&str, W)], deserializer: D) -> Result<W, D::Error> {
    let asked = String::deserialize(deserializer)?;
    for (word, value) in all {
        if *word == asked {
            return Ok(*value);
        }
    }
    let known: Vec<&str> = all.iter().map(|(word, _)| *word).collect();
    let near = match nearest(&asked, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? "),
        None => String::new(),
    };
    Err(D::Error::custom(format!("unknown {what} `{asked}`; {near}known: {}", known.join(", "))))
}
