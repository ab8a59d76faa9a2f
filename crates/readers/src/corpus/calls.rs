//! Which sources record calls: a run without calls made none if another run of its source has some, and otherwise says
//! nothing about calls.

use std::collections::BTreeMap;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::Corpus;
use super::open_file::OpenFile;
use super::parse::Parsed;
use super::stream::Stream;
use crate::label::report_files::Joined;
use crate::transcript::Requests;

/// The runs that are judged together: those of a format, and in tables of a layout.
type Source = (&'static str, String);

fn source_of(file: &OpenFile) -> Source {
    let layout = if file.format.id() == "parquet" { file.envelope.clone() } else { String::new() };
    (file.format.id(), layout)
}

/// The sources seen so far, and whether they have calls.
pub(super) struct CallSources<'c> {
    corpus: &'c Corpus,
    has_calls: BTreeMap<Source, bool>,
    /// The pieces of the corpus that were marked.
    n_marked: usize,
    /// A second reading of the corpus, which is begun when a source begins with a run without calls, and goes on only
    /// until its first call.
    ahead: Option<Stream<'c>>,
    /// The pieces that the second reading has taken.
    n_ahead: usize,
}

impl<'c> CallSources<'c> {
    pub(super) fn new(corpus: &'c Corpus) -> Self {
        Self { corpus, has_calls: BTreeMap::new(), n_marked: 0, ahead: None, n_ahead: 0 }
    }

    /// Marks the runs that have no calls because their source records none.
    pub(super) fn mark(&mut self, parsed: &mut Parsed) {
        self.n_marked += 1;
        let Parsed::Runs { file, runs, .. } = parsed else { return };
        self.take(file, runs.iter().any(|found| found.run.has_calls()));
        let source = source_of(file);
        for found in runs.iter_mut().filter(|found| !found.run.steps().is_empty()) {
            if !self.has_calls.contains_key(&source) {
                self.look_ahead(&source);
            }
            if self.has_calls.get(&source) == Some(&false) && found.run.header.requests != Requests::OnlySums {
                found.run.header.requests = Requests::NoCalls;
            }
        }
    }

    /// What is known of each source, by its format and layout.
    pub(super) fn known(self) -> BTreeMap<String, bool> {
        let name =
            |(format, layout): Source| if layout.is_empty() { format.to_owned() } else { format!("{format} {layout}") };
        self.has_calls.into_iter().map(|(source, has_calls)| (name(source), has_calls)).collect()
    }

    fn take(&mut self, file: &OpenFile, has_calls: bool) {
        if has_calls {
            self.has_calls.insert(source_of(file), true);
        }
    }

    /// Reads on until a call of the source is found, or to the end of the corpus.
    fn look_ahead(&mut self, source: &Source) {
        let corpus = self.corpus;
        let mut ahead =
            self.ahead.take().unwrap_or_else(|| Stream::new(corpus, Joined::default(), &corpus.looked_through));
        while !self.has_calls.contains_key(source) {
            let batch = ahead.next_batch();
            if batch.is_empty() {
                // Nothing is left to read, so this is known of every source that was not found to have calls.
                self.has_calls.insert(source.clone(), false);
                break;
            }
            // What was marked is known already, and its runs, which may be large, are still in memory.
            let n_known = self.n_marked.saturating_sub(self.n_ahead).min(batch.len());
            self.n_ahead += batch.len();
            let has_calls = |piece| match corpus.parse(piece) {
                Parsed::Runs { file, runs, .. } => Some((file, runs.iter().any(|found| found.run.has_calls()))),
                _ => None,
            };
            let unknown: Vec<_> = batch.into_iter().skip(n_known).collect();
            let found: Vec<_> = unknown.into_par_iter().filter_map(has_calls).collect();
            for (file, has_calls) in found {
                self.take(&file, has_calls);
            }
        }
        self.ahead = Some(ahead);
    }
}
