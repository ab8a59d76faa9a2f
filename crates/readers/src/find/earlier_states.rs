//! Detects recordings that a later file contains completely: states of one conversation, checkpoints of one session,
//! and two files about one task. They count once, through the most complete file.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::find::source::InputFile;
use crate::transcript::Instant;
use crate::value::time;

/// Bytes read of a file to find its first time, and of its metadata.
const HEAD: u64 = 1 << 20;
/// How far apart the first times of two files about one task may be, in milliseconds.
const APART: i64 = 60_000;

/// Whether both files begin at about the same time.
pub(crate) fn is_same_task(one: &Path, other: &Path) -> bool {
    let (Some(one), Some(other)) = (first_time(one), first_time(other)) else { return false };
    one.since(other).0.abs() <= APART
}

/// The first `ts` of a file, in milliseconds. It may come after its message, so the whole head is searched.
fn first_time(path: &Path) -> Option<Instant> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let (_, rest) = head.split_once("\"ts\"")?;
    let number = rest.trim_start_matches([':', ' ']);
    let end = number.find(|c: char| !c.is_ascii_digit())?;
    time::instant(&number[..end])
}

/// The latest file of each conversation and each session.
#[derive(Debug)]
pub(crate) struct Grown<'s> {
    conversations: HashMap<(PathBuf, &'s str), (f64, &'s InputFile)>,
    sessions: HashMap<String, (Instant, &'s InputFile)>,
}

impl<'s> Grown<'s> {
    /// Examines all files of a corpus.
    pub(crate) fn from_files(files: &'s [InputFile]) -> Self {
        let mut grown = Self { conversations: HashMap::new(), sessions: HashMap::new() };
        for file in files {
            if let Some((name, time)) = timed(&file.name.stem) {
                let latest = grown.conversations.entry((file.name.folder.clone(), name)).or_insert((time, file));
                if time > latest.0 {
                    *latest = (time, file);
                }
            }
            if let Some((session, time)) = checkpoint(file) {
                let latest = grown.sessions.entry(session).or_insert((time, file));
                if (time, &file.name.path) > (latest.0, &latest.1.name.path) {
                    *latest = (time, file);
                }
            }
        }
        grown
    }

    /// A later file of the same conversation in the same folder. The names are equal except for the time at their end.
    pub(crate) fn later_conversation(&self, source: &InputFile) -> Option<&'s InputFile> {
        let (name, _) = timed(&source.name.stem)?;
        let (_, latest) = self.conversations.get(&(source.name.folder.clone(), name))?;
        if latest.path() == source.path() { None } else { Some(latest) }
    }

    /// The latest checkpoint of the same session, if this is an earlier one. A checkpoint is a `full.jsonl` beside a
    /// `metadata.json` that names the session.
    pub(crate) fn later_checkpoint(&self, source: &InputFile) -> Option<&'s InputFile> {
        let (session, _) = checkpoint(source)?;
        let (_, latest) = self.sessions.get(&session)?;
        if latest.path() == source.path() { None } else { Some(latest) }
    }
}

/// Splits `openai__gpt-4o-1751651776.58` into the name and the time.
fn timed(stem: &str) -> Option<(&str, f64)> {
    let (name, time) = stem.rsplit_once('-')?;
    let time: f64 = time.parse().ok()?;
    if time > 1e9 { Some((name, time)) } else { None }
}

/// The session of a checkpoint and when it was taken.
fn checkpoint(source: &InputFile) -> Option<(String, Instant)> {
    if source.file_name() != "full.jsonl" {
        return None;
    }
    let mut text = String::new();
    let beside = source.path().parent()?.join("metadata.json");
    File::open(beside).ok()?.take(HEAD).read_to_string(&mut text).ok()?;
    let metadata: Value = serde_json::from_str(&text).ok()?;
    metadata.get("checkpoint_id")?;
    let time = serde_json::to_string(metadata.get("created_at")?).ok()?;
    Some((metadata.get("session_id")?.as_str()?.to_owned(), time::instant(time.as_str())?))
}
