//! What whenstop computes, as [polars] data frames.
//!
//! A frame has the columns of the file of the same name (`whenstop schema rows` lists those of [`rows`]), in the same
//! order: texts are `String`, whole numbers `Int64`, other numbers `Float64`, and null is what is unknown. The frames
//! are those of `polars-core`, so the package `polars` of the same version takes them as they are:
//! `whenstop_frames::rows(&rows)?.lazy()`.
//!
//! [polars]: https://docs.pola.rs
//!
//! ```
//! use polars::prelude::*;
//! use whenstop::catalog;
//! use whenstop::compare::{Evaluator, EvaluationOptions};
//! use whenstop::reader::{Corpus, ReadOptions};
//! use whenstop::stack::StackFile;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let loops = "[[stack]]\nname = \"loops\"\nany = [{ signal = \"call_result.streak\", at_least = 3 }]\n";
//! let stacks = catalog::strategies(&StackFile::parse("my.toml", loops)?, &|name| unreachable!("{name}"))?;
//! let evaluator = Evaluator::new(&stacks, EvaluationOptions::default());
//! let mut gathered = evaluator.gather();
//! Corpus::open(&["../../traces/verdicts".into()], ReadOptions::default())?
//!     .process(|run| evaluator.evaluate(&run), |of_run| gathered.take(of_run))?;
//!
//! let frame = whenstop_frames::rows(&gathered.finish().rows)?;
//! let stopped = frame.column("stop_point")?.as_materialized_series().is_not_null();
//! let spent = frame.filter(&stopped)?.column("tokens_recorded")?.as_materialized_series().sum::<i64>()?;
//! println!("{} of {} runs are stopped; they spent {spent} tokens.", stopped.num_trues(), frame.height());
//! # assert!(frame.height() == 9 && stopped.num_trues() > 0 && spent > 0);
//! # Ok(())
//! # }
//! ```

use polars::prelude::*;
use whenstop::aggregate::{CellKind, ColumnSpec, FileLine, Firings, FollowedRows, RowView, Rows};
use whenstop::answers::tables::{DataTable, TableCell};
use whenstop::reader::ParquetCell;
use whenstop::report::parquet_cell;
use whenstop::report::schema::FileSpec;

/// The rows of `rows.csv`: one per run and stack.
///
/// # Errors
///
/// A number of 2^63 or more does not fit into its column; the same holds for the other frames.
pub fn rows(rows: &Rows) -> PolarsResult<DataFrame> {
    records(rows.iter().map(RowView::to_row))
}

/// The rows of `firings.csv`: one per run, stack and rule that would have acted.
pub fn firings(firings: &Firings) -> PolarsResult<DataFrame> {
    records(firings.iter())
}

/// The rows of `followed.csv`: one per run and stack, with what the recording holds after the stop.
pub fn followed(rows: &FollowedRows) -> PolarsResult<DataFrame> {
    records(rows.iter())
}

/// A table, such as `estimates`, whose columns are those of a file ([`whenstop::report::schema::files`]).
///
/// # Errors
///
/// If the table is not that of the file.
pub fn table(file: &FileSpec, table: &DataTable) -> PolarsResult<DataFrame> {
    let mut columns = Columns::new(&file.columns);
    for row in &table.rows {
        let cells: Vec<ParquetCell<'_>> = row.iter().map(cell).collect::<PolarsResult<_>>()?;
        columns.push(cells.into_iter())?;
    }
    columns.finish()
}

fn cell(cell: &TableCell) -> PolarsResult<ParquetCell<'_>> {
    Ok(match cell {
        TableCell::Text(text) => ParquetCell::Text(text),
        TableCell::Number(number) => ParquetCell::Real(*number),
        TableCell::Count(count) => match i64::try_from(*count) {
            Ok(count) => ParquetCell::Whole(count),
            Err(_) => polars_bail!(ComputeError: "{count} does not fit into 63 bits"),
        },
        TableCell::Missing => ParquetCell::None,
    })
}

