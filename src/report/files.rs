//! Writes files atomically: under a temporary name, then renamed.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::NamedTempFile;

use super::CsvStyle;
use super::owned::refuse_input;
use crate::diagnostic::{Diagnostic, Location};
use crate::parallel;
use crate::reader::open_regular;

/// Writes a file through `fill`; on any error no file of that name appears, and an existing one stays. A file that the
/// command reads is never written over.
pub fn write_atomically(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Diagnostic> {
    refuse_input(path)?;
    let mut out = begin(path).map_err(|error| unwritten(path, &error))?;
    fill(&mut out).map_err(|error| unwritten(path, &error))?;
    // Once more: `fill` may have read it.
    refuse_input(path)?;
    finish(out, path).map_err(|error| unwritten(path, &error))
}

/// Writes a text as a file, in the same way.
pub fn write_text(path: &Path, text: &str) -> Result<(), Diagnostic> {
    write_atomically(path, |file| file.write_all(text.as_bytes()))
}

/// The diagnostic for a file that could not be written.
pub(super) fn unwritten(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::new(
        Location::file(path.display().to_string()),
        format!("cannot write: {error}"),
        "check that the folder exists, may be written to, and has room",
    )
}

/// Creates a temporary file in the folder of `path`.
fn begin(path: &Path) -> io::Result<BufWriter<NamedTempFile>> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let prefix = format!(".{}.whenstop-", path.file_name().unwrap_or_default().to_string_lossy());
    if is_first_in(folder) {
        sweep(folder, &prefix);
    }
    let file = tempfile::Builder::new().prefix(&prefix).tempfile_in(folder)?;
    // A lock dies with its process, a file does not. Some file systems have no locks.
    let _ = file.as_file().try_lock();
    Ok(BufWriter::new(file))
}

/// True once for each folder: looking through one for each of its files would take the square of their number.
fn is_first_in(folder: &Path) -> bool {
    static SEEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_path_buf())
}

/// Removes what killed processes left of earlier attempts to write a file.
fn sweep(folder: &Path, prefix: &str) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(prefix)
            && entry.file_type().is_ok_and(|kind| kind.is_file());
        let is_left = || File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if is_ours && is_left() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Renames the file to its final name.
fn finish(out: BufWriter<NamedTempFile>, path: &Path) -> io::Result<()> {
    let temporary = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    make_readable(temporary.path())?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Temporary files are private; a report should be readable by others too.
#[cfg(unix)]
fn make_readable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Records that are written together, each thread a part of them.
const ROWS_AT_ONCE: usize = 1 << 14;
/// Records of one part.
const ROWS_A_PART: usize = 1 << 10;

/// Writes records as CSV, one column per field. They become text on all threads, and are written in their order.
pub fn write_rows<T: Serialize + Sync>(path: &Path, rows: impl IntoIterator<Item = T>) -> Result<(), Diagnostic> {
    write_atomically(path, |out| {
        let mut rows = rows.into_iter().peekable();
        let mut has_headers = true;
        while rows.peek().is_some() {
            let block: Vec<T> = rows.by_ref().take(ROWS_AT_ONCE).collect();
            let parts: Vec<&[T]> = block.chunks(ROWS_A_PART).collect();
            let texts = parallel::map_range(0..parts.len(), |nth| csv_text(parts[nth], has_headers && nth == 0));
            texts.into_iter().try_for_each(|text| out.write_all(&text?))?;
            has_headers = false;
        }
        Ok(())
    })
}

fn csv_text<T: Serialize>(rows: &[T], has_headers: bool) -> io::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().has_headers(has_headers).from_writer(Vec::new());
    rows.iter().try_for_each(|row| writer.serialize(row)).map_err(io::Error::other)?;
    writer.into_inner().map_err(csv::IntoInnerError::into_error)
}

/// The most bytes of one row.
const LONGEST_ROW: u64 = 64 << 20;

/// A file of rows, none of which is longer than [`LONGEST_ROW`]: whoever takes a row renews what is left.
struct Paced {
    input: File,
    left: Rc<Cell<u64>>,
}

impl Read for Paced {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.input.read(into)?;
        let left = self.left.get().checked_sub(n as u64);
        self.left.set(left.ok_or_else(|| io::Error::other(format!("a row is longer than {LONGEST_ROW} bytes")))?);
        Ok(n)
    }
}

/// Reads records from CSV of either style, one at a time. The first bad line is the error, with its line number.
pub fn read_rows<T: DeserializeOwned, R: FromIterator<T>>(path: &Path) -> Result<R, Diagnostic> {
    let name = path.display().to_string();
    let unread = |error: io::Error| {
        Diagnostic::new(Location::file(&name), format!("cannot read: {error}"), "give the folder `compare --out` wrote")
    };
    let left = Rc::new(Cell::new(LONGEST_ROW));
    let mut text = BufReader::new(Paced { input: open_regular(path).map_err(unread)?, left: Rc::clone(&left) });
    let style = CsvStyle::from_csv(text.fill_buf().map_err(unread)?);
    let wrong = |error: csv::Error| {
        if let csv::ErrorKind::Io(_) = error.kind() {
            return unread(error.into());
        }
        let line = error.position().map_or(0, |position| usize::try_from(position.line()).unwrap_or(0));
        let what = format!("not a row of this version: {error}");
        Diagnostic::new(Location::line(&name, line), what, "rows are written by `compare --out`; write them again")
    };
    let mut reader = csv::Reader::from_reader(text);
    let header = reader.headers().map_err(wrong)?.clone();
    reader
        .records()
        .map(|record| {
            let record = record?;
            left.set(LONGEST_ROW);
            if style == CsvStyle::Plain {
                return record.deserialize(Some(&header));
            }
            let mut fields: csv::StringRecord = record.iter().map(|field| style.unguarded(field)).collect();
            fields.set_position(record.position().cloned());
            fields.deserialize(Some(&header))
        })
        .map(|row| row.map_err(wrong))
        .collect()
}
