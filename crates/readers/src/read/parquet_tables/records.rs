//! The rows of a table as records, which a format then parses like any other.

use std::path::Path;

use whenstop_parquet::{LostRows, ParquetTable, RowField, TableRows, TornColumn, write_object};

use super::layout::{ColumnPlan, RowDialect};
use crate::diagnostic::{Diagnostic, Location};
use crate::open::finding::Finding;
use crate::open::records::{Cut, Item};
use crate::open::{archive, input_errors};

/// The place of a row in a table, counted from 0.
fn place(path: &str, row: u64) -> Location {
    Location::line(path, line_of(row))
}

fn line_of(row: u64) -> usize {
    usize::try_from(row + 1).unwrap_or(usize::MAX)
}

/// What is said about rows that are lost.
pub(super) fn damage(path: &str, lost: LostRows) -> Diagnostic {
    Diagnostic::new(place(path, lost.first), lost.what, input_errors::CUT)
}

/// What a row counts for besides its text: one without any costs time too.
const EMPTY_ROW: u64 = 256;

/// The runs of a table as records: the short fields as an object, followed by the long ones as they are.
pub(crate) struct TableRecords {
    rows: TableRows,
    path: String,
    plan: ColumnPlan,
    limit: u64,
    /// How many bytes the table may still unpack to; `None` once it would be more.
    left: Option<u64>,
}

impl TableRecords {
    /// The records of a table, which messages call `path`; a record longer than `limit` bytes is refused.
    pub(crate) fn new(table: ParquetTable, path: String, plan: ColumnPlan, limit: u64) -> Self {
        let columns = plan.fields.iter().map(|(_, column)| *column).chain(plan.long.iter().flatten().copied());
        let left = Some(archive::most_unpacked(table.file_size()));
        Self { rows: table.rows(columns.collect()), path, plan, limit, left }
    }

    /// The next record or finding; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Item> {
        let left = self.left?;
        let plan = &self.plan;
        let (row, bytes) = match self.rows.next(|nodes| record(plan, nodes))? {
            Ok(read) => read,
            Err(lost) => return Some(Item::Broken(damage(&self.path, lost))),
        };
        self.left = left.checked_sub(bytes.len() as u64 + EMPTY_ROW);
        if self.left.is_none() {
            let what = "it unpacks to many times its size, as no recording does; its rows from here on are left out";
            return Some(Item::Broken(Diagnostic::new(place(&self.path, row), what, input_errors::CUT)));
        }
        if bytes.len() as u64 > self.limit {
            let what = format!("this row is longer than {} bytes and is left out", self.limit);
            let diagnostic = Diagnostic::new(place(&self.path, row), what, "raise the limit, if it is a recording");
            return Some(Item::Finding(Finding::error(diagnostic)));
        }
        Some(Item::Record(Cut { bytes, key: format!("row {row}"), line: line_of(row), column: 1, member: None }))
    }
}

/// A row as text: `{"id":…} [messages]`, or the lines of a trace.
fn record(plan: &ColumnPlan, nodes: &mut [RowField]) -> Result<Vec<u8>, TornColumn> {
    let mut out = Vec::new();
    let (short, long) = nodes.split_at_mut(plan.fields.len());
    if plan.layout.dialect != RowDialect::Trace {
        write_object(plan.fields.iter().map(|(name, _)| *name), short, &mut out)?;
    }
    let mut nodes = long.iter_mut();
    for column in &plan.long {
        let begins = out.len();
        if plan.layout.dialect != RowDialect::Trace {
            out.push(b' ');
        }
        // An empty text counts as missing, like null.
        let mut there = false;
        if column.is_some()
            && let Some(node) = nodes.next()
        {
            there = node.text(&mut out)?;
        }
        if plan.layout.dialect != RowDialect::Trace && (!there || out[begins..].trim_ascii().is_empty()) {
            out.truncate(begins);
            out.extend_from_slice(b" null");
        }
    }
    Ok(out)
}

/// The rows of a table, one after another, each as a JSON object of all its columns.
pub struct ParquetRows {
    names: Vec<String>,
    path: String,
    rows: TableRows,
    text: Vec<u8>,
}

impl ParquetRows {
    /// Opens a table.
    pub fn open(path: &Path) -> Result<Self, Diagnostic> {
        let name = path.display().to_string();
        let refused =
            |why| Diagnostic::new(Location::file(name.as_str()), format!("cannot be read: {why}"), input_errors::CUT);
        let table = ParquetTable::open(path).map_err(refused)?;
        let names = table.columns();
        let rows = table.rows((0..names.len()).collect());
        Ok(Self { names, path: name, rows, text: Vec::new() })
    }

    /// The next row with its number, from 0; `None` after the last. After an error, do not rely on further rows.
    #[expect(clippy::should_implement_trait, reason = "the text lives until the next row is read")]
    pub fn next(&mut self) -> Option<Result<(u64, &[u8]), Diagnostic>> {
        let Self { names, path, rows, text } = self;
        let row = rows.next(|nodes| {
            text.clear();
            write_object(names.iter().map(String::as_str), nodes, text)
        });
        Some(match row? {
            Ok((number, ())) => Ok((number, &text[..])),
            Err(lost) => Err(damage(path, lost)),
        })
    }
}
