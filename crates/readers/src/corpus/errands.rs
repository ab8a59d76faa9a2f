//! Reads a corpus and works on its runs at the same time, an errand at a time.

use std::mem;
use std::sync::atomic::Ordering;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::Corpus;
use super::calls::CallSources;
use super::ledger::ReportBuilder;
use super::stream::{CorpusStream, StreamPiece};
use crate::find::read_error::ReadError;
use crate::label::report_files::Joined;
use crate::survey::corpus_report::CorpusReport;
use crate::transcript::Run;

/// Results are delivered after this many bytes have been read …
const MOST_BYTES: usize = 4 << 20;
/// … or this many runs: with many stacks, the results of a short run take more memory than the run.
const MOST_RUNS: usize = 256;

/// A corpus being read. It does not know the type of the results, so that it is compiled only once.
pub(super) struct Errands<'c> {
    corpus: &'c Corpus,
    stream: CorpusStream<'c>,
    sources: CallSources,
    ledger: ReportBuilder<'c>,
    /// Read, but not parsed.
    batch: Vec<StreamPiece>,
    /// Parsed and entered, but not worked on.
    entered: Vec<Run>,
}

impl<'c> Errands<'c> {
    pub(super) fn new(corpus: &'c Corpus) -> Result<Self, ReadError> {
        corpus.passed.store(0, Ordering::Relaxed);
        let joined = Joined::default();
        let mut stream = CorpusStream::new(corpus, joined.clone());
        let mut ledger = ReportBuilder::new(corpus, joined);
        ledger.begin(corpus)?;
        let batch = stream.next_batch();
        Ok(Self { corpus, stream, sources: CallSources::default(), ledger, batch, entered: Vec::new() })
    }

    /// True if no run is left.
    pub(super) fn are_done(&self) -> bool {
        self.batch.is_empty() && self.sources.is_empty() && self.entered.is_empty()
    }

    /// Works on some runs: `work` gets each with its index among them. Several batches are one errand, because waking the
    /// pool's threads costs as much as reading a run. While one batch is worked on and the next is parsed, the one after
    /// it is read. The first two take turns, so that no thread frees runs while another makes some: threads wait for each
    /// other in the allocator otherwise.
    pub(super) fn next(&mut self, work: &(dyn Fn(usize, Run) + Sync)) -> Result<(), ReadError> {
        let (mut place, mut bytes) = (0, 0);
        while !self.are_done() && bytes < MOST_BYTES && place < MOST_RUNS {
            let runs = mem::take(&mut self.entered);
            let batch = if self.sources.needs_more() { mem::take(&mut self.batch) } else { Vec::new() };
            let n = runs.len();
            let sizes: Vec<usize> = batch.iter().map(StreamPiece::bytes).collect();
            bytes += sizes.iter().sum::<usize>();
            let takes_batch = !batch.is_empty();
            let (corpus, stream) = (self.corpus, &mut self.stream);
            let (parsed, next) = rayon::join(
                || {
                    runs.into_par_iter().enumerate().for_each(|(i, run)| work(place + i, run));
                    batch.into_par_iter().map(|piece| corpus.parse(piece)).collect::<Vec<_>>()
                },
                || if takes_batch { stream.next_batch() } else { Vec::new() },
            );
            place += n;
            if takes_batch {
                self.batch = next;
            }
            for (parsed, bytes) in parsed.into_iter().zip(sizes) {
                self.sources.add(parsed, bytes);
            }
            self.enter()?;
        }
        Ok(())
    }

    /// Enters what can be judged, of which there may be much once a source's first call is found.
    fn enter(&mut self) -> Result<(), ReadError> {
        while self.entered.len() < MOST_RUNS && (!self.sources.needs_more() || self.batch.is_empty()) {
            let Some(parsed) = self.sources.next() else { break };
            self.ledger.enter(parsed, &mut self.entered)?;
        }
        Ok(())
    }

    /// What was found in the corpus.
    pub(super) fn close(self) -> Result<CorpusReport, ReadError> {
        let report = self.ledger.close()?;
        Ok(CorpusReport { records_calls: self.sources.known(), ..report })
    }
}
