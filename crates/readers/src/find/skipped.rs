//! Files that are not read as recordings.

use serde::Serialize;

/// A file that was not read as a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The file's path.
    pub path: String,
    /// Why it was not read.
    pub reason: String,
    /// True if it should have been read; false if it is not a recording.
    pub unreadable: bool,
    /// How many hidden names this stands for that were not looked into; 0 for a file that was.
    pub hidden: u64,
    /// How it could be read, in a few lines, if it is a log of no known format.
    #[serde(skip)]
    pub advice: Option<String>,
    /// True if it is named or begins like a recording, and no format recognises it.
    pub looks_recorded: bool,
    /// What of it a file that is read holds too.
    pub twin: Option<Twin>,
}

/// What a file has in common with one that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Twin {
    /// Every byte.
    Bytes,
    /// The session, which another program recorded.
    Session,
}