fn records<T: FileLine>(records: impl IntoIterator<Item = T>) -> PolarsResult<DataFrame> {
    let mut columns = Columns::new(&T::columns());
    for record in records {
        let cells = record.cells().map_err(|error| PolarsError::ComputeError(error.to_string().into()))?;
        columns.push(cells.as_ref().iter().map(parquet_cell))?;
    }
    columns.finish()
}

/// The columns of a frame while rows are added.
struct Columns {
    builders: Vec<ColumnBuilder>,
    n_rows: usize,
}

enum ColumnBuilder {
    Text(StringChunkedBuilder),
    Whole(PrimitiveChunkedBuilder<Int64Type>),
    Real(PrimitiveChunkedBuilder<Float64Type>),
    Truth(BooleanChunkedBuilder),
}

impl Columns {
    fn new(columns: &[ColumnSpec]) -> Self {
        let mut builders = Vec::new();
        for column in columns {
            let name = PlSmallStr::from(column.name.as_str());
            builders.push(match column.kind {
                CellKind::Text => ColumnBuilder::Text(StringChunkedBuilder::new(name, 0)),
                CellKind::Whole => ColumnBuilder::Whole(PrimitiveChunkedBuilder::new(name, 0)),
                CellKind::Real => ColumnBuilder::Real(PrimitiveChunkedBuilder::new(name, 0)),
                CellKind::Truth => ColumnBuilder::Truth(BooleanChunkedBuilder::new(name, 0)),
            });
        }
        Self { builders, n_rows: 0 }
    }

    /// Adds a row, which has a cell for each column.
    fn push<'c>(&mut self, cells: impl Iterator<Item = ParquetCell<'c>>) -> PolarsResult<()> {
        let mut n_cells = 0;
        for cell in cells {
            let Some(builder) = self.builders.get_mut(n_cells) else {
                polars_bail!(ShapeMismatch: "a row has more than {n_cells} cells, one for each column");
            };
            builder.push(cell)?;
            n_cells += 1;
        }
        polars_ensure!(n_cells == self.builders.len(), ShapeMismatch: "a row has {n_cells} cells for {} columns", self.builders.len());
        self.n_rows += 1;
        Ok(())
    }

    fn finish(self) -> PolarsResult<DataFrame> {
        let columns = self.builders.into_iter().map(ColumnBuilder::finish).collect();
        DataFrame::new(self.n_rows, columns)
    }
}

impl ColumnBuilder {
    fn push(&mut self, cell: ParquetCell<'_>) -> PolarsResult<()> {
        match (self, cell) {
            (Self::Text(cells), ParquetCell::Text(text)) => cells.append_value(text),
            (Self::Text(cells), ParquetCell::None) => cells.append_null(),
            (Self::Whole(cells), ParquetCell::Whole(number)) => cells.append_value(number),
            (Self::Whole(cells), ParquetCell::None) => cells.append_null(),
            (Self::Real(cells), ParquetCell::Real(number)) => cells.append_value(number),
            // A table writes a whole number as one where others stand that are not.
            (Self::Real(cells), ParquetCell::Whole(number)) => cells.append_value(number as f64),
            (Self::Real(cells), ParquetCell::None) => cells.append_null(),
            (Self::Truth(cells), ParquetCell::Truth(truth)) => cells.append_value(truth),
            (Self::Truth(cells), ParquetCell::None) => cells.append_null(),
            (builder, cell) => polars_bail!(SchemaMismatch: "{cell:?} in a column of {}", builder.dtype()),
        }
        Ok(())
    }

    fn dtype(&self) -> DataType {
        match self {
            Self::Text(_) => DataType::String,
            Self::Whole(_) => DataType::Int64,
            Self::Real(_) => DataType::Float64,
            Self::Truth(_) => DataType::Boolean,
        }
    }

