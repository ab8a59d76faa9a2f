//! `tune --grid FILE --cache DIR`: stores what a grid reads from the recordings as columns, so that a second run reads no
//! recordings.
//!
//! `DIR/KEY/NAME-CONTENT.parquet` is one column over all runs: `KEY` is a hash of every input byte, the reading
//! options and this very program; `NAME` is a hash of what the column holds, and `CONTENT` of the file's own bytes. A
//! column of other recordings, another signal or another version therefore has another name. A file whose content does
//! not match its name is ignored: the recordings are read and it is written again.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::cli::inputs::CorpusArgs;
use crate::decision::Need;
use crate::diagnostic::Diagnostic;
use crate::reader::{
    CorpusReport, LARGEST_REPORT, ParquetCell, ParquetKind, ParquetRows, ParquetWriter, REPORTS_ABOVE, REPORTS_WITHIN,
};
use crate::replay::Holding;
use crate::report::write_atomically;
use crate::sweep::engine::{Extract, Plan};
use crate::verdict::Assumptions;

/// The columns of one set of recordings.
pub(super) struct Cache<'a> {
    corpus: &'a CorpusArgs,
    root: &'a Path,
    key: String,
}

/// One value of a column.
#[derive(Deserialize)]
struct CachedValue<T> {
    #[serde(default = "Option::default")]
    value: Option<T>,
}

impl<'a> Cache<'a> {
    /// True if the cache folder lies among the recordings, where it would be read as input.
    pub(super) fn is_among(root: &Path, corpus: &CorpusArgs) -> bool {
        let of = |path: &Path| path.ancestors().find_map(|path| std::fs::canonicalize(path).ok());
        let Ok(absolute) = std::path::absolute(root) else { return false };
        let Some(root) = of(&absolute) else { return false };
        corpus.paths.iter().filter_map(|path| of(path)).any(|path| root.starts_with(path))
    }

    /// Hashes the inputs. `None` if that fails: without a key nothing is cached.
    pub(super) fn from_root(root: &'a Path, corpus: &'a CorpusArgs) -> Option<Self> {
        Some(Self { corpus, root, key: key(corpus).ok()? })
    }

    fn folder(&self) -> PathBuf {
        self.root.join(&self.key)
    }

    /// All runs with everything `plan` asks for, or `None`.
    pub(super) fn read(&self, plan: &Plan) -> Option<Vec<Extract>> {
        let records: Vec<Option<String>> = self.column("runs")?;
        let record = |text: &Option<String>| Extract::from_record(text.as_deref()?, Assumptions::default());
        let mut extracts: Vec<Extract> = records.iter().map(record).collect::<Option<_>>()?;
        for need in plan.needs() {
            let told: Vec<Option<Holding>> = self.column(&name_of(*need))?;
            if told.len() != extracts.len() {
                return None;
            }
            for (on, holding) in extracts.iter_mut().zip(told) {
                on.add_holding(*need, holding?);
            }
        }
        for feature in plan.features() {
            let readings: Vec<Option<f64>> = self.column(&feature.key())?;
            let mut rest = readings.into_iter();
            for on in &mut extracts {
                let n = on.n_readings(feature.at);
                on.add_readings(plan, rest.by_ref().take(n))?;
            }
            if rest.next().is_some() {
                return None;
            }
        }
        Some(extracts)
    }

    /// The column with that name, if there is one and its content matches its name.
    fn column<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Option<Vec<Option<T>>> {
        let prefix = format!("{:032x}-", xxh3_128(name.as_bytes()));
        let entries = std::fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.retain(|path| path.file_name().unwrap_or_default().to_string_lossy().starts_with(&prefix));
        paths.sort();
        paths.iter().find_map(|path| Self::column_in(path, name))
    }

    /// The column in a file, if the file is whole.
    fn column_in<T: for<'de> Deserialize<'de>>(path: &Path, name: &str) -> Option<Vec<Option<T>>> {
        let bytes = std::fs::read(path).ok()?;
        if !path.ends_with(file_name(name, &bytes)) {
            return None;
        }
        let mut rows = ParquetRows::open(path).ok()?;
        let mut values = Vec::new();
        while let Some(row) = rows.next() {
            let value: CachedValue<T> = serde_json::from_slice(row.ok()?.1).ok()?;
            values.push(value.value);
        }
        Some(values)
    }

