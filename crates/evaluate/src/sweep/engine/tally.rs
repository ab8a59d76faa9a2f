//! The result of a stack over all runs, in whole numbers, so that the order of summation does not matter.

use crate::stats::CostSums;

/// Counts and sums of one stack over the runs it can be judged on: graded, with every rule evaluated. Amounts are
/// whole numbers of [`Runs::unit`](super::Runs::unit) times [`Runs::scale`](super::Runs::scale), over the runs that
/// record them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of runs judged.
    pub judged: u64,
    /// Successes among them.
    pub successes: u64,
    /// Failures among them.
    pub failures: u64,
    /// Runs ended early.
    pub stops: u64,
    /// Successes lost by a stop.
    pub killed: u64,
    /// Failures ended early and not rescued by the stop.
    pub true_stops: u64,
    /// Failures that held their success when they were stopped.
    pub rescued: u64,
    /// Successes that record the amount.
    pub recorded_successes: u64,
    /// Runs that record the amount and are a success in the end: kept, or rescued by the stop.
    pub recorded_kept: u64,
    /// Total amount recorded.
    pub recorded: u64,
    /// Amount recorded on successes.
    pub recorded_on_successes: u64,
    /// Amount spent under the stack.
    pub spent: u64,
    /// Amount saved on failures and after a success was secured.
    pub useful: u64,
}

impl Tally {
    /// Successes killed over successes judged.
    pub fn killed_rate(&self) -> Option<f64> {
        share(self.killed, self.successes)
    }

    /// Useful savings over the recorded amount.
    pub fn useful_ratio(&self) -> Option<f64> {
        share(self.useful, self.recorded)
    }

    /// Failures stopped over failures.
    pub fn stop_recall(&self) -> Option<f64> {
        share(self.true_stops, self.failures)
    }

    /// The cost of a success under the stack, relative to without it; `None` if no success is left.
    pub fn cost_of_success(&self) -> Option<f64> {
        let sums = CostSums {
            spent_with: self.spent as f64,
            successes_with: self.recorded_kept as f64,
            spent_without: self.recorded as f64,
            successes_without: self.recorded_successes as f64,
            n: self.judged,
        };
        sums.ratio()
    }
}

fn share(part: u64, of: u64) -> Option<f64> {
    if of == 0 { None } else { Some(part as f64 / of as f64) }
}

/// Sums collected block by block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockSums {
    pub(super) spent_on_failures: u64,
    pub(super) spent_on_successes: u64,
    pub(super) stopped_failures: u64,
    pub(super) stopped_successes: u64,
    /// Successes killed that do not record the amount.
    pub(super) unrecorded_killed: u64,
    /// Failures rescued that do not record the amount.
    pub(super) unrecorded_rescued: u64,
    /// Sums over runs whose verdict depends on the point.
    pub(super) others: Others,
}

/// Sums over runs whose verdict depends on the point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Others {
    pub(super) stops: u64,
    pub(super) killed: u64,
    pub(super) true_stops: u64,
    pub(super) rescued: u64,
    pub(super) spent: u64,
    pub(super) useful: u64,
}

/// Totals that do not depend on where runs are stopped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Base {
    pub(super) failures: u64,
    pub(super) successes: u64,
    /// Successes that record the amount.
    pub(super) recorded_successes: u64,
    /// Recorded on failures where every stop is a true stop.
    pub(super) recorded_on_failures: u64,
    pub(super) recorded: u64,
    pub(super) recorded_on_successes: u64,
    /// Amounts that lanes that cannot be read contribute to the sums and that must be subtracted: on failures and on
    /// successes.
    pub(super) excess: (u64, u64),
}

impl Base {
    pub(super) fn with(&self, sums: &BlockSums) -> Tally {
        let on_failures = sums.spent_on_failures - self.excess.0;
        let on_successes = sums.spent_on_successes - self.excess.1;
        let others = &sums.others;
        let killed = sums.stopped_successes + others.killed;
        let lost = killed - sums.unrecorded_killed;
        Tally {
            judged: self.failures + self.successes,
            successes: self.successes,
            failures: self.failures,
            stops: sums.stopped_failures + sums.stopped_successes + others.stops,
            killed,
            true_stops: sums.stopped_failures + others.true_stops,
            rescued: others.rescued,
            recorded_successes: self.recorded_successes,
            // A latched stack without rules stops lanes without runs as well; its tally is never shown.
            recorded_kept: (self.recorded_successes + others.rescued - sums.unrecorded_rescued).saturating_sub(lost),
            recorded: self.recorded,
            recorded_on_successes: self.recorded_on_successes,
            spent: on_failures + on_successes + others.spent,
            useful: self.recorded_on_failures - on_failures + others.useful,
        }
    }
}