    fn finish(self) -> Column {
        match self {
            Self::Text(cells) => cells.finish().into_column(),
            Self::Whole(cells) => cells.finish().into_column(),
            Self::Real(cells) => cells.finish().into_column(),
            Self::Truth(cells) => cells.finish().into_column(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use whenstop::aggregate::{by_stack, summarise};
    use whenstop::answers::tables::{estimates, pair_columns};
    use whenstop::compare::{Evaluation, EvaluationOptions, Evaluator};
    use whenstop::framework::FrameworkKind;
    use whenstop::reader::{Corpus, ReadOptions};
    use whenstop::report::schema::files;
    use whenstop::stack::StackFile;

    use super::*;

    /// Runs under all presets and a stack of two rules: some stop, some warn, some cannot be evaluated.
    fn evaluated() -> Evaluation {
        let plain = "[[stack]]\nname = \"plain\"\nany = [{ signal = \"steps\", at_least = 1 }, { signal = \"tokens.total\", at_least = 100 }]\n";
        let plain = StackFile::parse("plain.toml", plain).unwrap();
        let mut stacks = whenstop::catalog::strategies(&plain, &|name| unreachable!("{name}")).unwrap();
        stacks.extend(whenstop::catalog::all(FrameworkKind::Preset));
        let evaluator = Evaluator::new(&stacks, EvaluationOptions::default());
        let mut gathered = evaluator.gather();
        let corpus = Corpus::open(&["../../fixtures/signals".into()], ReadOptions::default()).unwrap();
        corpus.process(|run| evaluator.evaluate(&run), |of_run| gathered.take(of_run)).unwrap();
        gathered.finish()
    }

    fn names(frame: &DataFrame) -> Vec<&str> {
        frame.columns().iter().map(|column| column.name().as_str()).collect()
    }

    /// The same records as CSV, each cell against that of the frame.
    fn assert_is_what_csv_says<T: Serialize>(frame: &DataFrame, records: impl IntoIterator<Item = T>) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for record in records {
            writer.serialize(record).unwrap();
        }
        let text = writer.into_inner().unwrap();
        let mut reader = csv::Reader::from_reader(&*text);
        assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>(), names(frame));
        let mut n_rows = 0;
        for (row, record) in reader.records().enumerate() {
            for (column, text) in frame.columns().iter().zip(record.unwrap().iter()) {
                let is_same = match column.get(row).unwrap() {
                    AnyValue::Null => text.is_empty(),
                    AnyValue::String(value) => text == value,
                    AnyValue::Int64(number) => text.parse() == Ok(number),
                    AnyValue::Float64(number) => text.parse() == Ok(number),
                    AnyValue::Boolean(truth) => text.parse() == Ok(truth),
                    other => panic!("{}: {other:?}", column.name()),
                };
                assert!(is_same, "row {row}, {}: {text} as CSV, {:?}", column.name(), column.get(row));
            }
            n_rows += 1;
        }
        assert_eq!(n_rows, frame.height());
    }

    #[test]
    fn a_frame_holds_what_the_file_of_its_name_holds() {
        let evaluated = evaluated();
        assert!(evaluated.rows.len() > 50 && evaluated.firings.len() > 10);
        assert_is_what_csv_says(&rows(&evaluated.rows).unwrap(), evaluated.rows.iter());
        assert_is_what_csv_says(&firings(&evaluated.firings).unwrap(), evaluated.firings.iter());
    }

    #[test]
    fn a_table_has_the_declared_columns_or_is_refused() {
        let evaluated = evaluated();
        let estimates = estimates(&summarise(&by_stack(&evaluated.rows), None));
        let [file, other] =
            ["estimates", "pairs"].map(|name| files().into_iter().find(|file| file.name == name).unwrap());
        let frame = table(&file, &estimates).unwrap();
        assert_eq!(names(&frame), estimates.columns);
        assert_eq!(frame.height(), estimates.rows.len());
        let known = estimates.rows.iter().filter(|row| row[5] != TableCell::Missing).count();
        let values = frame.column("value").unwrap();
        assert_eq!((values.dtype(), values.len() - values.null_count()), (&DataType::Float64, known));
        let too_large = DataTable { columns: Vec::new(), rows: vec![vec![TableCell::Count(1 << 63)]] };
        assert!(matches!(table(&file, &too_large), Err(PolarsError::ComputeError(_))));
        assert_ne!(pair_columns().specs().len(), estimates.columns.len());
        assert!(matches!(
            table(&other, &estimates),
            Err(PolarsError::ShapeMismatch(_) | PolarsError::SchemaMismatch(_))
        ));
    }
}
