//! A table as CSV, Markdown, JSON, or aligned text for a terminal.

use std::io::{self, Write};

use super::{Cell, Table};
use crate::diagnostic::one_line;
use crate::report::markdown;

impl Cell {
    /// The cell as it stands in CSV: numbers rounded to six decimals, nothing for a missing one.
    fn plain(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(number) => plain_number(*number),
            Self::Missing => String::new(),
        }
    }

    /// The cell as a person sees it: a dash for a missing one; in one line, and without what a terminal would obey.
    fn shown(&self) -> String {
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

/// A name cut to `width` characters: its middle goes, since names of one kind differ at either end.
fn shortened(name: &str, width: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= width {
        return name.to_owned();
    }
    let (head, tail) = (width / 2, width.saturating_sub(width / 2 + 1));
    letters[..head].iter().chain(['…'].iter()).chain(&letters[letters.len() - tail..]).collect()
}

/// Six decimals at most, without trailing zeros.
fn plain_number(number: f64) -> String {
    let text = format!("{number:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

impl Table {
    /// As CSV with a header line.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(&self.columns)?;
        for row in &self.rows {
            writer.write_record(row.iter().map(Cell::plain))?;
        }
        writer.flush()
    }

    /// As a Markdown table; numbers are set flush right.
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

    /// As a JSON array of objects; a missing cell is null.
    pub fn to_json(&self) -> serde_json::Value {
        let value = |cell: &Cell| match cell {
            Cell::Text(text) => serde_json::Value::from(text.as_str()),
            Cell::Count(count) => serde_json::Value::from(*count),
            Cell::Number(number) => plain_number(*number).parse::<f64>().map_or(serde_json::Value::Null, Into::into),
            Cell::Missing => serde_json::Value::Null,
        };
        let object = |row: &Vec<Cell>| self.columns.iter().cloned().zip(row.iter().map(value)).collect();
        self.rows.iter().map(|row| serde_json::Value::Object(object(row))).collect()
    }

    /// As text for a terminal of `width` columns. Columns stand two spaces apart, one where two do not fit; where that is
    /// still too wide, the names in the first column are shortened. No word is broken over lines.
    pub fn to_terminal(&self, width: u16) -> String {
        let columns = 0..self.columns.len();
        let headers: Vec<[String; 2]> = columns.clone().map(|column| self.header(column)).collect();
        let mut cells: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(Cell::shown).collect()).collect();
        let length = |text: &String| text.chars().count();
        let mut widths: Vec<usize> = columns
            .map(|column| {
                let widest = cells.iter().filter_map(|row| row.get(column)).map(length).max().unwrap_or(0);
                headers[column].iter().map(length).max().unwrap_or(0).max(widest)
            })
            .collect();
        let gaps = widths.len().saturating_sub(1);
        let total: usize = widths.iter().sum();
        let width = usize::from(width);
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
        let line = |cells: Vec<&str>| {
            let padded = cells.iter().enumerate().map(|(column, cell)| {
                let width = widths[column];
                if self.is_numeric(column) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            });
            padded.collect::<Vec<_>>().join(&" ".repeat(gap)).trim_end().to_owned() + "\n"
        };
        let lines = [0, 1].map(|at| headers.iter().map(|header| header[at].as_str()).collect::<Vec<_>>());
        let heads = lines.into_iter().filter(|line| line.iter().any(|cell| !cell.is_empty()));
        let rows = cells.iter().map(|row| row.iter().map(String::as_str).collect());
        heads.chain(rows).map(line).collect()
    }

    /// A column's name, over two lines where it is wider than what stands below it; else on the second.
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

    fn is_numeric(&self, column: usize) -> bool {
        self.rows.iter().all(|row| row.get(column).is_some_and(Cell::is_numeric))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_cell_is_empty_null_or_a_dash() {
        let table = Table {
            columns: vec!["stack".into(), "fes_rate".into()],
            rows: vec![
                vec![Cell::Text("a|b".into()), Cell::Number(0.125)],
                vec![Cell::Text("c".into()), Cell::number(Some(f64::NAN))],
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
