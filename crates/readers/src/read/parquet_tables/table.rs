//! Opens a table and reads its rows.

use std::cell::Cell;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Once};

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::Length as _;
use parquet::schema::types::TypePtr;

use super::assemble::{self, RowField, object};
use super::depth::refuse_too_deep;
use super::guarded::CheckedParquetFile;
use super::layout::{ColumnPlan, RowDialect};
use super::leaf::Torn;
use crate::diagnostic::{Diagnostic, Location};
use crate::open::finding::Finding;
use crate::open::records::{Cut, Item};
use crate::open::{archive, input_errors};

/// An open file with its schema.
pub(crate) struct ParquetTable {
    file: Arc<CheckedParquetFile>,
    data: ParquetMetaData,
    path: String,
}

impl ParquetTable {
    /// Opens a file and reads its footer. The error is a reason worded for a message.
    pub(crate) fn open(path: &Path, name: &str) -> Result<Self, String> {
        let file = File::open(path).and_then(CheckedParquetFile::new).map_err(|error| error.to_string())?;
        refuse_too_deep(&file)?;
        let data = caught(|| ParquetMetaDataReader::new().parse_and_finish(&file))
            .map_err(|why| format!("its footer is damaged: {why}"))?
            .map_err(|error| format!("not whole Parquet: {error}"))?;
        Ok(Self { file: Arc::new(file), data, path: name.to_owned() })
    }

    fn fields(&self) -> &[TypePtr] {
        self.data.file_metadata().schema_descr().root_schema().get_fields()
    }

    /// The names of its columns.
    pub(crate) fn columns(&self) -> Vec<String> {
        self.fields().iter().map(|field| field.name().to_owned()).collect()
    }

    /// Reads the given columns, by number, row by row.
    pub(crate) fn rows(self, columns: Vec<usize>) -> TableRows {
        TableRows { table: self, columns, nodes: Vec::new(), next_group: 0, left: 0, row: 0 }
    }
}

/// The rows of a table, with some of its columns.
pub(crate) struct TableRows {
    table: ParquetTable,
    columns: Vec<usize>,
    /// The fields of the current row group, in the order of `columns`.
    nodes: Vec<RowField>,
    next_group: usize,
    /// Rows left in the row group.
    left: u64,
    /// The number of rows passed so far.
    row: u64,
}

impl TableRows {
    /// Passes the fields of the next row to `take` and returns its result with the row's number, from 0; `None` at the
    /// end. An error says which data is lost from a row group; it continues with the next one.
    pub(super) fn next<T>(
        &mut self,
        take: impl FnOnce(&mut [RowField]) -> Result<T, Torn>,
    ) -> Option<Result<(u64, T), Diagnostic>> {
        while self.left == 0 {
            if let Err(damage) = self.begin_group()? {
                return Some(Err(damage));
            }
        }
        let nodes = &mut self.nodes;
        let read = caught(|| {
            for node in nodes.iter_mut() {
                if !node.refill()? {
                    return Err(Torn {
                        column: String::new(),
                        why: "it has fewer rows than its footer says".to_owned(),
                    });
                }
            }
            take(nodes)
        });
        let read = read.unwrap_or_else(|why| Err(Torn { column: String::new(), why }));
        Some(match read {
            Ok(taken) => {
                self.left -= 1;
                self.row += 1;
                Ok((self.row - 1, taken))
            }
            Err(torn) => Err(self.damage(&torn)),
        })
    }

    /// Opens the next row group, unless it is damaged; `None` after the last.
    fn begin_group(&mut self) -> Option<Result<(), Diagnostic>> {
        let group = self.table.data.row_groups().get(self.next_group)?;
        self.next_group += 1;
        self.left = u64::try_from(group.num_rows()).unwrap_or(0);
        let fields = self.table.fields();
        let nodes = caught(|| {
            let open = |column: &usize| {
                let first = fields[..*column].iter().map(|field| assemble::width(field)).sum();
                assemble::field(&self.table.file, group, first, &fields[*column])
            };
            self.columns.iter().map(open).collect::<Result<Vec<_>, _>>()
        });
        match nodes.unwrap_or_else(|why| Err(Torn { column: String::new(), why })) {
            Ok(nodes) => {
                self.nodes = nodes;
                Some(Ok(()))
            }
            Err(torn) => Some(Err(self.damage(&torn))),
        }
    }

