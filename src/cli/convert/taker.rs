//! An output file that runs are added to: lines, or a Parquet table.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};

use super::{Target, WrittenRun};
use crate::reader::{ParquetCell, ParquetKind, ParquetWriter};
use crate::transcript::Outcome;

/// The Parquet columns. The reader recognises the layout by `run_id` and `trace`.
const COLUMNS: &[(&str, ParquetKind)] = &[
    ("run_id", ParquetKind::Text),
    ("task_id", ParquetKind::Text),
    ("suite", ParquetKind::Text),
    ("model", ParquetKind::Text),
    ("success", ParquetKind::Truth),
    ("score", ParquetKind::Real),
    ("steps", ParquetKind::Whole),
    ("tokens", ParquetKind::Whole),
    ("cost_usd", ParquetKind::Real),
    ("trace", ParquetKind::Text),
];

/// An output file that runs are added to.
pub(super) enum Taker {
    Lines(BufWriter<File>),
    Table(Box<ParquetWriter>),
}

fn text(text: Option<&str>) -> ParquetCell<'_> {
    text.map_or(ParquetCell::None, ParquetCell::Text)
}

impl Taker {
    pub(super) fn new(to: Target, file: File) -> io::Result<Self> {
        match to {
            Target::Trace => Ok(Self::Lines(BufWriter::new(file))),
            Target::Parquet => ParquetWriter::to_file(file, COLUMNS).map(Box::new).map(Self::Table),
        }
    }

    pub(super) fn take(&mut self, run: &WrittenRun) -> io::Result<()> {
        match self {
            Self::Lines(file) => file.write_all(&run.lines),
            Self::Table(table) => {
                let WrittenRun { header, grade, spend, .. } = run;
                let lines = std::str::from_utf8(&run.lines).map_err(io::Error::other)?;
                let success = match grade.outcome {
                    Outcome::Success => ParquetCell::Truth(true),
                    Outcome::Failure => ParquetCell::Truth(false),
                    Outcome::Unknown => ParquetCell::None,
                };
                let whole = |count: u64| i64::try_from(count).map_or(ParquetCell::None, ParquetCell::Whole);
                table.row([
                    ParquetCell::Text(&header.run_id),
                    text(header.task_id.as_deref()),
                    text(header.suite.as_deref()),
                    text(header.model.as_deref()),
                    success,
                    grade.score.map_or(ParquetCell::None, ParquetCell::Real),
                    whole(run.n_steps),
                    spend.total.map_or(ParquetCell::None, |tokens| whole(tokens.0)),
                    spend.cost.map_or(ParquetCell::None, |cost| ParquetCell::Real(cost.0)),
                    ParquetCell::Text(lines.trim_end()),
                ])
            }
        }
    }

    pub(super) fn close(self) -> io::Result<()> {
        match self {
            Self::Lines(mut file) => file.flush(),
            Self::Table(table) => table.close().map(drop),
        }
    }
}
