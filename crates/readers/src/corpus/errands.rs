//! Reads a corpus and works on its runs at the same time, an errand at a time.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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
/// A thread that has nothing else to do waits this long before it takes over runs of another: there may be few runs, and the
/// work on each may be long.
const PATIENCE: Duration = Duration::from_millis(1);

/// A corpus being read. It does not know the type of the results, so that it is compiled only once.
///
/// Every thread of the pool reads a portion, parses it, and works on its runs, without waiting for the others; only
/// reading and entering are done by one thread at a time. A thread enters and works on what it has parsed, because the
/// allocator makes threads wait that free each other's memory; it takes over from others when it has had nothing else to do
/// for a while.
pub(super) struct Errands<'c> {
    corpus: &'c Corpus,
    input: Mutex<CorpusInput<'c>>,
    order: Mutex<ReadingOrder<'c>>,
    /// Notified when something was entered or is lost, and when a thread has nothing more to do.
    changed: Condvar,
    /// For each thread, the runs it has parsed that are still to be worked on, each with its place in the errand.
    queues: Vec<Mutex<VecDeque<(usize, Run)>>>,
}

/// What is read from.
struct CorpusInput<'c> {
    stream: CorpusStream<'c>,
    /// What was read in this errand.
    pieces: usize,
    bytes: usize,
}

/// What was parsed, brought back into the order in which it was read.
struct ReadingOrder<'c> {
    sources: CallSources,
    ledger: ReportBuilder<'c>,
    /// For each thread, the portions it has parsed that are still to be entered.
    parsed: Vec<VecDeque<Portion>>,
    /// The numbers of the portions that are read and entered next. Between them are those whose runs are still to come.
    next_read: usize,
    next_entered: usize,
    /// True if the end of the corpus was read.
    is_all_read: bool,
    /// True if a thread panicked: what it was parsing will never be entered.
    is_broken: bool,
    /// The number of runs in this errand.
    entered: usize,
    outcome: Result<(), ReadError>,
}

/// A portion of the input, parsed.
struct Portion {
    number: usize,
    /// Each with its size in bytes.
    parsed: Vec<(Parsed, usize)>,
}

impl<'c> Errands<'c> {
    pub(super) fn new(corpus: &'c Corpus) -> Result<Self, ReadError> {
        let n_threads = rayon::current_num_threads();
        let joined = Joined::default();
        let stream = CorpusStream::new(corpus, joined.clone());
        let order = ReadingOrder {
            sources: CallSources::default(),
            ledger: ReportBuilder::new(corpus, joined)?,
            parsed: (0..n_threads).map(|_| VecDeque::new()).collect(),
            next_read: 0,
            next_entered: 0,
            is_all_read: false,
            is_broken: false,
            entered: 0,
            outcome: Ok(()),
        };
        Ok(Self {
            corpus,
            input: Mutex::new(CorpusInput { stream, pieces: 0, bytes: 0 }),
            order: Mutex::new(order),
            changed: Condvar::new(),
            queues: (0..n_threads).map(|_| Mutex::default()).collect(),
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
        let _watch = PanicWatch(self);
        let own = rayon::current_thread_index().unwrap_or(0);
        loop {
            self.work_on(own, work);
            let Some((number, pieces)) = self.read() else { break };
            let parse = |piece: StreamPiece| {
                let bytes = piece.bytes();
                (self.corpus.parse(piece), bytes)
            };
            let portion = Portion { number, parsed: pieces.into_iter().map(parse).collect() };
            let mut order = lock(&self.order);
            order.parsed[own].push_back(portion);
            self.enter_in_turn(own, &mut order);
        }
        self.finish(own, work);
    }

    /// Enters and works on what is left of what this thread has parsed and, after a while, what others have.
    fn finish(&self, own: usize, work: &(dyn Fn(usize, Run) + Sync)) {
        let mut threads = own..own + 1;
        loop {
            let mut order = lock(&self.order);
            threads.clone().for_each(|thread| self.enter_in_turn(thread, &mut order));
            drop(order);
            threads.for_each(|thread| self.work_on(thread, work));
            let is_idle = |order: &mut ReadingOrder<'_>| {
                lock(&self.queues[own]).is_empty() && !order.is_turn_of(own) && !self.has_ended(order)
            };
            let waited = self.changed.wait_timeout_while(lock(&self.order), PATIENCE, is_idle);
            let (order, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if self.has_ended(&order) {
                break;
            }
            threads = if timeout.timed_out() { 0..self.queues.len() } else { own..own + 1 };
        }
        self.changed.notify_all();
    }

    /// True if nobody has anything left to do in this errand but what has been begun.
    fn has_ended(&self, order: &ReadingOrder<'_>) -> bool {
        order.is_broken
            || order.next_read == order.next_entered && self.queues.iter().all(|queue| lock(queue).is_empty())
    }

    /// Works on what a thread has parsed.
    fn work_on(&self, thread: usize, work: &(dyn Fn(usize, Run) + Sync)) {
        let next = || lock(&self.queues[thread]).pop_front();
        while let Some((place, run)) = next() {
            work(place, run);
        }
    }

    /// The next portion with its number, unless this errand reads no more.
    fn read(&self) -> Option<(usize, Vec<StreamPiece>)> {
        let mut input = lock(&self.input);
        if input.pieces >= MOST_RUNS || input.bytes >= MOST_BYTES || lock(&self.order).is_enough() {
            return None;
        }
        let most_pieces = (MOST_RUNS / (PORTIONS_A_THREAD * self.queues.len())).clamp(1, MOST_RUNS - input.pieces);
        let pieces = input.stream.next_portion(most_pieces, PORTION_BYTES);
        let mut order = lock(&self.order);
        if pieces.is_empty() {
            order.is_all_read = true;
            self.enter(&mut order);
            return None;
        }
        input.pieces += pieces.len();
        input.bytes += pieces.iter().map(StreamPiece::bytes).sum::<usize>();
        order.next_read += 1;
        Some((order.next_read - 1, pieces))
    }

    /// Enters what a thread has parsed, as far as it is its turn: in the order in which it was read.
    fn enter_in_turn(&self, thread: usize, order: &mut ReadingOrder<'c>) {
        while order.is_turn_of(thread)
            && let Some(portion) = order.parsed[thread].pop_front()
        {
            order.next_entered += 1;
            for (parsed, bytes) in portion.parsed {
                order.sources.add(parsed, bytes, thread);
            }
            self.enter(order);
        }
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
        self.changed.notify_all();
    }

    /// What was found in the corpus.
    pub(super) fn close(self) -> Result<CorpusReport, ReadError> {
        let order = self.order.into_inner().unwrap_or_else(PoisonError::into_inner);
        let report = order.ledger.close()?;
        Ok(CorpusReport { records_calls: order.sources.known(), ..report })
    }
}

/// Tells the other threads if this one panics: they wait for what it parses.
struct PanicWatch<'e, 'c>(&'e Errands<'c>);

impl Drop for PanicWatch<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.order).is_broken = true;
            self.0.changed.notify_all();
        }
    }
}

impl ReadingOrder<'_> {
    /// True if what is entered next was parsed by this thread.
    fn is_turn_of(&self, thread: usize) -> bool {
        matches!(self.parsed[thread].front(), Some(portion) if portion.number == self.next_entered)
    }

    /// True if there is enough to work on in this errand.
    fn is_enough(&self) -> bool {
        self.entered >= MOST_RUNS || self.outcome.is_err() || !self.sources.needs_more()
    }

    /// True if all portions of the corpus are parsed.
    fn is_at_end(&self) -> bool {
        self.is_all_read && self.next_read == self.next_entered
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
