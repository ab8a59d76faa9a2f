//! Renders a table as CSV, Markdown, JSON, or aligned text for a terminal.

use std::io::{self, Write};

use super::markdown;
use crate::answers::tables::{DataTable, TableCell};
use crate::diagnostic::one_line;
use crate::words::shortened;

impl TableCell {
    /// The cell as JSON: null if missing or not finite.
    pub(super) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Count(count) => (*count).into(),
            Self::Number(number) => match plain_number(*number).parse::<f64>() {
                Ok(number) => number.into(),
                Err(_) => serde_json::Value::Null,
            },
            Self::Missing => serde_json::Value::Null,
        }
    }

    /// The cell for CSV: numbers rounded to six decimals, empty if missing.
    fn plain(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(number) => plain_number(*number),
            Self::Missing => String::new(),
        }
    }

    /// The cell for people: a dash if missing; one line, without control characters that a terminal would obey.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Missing => "-".to_owned(),
            other => one_line(&other.plain()).into_owned(),
        }
    }

    fn is_numeric(&self) -> bool {
        match self {
            Self::Count(_) | Self::Number(_) | Self::Missing => true,
            Self::Text(text) => {
                text.trim_start_matches(['-', '+', '≥', '≤', '<']).starts_with(|c: char| c.is_ascii_digit())
            }
        }
    }
}

/// The first column is never cut below this many characters.
const NARROWEST: usize = 12;

/// The number of characters of the longest text.
fn longest<'t>(texts: impl Iterator<Item = &'t str>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

/// The items at these places, as far as they are there.
fn present<T: Clone>(items: &[T], places: impl Iterator<Item = usize>) -> Vec<T> {
    places.filter_map(|place| items.get(place).cloned()).collect()
}

fn column_of(cells: &[Vec<String>], column: usize) -> impl Iterator<Item = &str> {
    cells.iter().filter_map(move |row| row.get(column)).map(String::as_str)
}

/// Characters after which a text may be wrapped: spaces, and separators within names.
const JOINTS: [char; 4] = [' ', '_', '.', '/'];

/// Where the first line of a text ends that is wider than `width`: before a space, or behind another joint.
fn end_of_line(text: &str, width: usize) -> Option<usize> {
    let at = |count: usize| text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    // The space may be the character right after the last one that fits.
    if let Some(space) = text[..at(width + 1)].rfind(' ').filter(|space| *space > 0) {
        return Some(space);
    }
    let joint = text[..at(width)].rfind(JOINTS).or(text.find(JOINTS))?;
    Some(joint + 1)
}

/// Wraps a text to lines of at most `width` characters at a joint, preferably a space; a longer part gets a line of
/// its own.
fn cell_lines(text: &str, width: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while rest.chars().count() > width {
        let Some(end) = end_of_line(rest, width).filter(|end| *end < rest.len()) else { break };
        lines.push(rest[..end].trim_end());
        rest = rest[end..].trim_start();
    }
    lines.push(rest);
    lines
}