    /// Stores what was read. Stores nothing if some input was lost, or if the inputs have changed since.
    pub(super) fn write(&self, plan: &Plan, extracts: &[Extract], report: &CorpusReport) -> Result<(), NotKept> {
        if report.errors > 0 || report.unreadable > 0 {
            return Err(NotKept::Because("some of the recordings could not be read"));
        }
        let records: Option<Vec<String>> = extracts.iter().map(Extract::record).collect();
        let Some(records) = records else { return Err(NotKept::Because("a run holds a number that is none")) };
        if key(self.corpus).ok().as_ref() != Some(&self.key) {
            return Err(NotKept::Because("the recordings changed while they were read"));
        }
        self.put("runs", ParquetKind::Text, records.iter().map(|text| ParquetCell::Text(text)))?;
        for (at, need) in plan.needs().iter().enumerate() {
            let holding = |on: &Extract| on.holdings().nth(at).map(|(_, holding)| format!("{holding:?}"));
            let told: Vec<String> = extracts.iter().filter_map(holding).collect();
            self.put(&name_of(*need), ParquetKind::Text, told.iter().map(|text| ParquetCell::Text(text)))?;
        }
        for (at, feature) in plan.features().iter().enumerate() {
            let readings = || extracts.iter().flat_map(|on| on.readings(at));
            // A non-finite reading would be read back as missing.
            if readings().flatten().all(f64::is_finite) {
                let cells = readings().map(|reading| match reading {
                    Some(reading) => ParquetCell::Real(reading),
                    None => ParquetCell::None,
                });
                self.put(&feature.key(), ParquetKind::Real, cells)?;
            }
        }
        Ok(())
    }

    fn put<'c>(
        &self,
        name: &str,
        kind: ParquetKind,
        cells: impl Iterator<Item = ParquetCell<'c>>,
    ) -> Result<(), NotKept> {
        let write = || -> io::Result<Vec<u8>> {
            let mut table = ParquetWriter::in_memory(&[("value", kind)])?;
            for cell in cells {
                table.row([cell])?;
            }
            table.close()
        };
        let bytes = write().map_err(|_| NotKept::Because("a column could not be written"))?;
        let path = self.folder().join(file_name(name, &bytes));
        write_atomically(&path, |file| file.write_all(&bytes))
            .map_err(|diagnostic| NotKept::Failed(Box::new(diagnostic)))
    }
}

/// Why the cache was not written, or not completely.
pub(super) enum NotKept {
    /// For the given reason.
    Because(&'static str),
    /// The folder could not be written.
    Failed(Box<Diagnostic>),
}

fn name_of(need: Need) -> String {
    format!("need: {need:?}")
}

fn file_name(name: &str, bytes: &[u8]) -> String {
    format!("{:032x}-{:032x}.parquet", xxh3_128(name.as_bytes()), xxh3_128(bytes))
}

/// A hash of everything the readings depend on: this program, the options, and every byte of the inputs and of the
/// files beside them.
fn key(corpus: &CorpusArgs) -> io::Result<String> {
    let mut hash = Xxh3::new();
    feed(&mut hash, &std::env::current_exe()?)?;
    let said = format!("{}\n{corpus:?}\n", env!("CARGO_PKG_VERSION"));
    hash.update(said.as_bytes());
    let reading = &corpus.reading;
    for path in reading.labels.iter().chain(&reading.price) {
        feed(&mut hash, path)?;
    }
    for root in &corpus.paths {
        for entry in walkdir::WalkDir::new(root).follow_links(true).sort_by_file_name() {
            let entry = entry.map_err(io::Error::other)?;
            if entry.file_type().is_file() {
                feed(&mut hash, entry.path())?;
            }
        }
        let mut place = std::fs::canonicalize(root)?;
        for _ in 0..REPORTS_ABOVE + usize::from(place.is_file()) {
            if !place.pop() {
                break;
            }
            for within in REPORTS_WITHIN {
                feed_reports(&mut hash, &place.join(within))?;
            }
        }
    }
    Ok(format!("{:032x}", hash.digest128()))
}

/// Hashes the files of a folder that may describe recordings elsewhere: reports, labels, rewards.
fn feed_reports(hash: &mut Xxh3, folder: &Path) -> io::Result<()> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    let is_report = |path: &PathBuf| {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        path.is_file() && ["json", "jsonl", "csv", "txt", "gz", "parquet"].contains(&&*ending)
    };
    paths.retain(is_report);
    paths.sort();
    paths.iter().try_for_each(|path| {
        let data = std::fs::metadata(path)?;
        if data.len() <= LARGEST_REPORT {
            return feed(hash, path);
        }
        hash.update(format!("{} {} {:?}", path.display(), data.len(), data.modified().ok()).as_bytes());
        Ok(())
    })
}

/// Hashes a file's path, length and bytes.
fn feed(hash: &mut Xxh3, path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    hash.update(path.as_os_str().as_encoded_bytes());
    hash.update(&file.metadata()?.len().to_ne_bytes());
    io::copy(&mut file, hash)?;
    Ok(())
}
