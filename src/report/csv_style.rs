//! How text is written to CSV: unchanged, or guarded so that no spreadsheet takes it for a formula.
//!
//! Programs join rows with recordings and labels by run id. A run id written differently from how it was recorded
//! silently fails to join, so by default nothing is changed. The other style is for people.

use std::io;

/// How text is written to CSV.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CsvStyle {
    /// Text unchanged.
    #[default]
    Plain,
    /// For a spreadsheet: a byte order mark, by which spreadsheets recognise UTF-8 (and [`super::read_rows`]
    /// recognises this style), and a `'` before each text that a spreadsheet would execute or that begins with a `'`
    /// itself.
    Spreadsheet,
}

/// The byte order mark at the start of a spreadsheet-style file.
const MARK: &[u8] = b"\xEF\xBB\xBF";

impl CsvStyle {
    /// Converts plain CSV to this style.
    pub fn styled(self, csv: Vec<u8>) -> io::Result<Vec<u8>> {
        if self == Self::Plain {
            return Ok(csv);
        }
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&csv[..]);
        let mut out = csv::WriterBuilder::new().flexible(true).from_writer(MARK.to_vec());
        for record in reader.byte_records() {
            out.write_record(record?.iter().map(guarded))?;
        }
        out.into_inner().map_err(|error| io::Error::other(error.to_string()))
    }

    /// Detects the style from the first bytes of a file.
    pub(super) fn from_csv(csv: &[u8]) -> Self {
        if csv.starts_with(MARK) { Self::Spreadsheet } else { Self::Plain }
    }

    /// Reverses the guard on a field.
    pub(super) fn unguarded(self, field: &str) -> &str {
        match self {
            Self::Plain => field,
            Self::Spreadsheet => field.strip_prefix('\'').unwrap_or(field),
        }
    }
}

/// Adds a `'` if needed. Numbers are never executed, so a negative number stays unchanged.
fn guarded(field: &[u8]) -> Vec<u8> {
    let is_number = || field.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte));
    match field.first() {
        Some(b'\'' | b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r' | b'\n') if !is_number() => [b"'", field].concat(),
        _ => field.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_are_guarded_and_numbers_are_not() {
        let styled =
            CsvStyle::Spreadsheet.styled(b"run,x\n=1+1,-3.5\n@a,1e-3\n'b,+4\n-cmd,\"\tc\"\n".to_vec()).unwrap();
        let text = String::from_utf8(styled[MARK.len()..].to_vec()).unwrap();
        assert_eq!(text, "run,x\n'=1+1,-3.5\n'@a,1e-3\n''b,+4\n'-cmd,'\tc\n");
    }

    proptest! {
        #[test]
        fn every_field_reads_back(fields in prop::collection::vec("[-=+@'\t\r\na1.,\"]{0,6}", 1..4)) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(&fields).unwrap();
            let styled = CsvStyle::Spreadsheet.styled(writer.into_inner().unwrap()).unwrap();
            prop_assert_eq!(CsvStyle::from_csv(&styled), CsvStyle::Spreadsheet);
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&styled[..]);
            let record = reader.records().next().unwrap().unwrap();
            let read: Vec<&str> = record.iter().map(|field| CsvStyle::Spreadsheet.unguarded(field)).collect();
            prop_assert_eq!(read, fields);
        }
    }
}
