//! Writes runs to several files of one folder, or to Parquet.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::{Args, Target, WrittenRun, cannot_write, convert};
use crate::cli::failure::CommandFailure;
use crate::cli::output::Output;
use crate::reader::{Corpus, ParquetCell, ParquetKind, ParquetWriter};
use crate::report::{CsvStyle, Shard, write_folder};
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

/// Writes the runs to `of` files of a folder. Returns their number.
pub(super) fn write(out: &Path, of: u32, corpus: &Corpus, args: &Args, output: &Output) -> Result<u64, CommandFailure> {
    let ending = if args.to == Target::Parquet { "parquet" } else { "jsonl" };
    let names: Vec<PathBuf> = (1..=of).map(|number| format!("runs-{number:05}-of-{of:05}.{ending}").into()).collect();
    let mut failure = None;
    let written = write_folder(out, CsvStyle::Plain, |to| {
        let failed = |error: io::Error| cannot_write(out, &error);
        let open = |name: &PathBuf| File::create_new(to.join(name)).and_then(|file| Taker::new(args.to, file));
        let mut takers = names.iter().map(open).collect::<io::Result<Vec<_>>>().map_err(failed)?;
        let runs = convert(corpus, args, output, |run| {
            let header = &run.header;
            let suite = header.suite.as_deref().unwrap_or_default();
            let task = header.task_id.as_deref().unwrap_or(&header.run_id);
            let own = (1..=of).position(|number| Shard { number, of }.holds((suite, task))).unwrap_or(0);
            match takers.get_mut(own) {
                Some(taker) => taker.take(&run).map_err(failed),
                None => Ok(()),
            }
        });
        takers.into_iter().try_for_each(Taker::close).map_err(failed)?;
        runs.map_err(|error| {
            let first = error.diagnostics.first().clone();
            failure = Some(error);
            first
        })
    });
    match failure {
        Some(failure) => Err(failure),
        None => written.map_err(CommandFailure::input),
    }
}
