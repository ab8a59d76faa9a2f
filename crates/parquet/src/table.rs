//! Opens a table and reads its rows.

use std::cell::Cell;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Once};

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::Length as _;
use parquet::schema::types::TypePtr;

use super::assemble::{self, RowField};
use super::depth::refuse_too_deep;
use super::guarded::CheckedParquetFile;
use super::{LostRows, TornColumn};

/// An open file with its schema.
pub struct ParquetTable {
    file: Arc<CheckedParquetFile>,
    data: ParquetMetaData,
}

impl ParquetTable {
    /// Opens a file and reads its footer. The error is a reason worded for a message.
    pub fn open(path: &Path) -> Result<Self, String> {
        let file = File::open(path).and_then(CheckedParquetFile::new).map_err(|error| error.to_string())?;
        refuse_too_deep(&file)?;
        let data = caught(|| ParquetMetaDataReader::new().parse_and_finish(&file))
            .map_err(|why| format!("its footer is damaged: {why}"))?
            .map_err(|error| format!("not whole Parquet: {error}"))?;
        Ok(Self { file: Arc::new(file), data })
    }

    fn fields(&self) -> &[TypePtr] {
        self.data.file_metadata().schema_descr().root_schema().get_fields()
    }

    /// The names of its columns.
    pub fn columns(&self) -> Vec<String> {
        self.fields().iter().map(|field| field.name().to_owned()).collect()
    }

    /// The size of the file, in bytes.
    pub fn file_size(&self) -> u64 {
        self.file.len()
    }

    /// Reads the given columns, by number, row by row.
    pub fn rows(self, columns: Vec<usize>) -> TableRows {
        TableRows { table: self, columns, nodes: Vec::new(), next_group: 0, left: 0, row: 0 }
    }
}

/// The rows of a table, with some of its columns.
pub struct TableRows {
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
    /// end. An error says which rows are lost from a row group; it continues with the next one.
    pub fn next<T>(
        &mut self,
        take: impl FnOnce(&mut [RowField]) -> Result<T, TornColumn>,
    ) -> Option<Result<(u64, T), LostRows>> {
        while self.left == 0 {
            if let Err(damage) = self.begin_group()? {
                return Some(Err(damage));
            }
        }
        let nodes = &mut self.nodes;
        let read = caught(|| {
            for field in nodes.iter_mut() {
                if !field.refill()? {
                    return Err(torn_row("it has fewer rows than its footer says".to_owned()));
                }
            }
            take(nodes)
        });
        let read = read.unwrap_or_else(|why| Err(torn_row(why)));
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
    fn begin_group(&mut self) -> Option<Result<(), LostRows>> {
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
        match nodes.unwrap_or_else(|why| Err(torn_row(why))) {
            Ok(nodes) => {
                self.nodes = nodes;
                Some(Ok(()))
            }
            Err(torn) => Some(Err(self.damage(&torn))),
        }
    }

    /// Abandons the row group.
    fn damage(&mut self, torn: &TornColumn) -> LostRows {
        let TornColumn { column, why } = torn;
        let of = if column.is_empty() { String::new() } else { format!(", column `{column}`") };
        let what = format!("row group {}{of}: {why}; its last {} rows are lost", self.next_group, self.left);
        let first = self.row;
        self.row += std::mem::take(&mut self.left);
        self.nodes.clear();
        LostRows { first, what }
    }
}

/// Damage to a row as a whole.
fn torn_row(why: String) -> TornColumn {
    TornColumn { column: String::new(), why }
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
