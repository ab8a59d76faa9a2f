//! Writes runs to several files of one folder.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::taker::Taker;
use super::{Args, Target, convert};
use crate::cli::failure::CommandFailure;
use crate::cli::output::Output;
use crate::reader::Corpus;
use crate::report::{CsvStyle, Shard, cannot_write, write_folder};

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
            let own = (1..=of).position(|number| Shard { number, of }.holds(&run.header)).unwrap_or(0);
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
