//! The state of a session: a file of records that only grows. Every call takes its lock, reads all records, appends its
//! own and lets go. A record that was cut off is dropped at the next call; a damaged one is left out, and those behind
//! it are found again by their checksums.

use std::fs::{DirEntry, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::files;
use super::record::{FoundRecord, RecordKind, SessionRecord, id_of};

/// The first bytes of a state file: what it is, and the layout of its records.
const MAGIC: &[u8; 16] = b"whenstop-hook 1\n";
/// How many bytes of a state file are read at a time.
const PIECE: usize = 64 << 10;
/// How long a call waits for the lock: whoever holds it, the agent goes on.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// State files unused for so long are removed.
const KEPT: Duration = Duration::from_hours(14 * 24);

/// What a header record says. A new one is written when the rules change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionHeader {
    /// The host.
    pub host: String,
    /// The session's id, as the host gave it.
    pub session: String,
    /// Mixed into the fingerprints of this session.
    pub salt: u64,
    /// The fingerprint of the stack file.
    pub stacks: u64,
}

/// The locked state of a session.
#[derive(Debug)]
pub struct SessionState {
    file: File,
    /// All records, those that were appended in this call included.
    records: Vec<SessionRecord>,
    /// Where the last whole record ends.
    end: u64,
    /// True if a file of another version was put aside.
    pub replaced: bool,
    /// How many bytes between its records could not be read.
    pub damaged: u64,
}

impl SessionState {
    /// The file of a session.
    pub fn path(folder: &Path, session: &str) -> PathBuf {
        folder.join("sessions").join(format!("{:016x}", id_of(session)))
    }

    /// Opens and locks a session's state, which is created if there is none.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        if let Some(folder) = path.parent() {
            files::create_folder(folder)?;
        }
        let mut replaced = false;
        loop {
            let file = files::open(OpenOptions::new().read(true).write(true).create(true).truncate(false), path)?;
            lock(&file)?;
            // While this call waited for the lock, the file may have been put aside or removed.
            if !is_same(&file, path) {
                continue;
            }
            let mut state = Self { file, records: Vec::new(), end: 0, replaced, damaged: 0 };
            if state.load()? {
                return Ok(state);
            }
            std::fs::rename(path, path.with_extension("old"))?;
            replaced = true;
        }
    }

    /// The records of a state file, without locking it; empty for a file of another version.
    pub fn read(path: &Path) -> std::io::Result<Vec<SessionRecord>> {
        let file = files::open_to_read(path)?;
        if magic(&file)? == MAGIC { Ok(all(&file)?.records) } else { Ok(Vec::new()) }
    }

    /// Reads the file; false if it is of another version.
    fn load(&mut self) -> std::io::Result<bool> {
        let magic = magic(&self.file)?;
        // A file whose first bytes were cut off holds nothing.
        if magic.len() < MAGIC.len() && MAGIC.starts_with(&magic) {
            self.file.set_len(0)?;
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(MAGIC)?;
            self.end = MAGIC.len() as u64;
            return Ok(true);
        }
        if magic != MAGIC {
            return Ok(false);
        }
        let length = self.file.metadata()?.len();
        let all = all(&self.file)?;
        self.records = all.records;
        self.damaged = all.damaged;
        self.end = MAGIC.len() as u64 + all.whole;
        if self.end < length {
            self.file.set_len(self.end)?;
        }
        Ok(true)
    }

    /// All records, in order.
    pub fn records(&self) -> &[SessionRecord] {
        &self.records
    }

    /// A time that is not before that of the last record.
    pub fn not_before(&self, time: i64) -> i64 {
        if let Some(last) = self.records.last() { time.max(last.time) } else { time }
    }

    /// Appends records. If they cannot be written whole, none of them stays in the file; they still count in this call.
    pub fn append(&mut self, records: Vec<SessionRecord>) -> std::io::Result<()> {
        let mut bytes = Vec::new();
        for record in &records {
            record.write(&mut bytes);
        }
        self.records.extend(records);
        self.file.seek(SeekFrom::Start(self.end))?;
        if let Err(error) = self.file.write_all(&bytes).and_then(|()| self.file.flush()) {
            // What was written of them is dropped now, or else at the next call.
            let _ = self.file.set_len(self.end);
            return Err(error);
        }
        self.end += bytes.len() as u64;
        Ok(())
    }
}

/// The latest header among records.
pub fn header(records: &[SessionRecord]) -> Option<SessionHeader> {
    let header = records.iter().rev().find(|record| record.kind == RecordKind::Header)?;
    serde_json::from_slice(&header.text).ok()
}

/// True if the open file is the one at `path`.
#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let ids = |data: std::fs::Metadata| (data.dev(), data.ino());
    let (open, named) = (file.metadata().ok().map(ids), std::fs::metadata(path).ok().map(ids));
    open.is_some() && open == named
}

#[cfg(not(unix))]
fn is_same(_: &File, _: &Path) -> bool {
    true
}

/// The first bytes of a file, as many as [`MAGIC`] has.
fn magic(file: &File) -> std::io::Result<Vec<u8>> {
    let mut magic = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut magic)?;
    Ok(magic)
}

/// Takes the lock of a file, or gives up.
fn lock(file: &File) -> std::io::Result<()> {
    let nap = Duration::from_millis(1);
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if waited < LONGEST_WAIT => {
                std::thread::sleep(nap);
                waited += nap;
            }
            Err(TryLockError::WouldBlock) => return Err(std::io::Error::other("another program holds its lock")),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// What the rest of a file holds.
#[derive(Default)]
struct All {
    records: Vec<SessionRecord>,
    /// How many bytes there are up to the end of the last record.
    whole: u64,
    /// How many of them are in no record.
    damaged: u64,
}

/// The records of the rest of a file. The bytes are read in pieces into the same memory: touching new memory is what
/// takes the time in a call of the hook.
fn all(file: &File) -> std::io::Result<All> {
    let (mut all, mut bytes) = (All::default(), Vec::with_capacity(2 * PIECE));
    // Bytes since the last record that begin none.
    let mut skipped = 0;
    loop {
        let n_read = file.take(PIECE as u64).read_to_end(&mut bytes)?;
        let mut at = 0;
        while at < bytes.len() {
            match SessionRecord::find(&bytes[at..]) {
                FoundRecord::Record(record, length) => {
                    all.records.push(record);
                    all.whole += skipped + length as u64;
                    all.damaged += skipped;
                    skipped = 0;
                    at += length;
                }
                FoundRecord::Start if n_read > 0 => break,
                FoundRecord::Start | FoundRecord::Nothing => {
                    skipped += 1;
                    at += 1;
                }
            }
        }
        bytes.drain(..at);
        if n_read == 0 {
            return Ok(all);
        }
    }
}

/// What is in the folder of sessions in a host's folder.
fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> {
    std::fs::read_dir(folder.join("sessions")).into_iter().flatten().filter_map(Result::ok)
}

/// The state files in a host's folder, in order of their names.
pub fn sessions(folder: &Path) -> Vec<PathBuf> {
    let paths = entries(folder).map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_none()).collect();
    paths.sort();
    paths
}

/// Removes the state files that have not been used for two weeks.
pub fn remove_unused(folder: &Path, now: SystemTime) {
    for entry in entries(folder) {
        if let Ok(data) = entry.metadata()
            && let Ok(changed) = data.modified()
            && let Ok(age) = now.duration_since(changed)
            && age > KEPT
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