/// Formats a number with at most six decimals, without trailing zeros.
pub fn plain_number(number: f64) -> String {
    let text = format!("{number:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

impl DataTable {
    /// Writes CSV with a header line.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_csv_part(out, true)
    }

    /// Writes a part of a CSV file; only the first part has the header line.
    pub fn write_csv_part(&self, out: &mut dyn Write, is_first: bool) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        if is_first {
            writer.write_record(&self.columns)?;
        }
        for row in &self.rows {
            writer.write_record(row.iter().map(TableCell::plain))?;
        }
        writer.flush()
    }

    /// Renders a Markdown table; numbers are right-aligned.
    pub fn to_markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.columns.iter().map(|name| markdown::cell(name)).collect());
        text += &line(
            (0..self.columns.len()).map(|c| if self.is_numeric(c) { "---:" } else { "---" }.to_owned()).collect(),
        );
        for row in &self.rows {
            text += &line(row.iter().map(|cell| markdown::cell(&cell.plain())).collect());
        }
        text
    }

    /// The cells as text, one list per line, column names first: for callers that draw their own table.
    pub fn texts(&self) -> Vec<Vec<String>> {
        let rows = self.rows.iter().map(|row| row.iter().map(TableCell::shown).collect());
        std::iter::once(self.columns.clone()).chain(rows).collect()
    }

    /// A JSON array of objects; a missing cell is null.
    pub fn to_json(&self) -> serde_json::Value {
        let object =
            |row: &Vec<TableCell>| self.columns.iter().cloned().zip(row.iter().map(TableCell::to_json)).collect();
        self.rows.iter().map(|row| serde_json::Value::Object(object(row))).collect()
    }

    /// Text for a terminal of `width` columns. Columns are two spaces apart, or one if two do not fit; if that is
    /// still too wide, names in the first column are shortened, then texts are wrapped, and columns that have no room
    /// even so stand below, beside the first column again. No word is broken.
    pub fn to_terminal(&self, width: u16) -> String {
        let is_too_wide = |text: &str| longest(text.lines()) > usize::from(width);
        let whole = self.block(width);
        if !is_too_wide(&whole) {
            return whole;
        }
        let block = |from: usize, to: usize| self.picked(&std::iter::once(0).chain(from..to)).block(width);
        let (mut text, mut from) = (String::new(), 1);
        loop {
            // The first column and one more, then as many as fit.
            let (mut to, mut widest) = (from + 1, block(from, from + 1));
            while to < self.columns.len() {
                let wider = block(from, to + 1);
                if is_too_wide(&wider) {
                    break;
                }
                (to, widest) = (to + 1, wider);
            }
            text += &widest;
            if to >= self.columns.len() {
                return text;
            }
            text.push('\n');
            from = to;
        }
    }

    /// The table of some of its columns.
    fn picked(&self, columns: &(impl Iterator<Item = usize> + Clone)) -> Self {
        Self {
            columns: present(&self.columns, columns.clone()),
            rows: self.rows.iter().map(|row| present(row, columns.clone())).collect(),
        }
    }

    /// All columns side by side.
    fn block(&self, width: u16) -> String {
        let width = usize::from(width);
        let headers: Vec<[String; 2]> = (0..self.columns.len()).map(|column| self.header(column)).collect();
        let mut cells: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(TableCell::shown).collect()).collect();
        let mut widths: Vec<usize> = headers.iter().map(|header| longest(header.iter().map(String::as_str))).collect();
        for (column, widest) in widths.iter_mut().enumerate() {
            *widest = (*widest).max(longest(column_of(&cells, column)));
        }
        let gaps = widths.len().saturating_sub(1);
        let total: usize = widths.iter().sum();
        let gap = if total + 2 * gaps <= width { 2 } else { 1 };
        if let Some(first) = widths.first_mut() {
            let room = (*first + width).saturating_sub(total + gap * gaps).max(NARROWEST);
            *first = room.min(*first);
            for row in &mut cells {
                if let Some(name) = row.first_mut() {
                    *name = shortened(name, *first);
                }
            }
        }
        self.narrow(&mut widths, &cells, &headers, width.saturating_sub(gap * gaps));
        let line = |cells: Vec<&str>| {
            let padded = cells.iter().enumerate().map(|(column, cell)| {
                let width = widths[column];
                if self.is_numeric(column) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            });
            padded.collect::<Vec<_>>().join(&" ".repeat(gap)).trim_end().to_owned() + "\n"
        };
        let lines = [0, 1].map(|at| headers.iter().map(|header| header[at].as_str()).collect::<Vec<_>>());
        let heads = lines.into_iter().filter(|line| line.iter().any(|cell| !cell.is_empty()));
        let mut text: String = heads.map(line).collect();
        for row in &cells {
            let parts: Vec<Vec<&str>> = row.iter().zip(&widths).map(|(cell, width)| cell_lines(cell, *width)).collect();
            for at in 0..parts.iter().map(Vec::len).max().unwrap_or(0) {
                text += &line(parts.iter().map(|part| part.get(at).copied().unwrap_or_default()).collect());
            }
        }
        text
    }

    /// Shrinks the widest text columns, down to their longest word, until all columns fit into `room` or no text
    /// column can shrink further.
    fn narrow(&self, widths: &mut [usize], cells: &[Vec<String>], headers: &[[String; 2]], room: usize) {
        let least = |column: usize| {
            let words = column_of(cells, column).flat_map(|cell| cell.split_inclusive(JOINTS)).map(str::trim_end);
            longest(words.chain(headers[column].iter().map(String::as_str)))
        };
        loop {
            let over = widths.iter().sum::<usize>().saturating_sub(room);
            let gives = |column: &usize| !self.is_numeric(*column) && widths[*column] > least(*column);
            let widest = (1..widths.len()).filter(gives).max_by_key(|column| widths[*column]);
            let Some(column) = widest.filter(|_| over > 0) else { return };
            widths[column] = widths[column].saturating_sub(over).max(least(column));
        }
    }

    /// A column's name, split over two lines if it is wider than its cells; else on the second line.
    fn header(&self, column: usize) -> [String; 2] {
        let name = one_line(&self.columns[column]);
        let widest = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.shown().chars().count()).max();
        let middle = name.match_indices(' ').map(|(at, _)| at).min_by_key(|at| at.abs_diff(name.len() / 2));
        match middle {
            Some(at) if name.chars().count() > widest.unwrap_or(0) => {
                [name[..at].to_owned(), name[at + 1..].to_owned()]
            }
            _ => [String::new(), name.into_owned()],
        }
    }

    pub(super) fn is_numeric(&self, column: usize) -> bool {
        self.rows.iter().all(|row| row.get(column).is_some_and(TableCell::is_numeric))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_too_wide_is_broken_between_words() {
        let table = DataTable {
            columns: vec!["kind".into(), "summary".into()],
            rows: vec![vec![
                TableCell::Text("signal".into()),
                TableCell::Text("input and output tokens so fär, cached included".into()),
            ]],
        };
        assert_eq!(
            table.to_terminal(30),
            "kind   summary\nsignal input and output tokens\n       so fär, cached included\n"
        );
        assert_eq!(cell_lines("aaaaaaaa b", 3), ["aaaaaaaa", "b"]);
        assert_eq!(cell_lines("äöü äöü", 3), ["äöü", "äöü"]);
        assert_eq!(cell_lines("äöüß", 3), ["äöüß"]);
        assert_eq!(cell_lines("  a", 1), ["", "a"]);
        assert_eq!(cell_lines("field reward_info.reward", 12), ["field", "reward_info.", "reward"]);
    }

    #[test]
    fn columns_without_room_stand_below_beside_the_names() {
        let table = DataTable {
            columns: ["stack", "stops", "killed", "saved"].map(str::to_owned).to_vec(),
            rows: vec![vec![
                TableCell::Text("mixed".into()),
                TableCell::Count(136),
                TableCell::Text("2/272 0.7 (0.1–4.6)".into()),
                TableCell::Text("26 %".into()),
            ]],
        };
        let narrow = table.to_terminal(32);
        assert!(longest(narrow.lines()) <= 32, "{narrow}");
        assert_eq!(
            narrow,
            "stack stops              killed\nmixed   136 2/272 0.7 (0.1–4.6)\n\nstack  saved\nmixed   26 %\n"
        );
        assert_eq!(table.to_terminal(80).lines().count(), 2);
    }

    #[test]
    fn a_missing_cell_is_empty_null_or_a_dash() {
        let table = DataTable {
            columns: vec!["stack".into(), "fes_rate".into()],
            rows: vec![
                vec![TableCell::Text("a|b".into()), TableCell::Number(0.125)],
                vec![TableCell::Text("c".into()), TableCell::number(Some(f64::NAN))],
            ],
        };
        let mut csv = Vec::new();
        table.write_csv(&mut csv).unwrap();
        assert_eq!(String::from_utf8(csv).unwrap(), "stack,fes_rate\na|b,0.125\nc,\n");
        assert_eq!(table.to_markdown(), "| stack | fes_rate |\n| --- | ---: |\n| a\\|b | 0.125 |\n| c |  |\n");
        assert_eq!(table.to_json().to_string(), r#"[{"stack":"a|b","fes_rate":0.125},{"stack":"c","fes_rate":null}]"#);
        assert_eq!(table.to_terminal(80), "stack  fes_rate\na|b       0.125\nc             -\n");
    }
}
