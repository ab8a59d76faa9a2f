//! A corpus of recordings. Files are split into records in path order, parsed in parallel and delivered in path order;
//! memory is bounded by the runs being processed.

mod calls;
mod chosen_form;
mod errands;
mod ledger;
mod one_session;
mod open_file;
mod parse;
mod stream;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::diagnostic::nearest;
use crate::find::file_name::has_ending;
use crate::find::files::{Sources, walk};
use crate::find::read_error::ReadError;
use crate::label::label_files::{self, LabelFileOrigin, Labels};
use crate::read::format;
use crate::record::options::ReadOptions;
use crate::survey::corpus_report::CorpusReport;
use crate::transcript::Run;
use errands::Errands;
use parse::{Parsed, read_record};
use stream::StreamPiece;

/// Bytes of the block by which [`keep_what_is_freed`] tells the allocator what to keep: twice as much.
const LARGEST_FREED: usize = 2 << 20;

/// Recordings to read, in path order.
#[derive(Debug)]
pub struct Corpus {
    sources: Sources,
    /// The paths as the user named them.
    paths: Vec<PathBuf>,
    options: ReadOptions,
    labels: Labels,
    passed: AtomicU64,
}

/// Lets the allocator keep what one run frees for the next: 5 % less time where lines are long. glibc gives memory back to
/// the system as soon as 128 KB are free at the end of its heap, but no earlier than twice the largest block that was ever
/// given back whole (mallopt(3), on `M_MMAP_THRESHOLD`). The block is never written to, so it takes no memory.
fn keep_what_is_freed() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGEST_FREED)));
}

/// Sets what is not known yet.
fn fill<T: Clone>(slot: &mut Option<T>, value: Option<&T>) {
    if slot.is_none() {
        *slot = value.cloned();
    }
}

impl Corpus {
    /// Lists the files under `paths`. Nothing is read yet except labels.
    pub fn open(paths: &[PathBuf], options: ReadOptions) -> Result<Self, ReadError> {
        if let Some(name) = options.format.as_ref().filter(|name| format::by_id(name).is_none()) {
            let known: Vec<&str> = format::FORMATS.iter().map(|format| format.id()).collect();
            let nearest = nearest(name, known.iter().copied());
            return Err(ReadError::UnknownFormat { name: name.clone(), nearest, known });
        }
        let sources = walk(paths)?;
        let mut labels = Labels::default();
        let columns = options.label_columns.as_ref();
        for path in &options.labels {
            labels.add(path, LabelFileOrigin::Named, columns)?;
        }
        let among = sources.files.iter().filter(|source| label_files::is_label_file(&source.file_name()));
        for source in among {
            let origin =
                if source.file_name() == "labels.csv" { LabelFileOrigin::Among } else { LabelFileOrigin::Nearby };
            labels.add(source.path(), origin, columns)?;
        }
        for (path, origin) in label_files::nearby(if options.sealed { &[] } else { paths }) {
            labels.add(&path, origin, columns)?;
        }
        Ok(Self { sources, paths: paths.to_vec(), options, labels, passed: AtomicU64::new(0) })
    }

    /// The number of files, whether they are recordings or not.
    pub fn n_files(&self) -> usize {
        self.sources.files.len()
    }

    /// The files by the names used in messages, with their sizes in bytes, in order.
    pub fn files(&self) -> impl Iterator<Item = (&str, u64)> {
        self.sources.files.iter().map(|source| (source.name.path.as_str(), source.bytes))
    }

    /// Whether all labels that grade are of runs drawn at random (their column `drawn`). Those stand for all runs then, and
    /// the ones that the draw did not reach can be left out; [`Self::process`] gives them, too.
    pub fn is_graded_by_draw(&self) -> bool {
        self.labels.are_drawn()
    }

    /// The CSV files among the recordings, and those beside what was named.
    fn csv_files(&self) -> Vec<PathBuf> {
        const MOST: usize = 50;
        let mut files: Vec<PathBuf> = self.sources.files.iter().map(|source| source.path().to_path_buf()).collect();
        let folders: BTreeSet<&Path> = self.paths.iter().filter_map(|path| path.parent()).collect();
        for folder in folders {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            files.extend(entries.map(|entry| entry.path()));
        }
        let plain = |path: PathBuf| path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path);
        let tables = files.into_iter().filter(|path| has_ending(path, &["csv"]));
        let all: BTreeSet<PathBuf> = tables.map(plain).collect();
        all.into_iter().filter(|path| path.is_file()).take(MOST).collect()
    }

    /// The total size of all files on disk, in bytes.
    pub fn bytes(&self) -> u64 {
        self.sources.files.iter().map(|source| source.bytes).sum()
    }

    /// Bytes of files read so far by the latest [`Self::process`], for a progress display.
    pub fn bytes_read(&self) -> u64 {
        self.passed.load(Ordering::Relaxed)
    }

    /// Reads everything. `work` is called for each run in parallel, on rayon's current pool; `sink` receives the
    /// results in this thread, in the order of paths and records.
    pub fn process<T: Send>(
        &self,
        work: impl Fn(Run) -> T + Sync,
        mut sink: impl FnMut(T),
    ) -> Result<CorpusReport, ReadError> {
        self.passed.store(0, Ordering::Relaxed);
        keep_what_is_freed();
        let done = Mutex::new(Vec::new());
        let mut complete: Vec<Option<T>> = Vec::new();
        let mut errands = Errands::new(self)?;
        let mut is_more = true;
        while is_more {
            let mut outcome = Ok(false);
            // The pool does not wait for the results of one errand to be delivered before it begins the next.
            rayon::in_place_scope(|scope| {
                scope.spawn(|_| {
                    outcome = errands.next(&|place, run| {
                        let result = work(run);
                        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                        if done.len() <= place {
                            done.resize_with(place + 1, || None);
                        }
                        done[place] = Some(result);
                    });
                });
                complete.drain(..).flatten().for_each(&mut sink);
            });
            is_more = outcome?;
            std::mem::swap(&mut complete, &mut *done.lock().unwrap_or_else(PoisonError::into_inner));
        }
        complete.into_iter().flatten().for_each(&mut sink);
        errands.close()
    }

    /// Reads all runs into memory at once; for tests and small corpora.
    pub fn runs(&self) -> Result<(Vec<Run>, CorpusReport), ReadError> {
        let mut runs = Vec::new();
        let report = self.process(|run| run, |run| runs.push(run))?;
        Ok((runs, report))
    }

    fn parse(&self, piece: StreamPiece) -> Parsed {
        match piece {
            StreamPiece::Record(file, cut) => read_record(&file, &cut, &self.options),
            StreamPiece::Known(parsed) => parsed,
        }
    }
}
