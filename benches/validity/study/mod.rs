//! Synthetic corpora of known truth, and how often the printed numbers are right about them.

pub(crate) mod bounds;
pub(crate) mod certificates;
pub(crate) mod chosen;
pub(crate) mod intervals;
pub(crate) mod random;
pub(crate) mod seldom;
pub(crate) mod small;
pub(crate) mod spent;
pub(crate) mod summary;
pub(crate) mod sweeps;
pub(crate) mod tests;
pub(crate) mod tuning;
pub(crate) mod unknowns;
pub(crate) mod worlds;

use std::collections::BTreeMap;

use random::Random;
use whenstop::stats::{Estimate, Interval};

/// The shape of a corpus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Corpus {
    /// Tasks.
    pub(crate) tasks: usize,
    /// Most runs per task; a task has 1 to that many unless `even`.
    pub(crate) trials: u64,
    /// Every task has all its runs.
    pub(crate) even: bool,
    /// Correlation of runs of a task.
    pub(crate) icc: f64,
    /// The experiment's effect size; its meaning is the experiment's.
    pub(crate) effect: f64,
}

impl Corpus {
    pub(crate) fn runs(&self, random: &mut Random) -> u64 {
        if self.even { self.trials } else { random.one_to(self.trials) }
    }
}

/// What was counted for one method in one cell.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) experiment: &'static str,
    pub(crate) method: String,
    /// What `share` is the share of.
    pub(crate) measure: &'static str,
    pub(crate) corpus: Corpus,
    /// Corpora in which the event happened, of those in which the method gave an answer.
    pub(crate) events: u64,
    pub(crate) answered: u64,
    /// Corpora drawn.
    pub(crate) drawn: u64,
    /// The mean width of the intervals, where that is noted.
    pub(crate) width: Option<f64>,
    /// The width that 95 % of the estimates lie in when corpora are drawn again, where that is noted.
    pub(crate) repeated: Option<f64>,
}

impl Row {
    /// The share of events; `None` if the method never answered.
    pub(crate) fn share(&self) -> Option<f64> {
        (self.answered > 0).then(|| self.events as f64 / self.answered as f64)
    }

    /// Monte-Carlo standard error of the share.
    pub(crate) fn error(&self) -> Option<f64> {
        self.share().map(|share| (share * (1.0 - share) / self.answered as f64).sqrt())
    }
}

/// Counts events per method over the corpora of one cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(BTreeMap<(String, &'static str), Count>);

#[derive(Clone, Debug, Default)]
struct Count {
    events: u64,
    answered: u64,
    drawn: u64,
    /// The sum of the widths of intervals, and how many there are.
    widths: (f64, u64),
    /// The estimates.
    values: Vec<f64>,
}

impl Count {
    fn repeated(&mut self) -> Option<f64> {
        self.values.sort_unstable_by(f64::total_cmp);
        let last = self.values.len().checked_sub(1)?;
        let [low, high] = [last / 40, last - last / 40];
        Some(self.values[high] - self.values[low])
    }
}

impl Tally {
    /// Notes whether the event happened; `None` if the method gave no answer.
    pub(crate) fn note(&mut self, method: &str, measure: &'static str, event: Option<bool>) {
        let count = self.0.entry((method.to_owned(), measure)).or_default();
        count.drawn += 1;
        count.answered += u64::from(event.is_some());
        count.events += u64::from(event == Some(true));
    }

    /// Notes whether the interval holds the truth, and how wide it is.
    pub(crate) fn interval(
        &mut self,
        method: &str,
        measure: &'static str,
        interval: Option<Interval>,
        truth: Option<f64>,
    ) {
        let both = interval.zip(truth);
        self.note(method, measure, both.map(|(interval, truth)| interval.contains(truth)));
        if let Some(interval) = interval.filter(|interval| interval.width().is_finite()) {
            let (sum, n) = &mut self.0.entry((method.to_owned(), measure)).or_default().widths;
            *sum += interval.width();
            *n += 1;
        }
    }

    /// The same for an estimate with its interval, how far estimates lie apart, and how often the truth lies above.
    pub(crate) fn estimate(&mut self, method: &str, measure: &'static str, estimate: &Estimate, truth: Option<f64>) {
        self.interval(method, measure, estimate.interval, truth);
        let both = estimate.interval.zip(truth);
        self.note(method, "truth-above", both.map(|(interval, truth)| truth > interval.high));
        self.0.entry((method.to_owned(), measure)).or_default().values.extend(estimate.value);
    }

    pub(crate) fn rows(self, experiment: &'static str, corpus: Corpus) -> Vec<Row> {
        self.0
            .into_iter()
            .map(|((method, measure), mut count)| Row {
                experiment,
                method,
                measure,
                corpus,
                events: count.events,
                answered: count.answered,
                drawn: count.drawn,
                width: (count.widths.1 > 0).then(|| count.widths.0 / count.widths.1 as f64),
                repeated: count.repeated(),
            })
            .collect()
    }
}

/// Runs `draw` on `repetitions` corpora of one cell, each with its own seed.
pub(crate) fn repeat(
    experiment: &'static str,
    corpus: Corpus,
    repetitions: u64,
    mut draw: impl FnMut(&mut Random, &mut Tally),
) -> Vec<Row> {
    let name = format!("{experiment} {corpus:?}");
    let base = whenstop::stats::cluster_key(&name);
    let mut tally = Tally::default();
    for repetition in 0..repetitions {
        draw(&mut Random::new(base.wrapping_add(repetition.wrapping_mul(0x9E37_79B9))), &mut tally);
    }
    tally.rows(experiment, corpus)
}

/// Keys of the tasks, which differ from corpus to corpus.
pub(crate) fn keys(tasks: usize, random: &mut Random) -> Vec<u64> {
    (0..tasks).map(|_| random.bits()).collect()
}
