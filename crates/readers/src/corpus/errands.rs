//! Reads a corpus and works on its runs at the same time, an errand at a time.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::Corpus;
use super::calls::CallSources;
use super::ledger::ReportBuilder;
use super::parse::Parsed;
use super::stream::{CorpusStream, StreamPiece};
use crate::find::read_error::ReadError;
use crate::label::report_files::Joined;
use crate::survey::corpus_report::CorpusReport;
use crate::transcript::Run;

/// Results are delivered after this many bytes have been read …
const MOST_BYTES: usize = 4 << 20;
/// … or this many runs: with many stacks, the results of a short run take more memory than the run.
const MOST_RUNS: usize = 256;
/// A thread reads this many bytes at a time, so that they are parsed while still in the processor's cache …
const PORTION_BYTES: usize = 256 << 10;
/// … or a part of an errand's runs, of which there are this many for each thread, so that no thread waits long for
/// another.
const PORTIONS_A_THREAD: usize = 4;

/// A corpus being read. It does not know the type of the results, so that it is compiled only once.
///
/// Every thread of the pool reads a portion, parses it, and works on its runs, without waiting for the others; only
/// reading and entering are done by one thread at a time. A thread works on the runs it has parsed, because the
/// allocator makes threads wait that free each other's memory; it takes over from others when it has nothing else to do.
pub(super) struct Errands<'c> {
    corpus: &'c Corpus,
    input: Mutex<CorpusInput<'c>>,
    order: Mutex<ReadingOrder<'c>>,
    /// Told when a portion is no longer being parsed.
    parsed: Condvar,
    /// For each thread, the runs it has parsed that are still to be worked on, each with its place in the errand.
    queues: Vec<Mutex<VecDeque<(usize, Run)>>>,
}

/// What is read from.
struct CorpusInput<'c> {
    stream: CorpusStream<'c>,
    /// The portions read so far.
    portions: usize,
    /// What was read in this errand.
    pieces: usize,
    bytes: usize,
}

/// What was parsed, brought back into the order in which it was read.
struct ReadingOrder<'c> {
    sources: CallSources,
    ledger: ReportBuilder<'c>,
    /// Portions that were parsed before the next one, by their number.
    early: BTreeMap<usize, Portion>,
    /// The number of the next portion.
    next: usize,
    /// The number of portions in the corpus, once its end is reached.
    portions: Option<usize>,
    /// The number of portions being parsed, whose runs are still to come.
    in_flight: usize,
    /// The number of runs in this errand.
    entered: usize,
    outcome: Result<(), ReadError>,
}

/// A portion of the input, parsed.
struct Portion {
    /// The thread that parsed it.
    thread: usize,
    /// Each with its size in bytes.
    parsed: Vec<(Parsed, usize)>,
}

impl<'c> Errands<'c> {
    pub(super) fn new(corpus: &'c Corpus) -> Result<Self, ReadError> {
        let joined = Joined::default();
        let stream = CorpusStream::new(corpus, joined.clone());
        let mut ledger = ReportBuilder::new(corpus, joined);
        ledger.begin(corpus)?;
        let order = ReadingOrder {
            sources: CallSources::default(),
            ledger,
            early: BTreeMap::new(),
            next: 0,
            portions: None,
            in_flight: 0,
            entered: 0,
            outcome: Ok(()),
        };
        Ok(Self {
            corpus,
            input: Mutex::new(CorpusInput { stream, portions: 0, pieces: 0, bytes: 0 }),
            order: Mutex::new(order),
            parsed: Condvar::new(),
            queues: (0..rayon::current_num_threads()).map(|_| Mutex::default()).collect(),
        })
    }

    /// Works on some runs: `work` gets each with its place among them. False if no run is left.
    pub(super) fn next(&mut self, work: &(dyn Fn(usize, Run) + Sync)) -> Result<bool, ReadError> {
        let mut input = lock(&self.input);
        (input.pieces, input.bytes) = (0, 0);
        drop(input);
        let mut order = lock(&self.order);
        order.entered = 0;
        self.enter(&mut order);
        drop(order);
        (0..self.queues.len()).into_par_iter().with_max_len(1).for_each(|_| self.take_part(work));
        let mut order = lock(&self.order);
        std::mem::replace(&mut order.outcome, Ok(()))?;
        Ok(!(order.is_at_end() && order.sources.is_empty()))
    }

