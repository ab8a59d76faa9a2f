//! A CSV table of messages as JSON lines: each row an object, for logs that `--map` describes.

use std::io::{self, BufRead as _, BufReader, Cursor, Read};
use std::path::Path;

use serde_json::value::RawValue;

use crate::find::file_name::has_ending;
use crate::find::source::InputFile;
use crate::open::whole_file::LARGEST_WHOLE;

/// Most columns of a log.
const COLUMNS: usize = 1000;

/// Whether the name is that of a table of values.
pub(crate) fn is_table(path: &Path) -> bool {
    has_ending(path, &["csv", "tsv"])
}

/// The rows of a table as JSON lines; `None` if the file is none, or has no header of several names.
pub(crate) fn lines(source: &InputFile) -> Option<Box<dyn Read + Send>> {
    if !is_table(source.path()) || source.bytes > LARGEST_WHOLE {
        return None;
    }
    // A quote that is never closed makes the rest one cell: as much as any file that is read whole.
    let mut text = BufReader::new(source.open().ok()?.take(LARGEST_WHOLE));
    let delimiter = delimiter(source.path(), text.fill_buf().ok()?);
    let mut rows = csv::ReaderBuilder::new().flexible(true).delimiter(delimiter).from_reader(text);
    let header = rows.headers().ok()?.clone();
    let is_named = header.iter().all(|name| !name.trim().is_empty());
    if !is_named || !(2..=COLUMNS).contains(&header.len()) {
        return None;
    }
    Some(Box::new(Lines { rows, header, row: csv::StringRecord::new(), line: Cursor::default() }))
}

/// What separates the cells: tabs by the file's name, and semicolons, which spreadsheets write where a comma is the decimal
/// sign, by a first line that has no comma.
fn delimiter(path: &Path, begins: &[u8]) -> u8 {
    if has_ending(path, &["tsv"]) {
        return b'\t';
    }
    let first = begins.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if first.contains(&b';') && !first.contains(&b',') { b';' } else { b',' }
}

struct Lines<R> {
    rows: csv::Reader<R>,
    header: csv::StringRecord,
    row: csv::StringRecord,
    /// The line being handed over.
    line: Cursor<Vec<u8>>,
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.line.position() == self.line.get_ref().len() as u64 {
            if !self.rows.read_record(&mut self.row).map_err(io::Error::other)? {
                return Ok(0);
            }
            self.line.set_position(0);
            self.line.get_mut().clear();
            write_line(&self.header, &self.row, self.line.get_mut())?;
        }
        self.line.read(out)
    }
}

/// Writes a row as an object: empty cells are left out, and what is written as a JSON value is that value.
fn write_line(header: &csv::StringRecord, row: &csv::StringRecord, out: &mut Vec<u8>) -> io::Result<()> {
    out.push(b'{');
    for (name, cell) in header.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
        if out.len() > 1 {
            out.push(b',');
        }
        serde_json::to_writer(&mut *out, name.trim().trim_start_matches('\u{feff}'))?;
        out.push(b':');
        let is_value =
            cell.starts_with(['{', '[', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 't', 'f', 'n']);
        match serde_json::from_str::<&RawValue>(cell.trim()) {
            Ok(value) if is_value && !cell.contains(['\n', '\r']) => out.extend_from_slice(value.get().as_bytes()),
            _ => serde_json::to_writer(&mut *out, cell)?,
        }
    }
    out.extend_from_slice(b"}\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_separated_by_what_the_first_line_has() {
        let of = |name: &str, text: &str| delimiter(Path::new(name), text.as_bytes()) as char;
        assert_eq!(of("x.csv", "run,who\na;b,c"), ',');
        assert_eq!(of("x.csv", "run;who\na;b,c"), ';');
        assert_eq!(of("x.csv", "run,who;what\n"), ',');
        assert_eq!(of("x.TSV", "run;x\twho\n"), '\t');
    }

    #[test]
    fn a_row_is_an_object_without_its_empty_cells() {
        let header = csv::StringRecord::from(vec!["who", "args", "n", "said"]);
        for (row, expected) in [
            (
                vec!["bot", "{\"a\": 1}", "007", "line\n\"two\""],
                r#"{"who":"bot","args":{"a": 1},"n":"007","said":"line\n\"two\""}"#,
            ),
            (vec!["user", "", "12", "-"], r#"{"who":"user","n":12,"said":"-"}"#),
            (vec!["", "", "", ""], "{}"),
        ] {
            let mut line = Vec::new();
            write_line(&header, &csv::StringRecord::from(row), &mut line).unwrap();
            assert_eq!(String::from_utf8(line).unwrap(), format!("{expected}\n"));
        }
    }
}
