//! A table as CSV, Markdown, JSON, or boxes on a terminal.

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

    /// The cell as a terminal shows it: in one line, and without what a terminal would obey.
    fn shown(&self) -> String {
        one_line(&self.plain()).into_owned()
    }

    fn is_numeric(&self) -> bool {
        match self {
            Self::Count(_) | Self::Number(_) | Self::Missing => true,
            Self::Text(text) => text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()),
        }
    }
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

    /// As text for a terminal of `width` columns.
    pub fn to_terminal(&self, width: u16) -> String {
        use comfy_table::{CellAlignment, ContentArrangement, presets};
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        table.set_header((0..self.columns.len()).map(|index| self.header(index)));
        for row in &self.rows {
            table.add_row(row.iter().map(|cell| match cell {
                Cell::Missing => "-".to_owned(),
                other => other.shown(),
            }));
        }
        for index in 0..self.columns.len() {
            if let Some(column) = table.column_mut(index) {
                column.set_padding((0, 2));
                if self.is_numeric(index) {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
        lines.join("\n") + "\n"
    }

    /// A column's name, over two lines where it is wider than what stands below it.
    fn header(&self, column: usize) -> String {
        let name = one_line(&self.columns[column]);
        let widest = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.shown().chars().count()).max();
        let middle = name.match_indices(' ').map(|(at, _)| at).min_by_key(|at| at.abs_diff(name.len() / 2));
        match middle {
            Some(at) if name.chars().count() > widest.unwrap_or(0) => format!("{}\n{}", &name[..at], &name[at + 1..]),
            _ => name.into_owned(),
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