    /// Abandons the row group.
    fn damage(&mut self, torn: &Torn) -> Diagnostic {
        let Torn { column, why } = torn;
        let of = if column.is_empty() { String::new() } else { format!(", column `{column}`") };
        let what = format!("row group {}{of}: {why}; its last {} rows are lost", self.next_group, self.left);
        let line = usize::try_from(self.row + 1).unwrap_or(usize::MAX);
        self.row += std::mem::take(&mut self.left);
        self.nodes.clear();
        Diagnostic::new(Location::line(self.table.path.as_str(), line), what, input_errors::CUT)
    }
}

/// What a row counts for besides its text: one without any costs time too.
const EMPTY_ROW: u64 = 256;

/// The runs of a table as records: the short fields as an object, followed by the long ones as they are.
pub(crate) struct TableRecords {
    rows: TableRows,
    plan: ColumnPlan,
    limit: u64,
    /// How many bytes the table may still unpack to; `None` once it would be more.
    left: Option<u64>,
}

impl TableRecords {
    /// The records of a table; a record longer than `limit` bytes is refused.
    pub(crate) fn new(table: ParquetTable, plan: ColumnPlan, limit: u64) -> Self {
        let columns = plan.fields.iter().map(|(_, column)| *column).chain(plan.long.iter().flatten().copied());
        let left = Some(archive::most_unpacked(table.file.len()));
        Self { rows: table.rows(columns.collect()), plan, limit, left }
    }

    /// The next record or finding; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Item> {
        let left = self.left?;
        let plan = &self.plan;
        let (row, bytes) = match self.rows.next(|nodes| record(plan, nodes))? {
            Ok(read) => read,
            Err(damage) => return Some(Item::Broken(damage)),
        };
        let line = usize::try_from(row + 1).unwrap_or(usize::MAX);
        self.left = left.checked_sub(bytes.len() as u64 + EMPTY_ROW);
        if self.left.is_none() {
            let at = Location::line(self.rows.table.path.as_str(), line);
            let what = "it unpacks to many times its size, as no recording does; its rows from here on are left out";
            return Some(Item::Broken(Diagnostic::new(at, what, input_errors::CUT)));
        }
        if bytes.len() as u64 > self.limit {
            let at = Location::line(self.rows.table.path.as_str(), line);
            let what = format!("this row is longer than {} bytes and is left out", self.limit);
            let diagnostic = Diagnostic::new(at, what, "raise the limit, if it is a recording");
            return Some(Item::Finding(Finding::error(diagnostic)));
        }
        Some(Item::Record(Cut { bytes, key: format!("row {row}"), line, column: 1, member: None }))
    }
}

/// A row as text: `{"id":…} [messages]`, or the lines of a trace.
fn record(plan: &ColumnPlan, nodes: &mut [RowField]) -> Result<Vec<u8>, Torn> {
    let mut out = Vec::new();
    let (short, long) = nodes.split_at_mut(plan.fields.len());
    if plan.layout.dialect != RowDialect::Trace {
        object(plan.fields.iter().map(|(name, _)| *name), short, &mut out)?;
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

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result of `act`, or the message of its panic. The panic is not printed; the caller reports it as a finding.
fn caught<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
    let was = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(act));
    QUIET.set(was);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it cannot be read");
        text.lines().next().unwrap_or_default().to_owned()
    })
}

/// The rows of a table, one after another, each as a JSON object of all its columns.
pub struct ParquetRows {
    names: Vec<String>,
    rows: TableRows,
    text: Vec<u8>,
}

impl ParquetRows {
    /// Opens a table.
    pub fn open(path: &Path) -> Result<Self, Diagnostic> {
        let name = path.display().to_string();
        let refused =
            |why| Diagnostic::new(Location::file(name.as_str()), format!("cannot be read: {why}"), input_errors::CUT);
        let table = ParquetTable::open(path, &name).map_err(refused)?;
        let names = table.columns();
        let rows = table.rows((0..names.len()).collect());
        Ok(Self { names, rows, text: Vec::new() })
    }

    /// The next row with its number, from 0; `None` after the last. After an error, do not rely on further rows.
    #[expect(clippy::should_implement_trait, reason = "the text lives until the next row is read")]
    pub fn next(&mut self) -> Option<Result<(u64, &[u8]), Diagnostic>> {
        let Self { names, rows, text } = self;
        let row = rows.next(|nodes| {
            text.clear();
            object(names.iter().map(String::as_str), nodes, text)
        });
        Some(row?.map(|(number, ())| (number, &self.text[..])))
    }
}
