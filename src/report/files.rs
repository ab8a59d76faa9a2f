//! Writes files atomically: under a temporary name, then renamed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::NamedTempFile;

use super::CsvStyle;
use crate::diagnostic::{Diagnostic, Location};

/// Writes a file through `fill`; on any error no file of that name appears, and an existing one stays.
pub fn write_atomically(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Diagnostic> {
    let mut out = begin(path).map_err(|error| unwritten(path, &error))?;
    fill(&mut out).and_then(|()| finish(out, path)).map_err(|error| unwritten(path, &error))
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
    NamedTempFile::new_in(folder).map(BufWriter::new)
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

/// Writes records as CSV, one column per field.
pub fn write_rows<T: Serialize>(path: &Path, rows: impl IntoIterator<Item = T>) -> Result<(), Diagnostic> {
    write_atomically(path, |out| {
        let mut writer = csv::Writer::from_writer(out);
        for row in rows {
            writer.serialize(row).map_err(io::Error::other)?;
        }
        writer.flush()
    })
}

/// Reads records from CSV of either style, one at a time. The first bad line is the error, with its line number.
pub fn read_rows<T: DeserializeOwned, R: FromIterator<T>>(path: &Path) -> Result<R, Diagnostic> {
    let name = path.display().to_string();
    let unread = |error: io::Error| {
        Diagnostic::new(Location::file(&name), format!("cannot read: {error}"), "give the folder `compare --out` wrote")
    };
    let mut text = BufReader::new(File::open(path).map_err(unread)?);
    let style = CsvStyle::of(text.fill_buf().map_err(unread)?);
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