    /// What one thread does in an errand.
    fn take_part(&self, work: &(dyn Fn(usize, Run) + Sync)) {
        let own = rayon::current_thread_index().unwrap_or(0);
        loop {
            self.work_on(own, work);
            let Some((number, pieces, _in_flight)) = self.read() else { break };
            let parse = |piece: StreamPiece| {
                let bytes = piece.bytes();
                (self.corpus.parse(piece), bytes)
            };
            let portion = Portion { thread: own, parsed: pieces.into_iter().map(parse).collect() };
            self.add(number, portion);
        }
        // Runs may be few and the work on each long, so none is left to the thread that parsed it alone.
        let mut in_flight = lock(&self.order).in_flight;
        loop {
            for thread in 0..self.queues.len() {
                self.work_on(thread, work);
            }
            if in_flight == 0 {
                break;
            }
            let order = self.parsed.wait_while(lock(&self.order), |order| order.in_flight == in_flight);
            in_flight = order.unwrap_or_else(PoisonError::into_inner).in_flight;
        }
    }

    /// Works on what a thread has parsed.
    fn work_on(&self, thread: usize, work: &(dyn Fn(usize, Run) + Sync)) {
        let next = || lock(&self.queues[thread]).pop_front();
        while let Some((place, run)) = next() {
            work(place, run);
        }
    }

    /// The next portion with its number, unless this errand reads no more.
    fn read(&self) -> Option<(usize, Vec<StreamPiece>, InFlight<'_, 'c>)> {
        let mut input = lock(&self.input);
        if input.pieces >= MOST_RUNS || input.bytes >= MOST_BYTES || lock(&self.order).is_enough() {
            return None;
        }
        let most_pieces = (MOST_RUNS / (PORTIONS_A_THREAD * self.queues.len())).max(1);
        let pieces = input.stream.next_portion(most_pieces, PORTION_BYTES);
        if pieces.is_empty() {
            let mut order = lock(&self.order);
            order.portions = Some(input.portions);
            self.enter(&mut order);
            return None;
        }
        input.pieces += pieces.len();
        input.bytes += pieces.iter().map(StreamPiece::bytes).sum::<usize>();
        input.portions += 1;
        lock(&self.order).in_flight += 1;
        Some((input.portions - 1, pieces, InFlight(self)))
    }

    /// Adds what was parsed, and enters what can be.
    fn add(&self, number: usize, portion: Portion) {
        let mut order = lock(&self.order);
        order.early.insert(number, portion);
        while let Some(portion) = order.next_portion() {
            for (parsed, bytes) in portion.parsed {
                order.sources.add(parsed, bytes, portion.thread);
            }
        }
        self.enter(&mut order);
    }

    /// Enters what can be judged, of which there may be much once a source's first call is found.
    fn enter(&self, order: &mut ReadingOrder<'c>) {
        let mut runs = Vec::new();
        while order.outcome.is_ok() && order.entered < MOST_RUNS {
            if !order.is_at_end() && order.sources.needs_more() {
                break;
            }
            let Some((parsed, thread)) = order.sources.next() else { break };
            order.outcome = order.ledger.enter(parsed, &mut runs);
            let mut queue = lock(&self.queues[thread]);
            for run in runs.drain(..) {
                queue.push_back((order.entered, run));
                order.entered += 1;
            }
        }
    }

    /// What was found in the corpus.
    pub(super) fn close(self) -> Result<CorpusReport, ReadError> {
        let order = self.order.into_inner().unwrap_or_else(PoisonError::into_inner);
        let report = order.ledger.close()?;
        Ok(CorpusReport { records_calls: order.sources.known(), ..report })
    }
}

/// Counts a portion as being parsed, even if that ends in a panic: other threads wait for it.
struct InFlight<'e, 'c>(&'e Errands<'c>);

impl Drop for InFlight<'_, '_> {
    fn drop(&mut self) {
        lock(&self.0.order).in_flight -= 1;
        self.0.parsed.notify_all();
    }
}

impl ReadingOrder<'_> {
    /// The next portion, if it has been parsed.
    fn next_portion(&mut self) -> Option<Portion> {
        let portion = self.early.remove(&self.next)?;
        self.next += 1;
        Some(portion)
    }

    /// True if there is enough to work on in this errand.
    fn is_enough(&self) -> bool {
        self.entered >= MOST_RUNS || self.outcome.is_err() || !self.sources.needs_more()
    }

    /// True if all portions of the corpus are parsed.
    fn is_at_end(&self) -> bool {
        self.portions == Some(self.next)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
