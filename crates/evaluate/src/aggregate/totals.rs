//! The one definition of what a strategy does to a run, and of the numbers made from it: successes killed, savings,
//! forfeited work, the cost of a success, and what an oracle would save. `compare` makes contributions from rows;
//! `tune` makes them from stops that the engine found.

use super::ratios::{kept, useful_range};
use super::{RowView, RunRows, Unit};
use crate::stats::{ClusterSums, CostSums};
use crate::transcript::{Outcome, Point, Secured};
use crate::verdict::Verdict;

/// What one judged run (graded, with every rule evaluated) adds to the totals of a strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not exclude each other")]
pub struct Contribution {
    /// Whether the recording is a success.
    pub is_success: bool,
    /// Whether the strategy ended it early.
    pub is_stopped: bool,
    /// Whether a success was lost by that.
    pub is_killed: bool,
    /// 1 if it is a success in the end, kept or rescued by the stop; else 0.
    pub kept: f64,
    /// What was spent and saved; `None` if the recording does not tell.
    pub amounts: Option<ContributedAmounts>,
    /// False if anything above is known only within bounds: it is then at its worst.
    pub is_exact: bool,
}

/// What one run spent, in one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContributedAmounts {
    /// The whole recording.
    pub recorded: f64,
    /// Spent under the strategy; `None` if nothing limits it.
    pub spent: Option<f64>,
    /// Saved on a failure or after a success was secured; `None` if nothing limits what is spent.
    pub useful: Option<f64>,
    /// What an oracle would save: all of a failure, and everything after a success was secured. `None` if the recording
    /// does not tell what came after.
    pub possible: Option<f64>,
}

impl Contribution {
    /// From a row, every unknown at its worst. `None` for a run that is left out: ungraded, or with a rule that could
    /// not be evaluated.
    pub fn of_row(row: RowView<'_>, unit: Unit) -> Option<Self> {
        if !row.is_judged() {
            return None;
        }
        let is_success = row.outcome() == Outcome::Success;
        let (least, most) = kept(row);
        let spent = unit.spent_range(row);
        let amounts = unit.recorded(row).zip(spent).map(|(recorded, (_, spent))| ContributedAmounts {
            recorded,
            spent,
            useful: useful_range(row, unit).and_then(|(least, _)| least),
            possible: if is_success { unit.after_success(row) } else { Some(recorded) },
        });
        let is_point = spent.is_none_or(|(least, most)| most == Some(least));
        Some(Self {
            is_success,
            is_stopped: row.was_stopped(),
            is_killed: is_success && row.killed_high() == 1,
            kept: least,
            amounts,
            is_exact: is_point && least.total_cmp(&most).is_eq(),
        })
    }

    /// From an early stop at that point, or from no stop. `None` if the run is ungraded.
    pub fn of_stop(run: &RunRows, stop: Option<Point>, unit: Unit) -> Option<Self> {
        let (course, ledger) = (run.course(), run.ledger());
        let by = |point: Point| unit.of_amounts(ledger.until(point));
        let amounts = unit.of_amounts(ledger.whole()).map(|recorded| {
            let after = match course.secured() {
                Secured::At(point) => by(point).map(|spent| recorded - spent),
                _ => Some(0.0),
            };
            let possible = if run.outcome() == Outcome::Success { after } else { Some(recorded) };
            (recorded, stop.map_or(Some(recorded), by), possible)
        });
        Self::new(run.outcome(), course.verdict(stop), stop.is_some(), amounts)
    }

    /// From the verdict on a stop, or on no stop, with the recorded amount, what was spent and what an oracle would save.
    pub(crate) fn new(
        outcome: Outcome,
        verdict: Verdict,
        is_stopped: bool,
        amounts: Option<(f64, Option<f64>, Option<f64>)>,
    ) -> Option<Self> {
        let is_success = outcome.grade()?;
        let amounts = amounts.map(|(recorded, spent, possible)| ContributedAmounts {
            recorded,
            spent,
            useful: if verdict.is_fes() { Some(0.0) } else { spent.map(|spent| recorded - spent) },
            possible,
        });
        Some(Self {
            is_success,
            is_stopped,
            is_killed: verdict.is_fes(),
            kept: f64::from(u8::from(verdict.keeps_success())),
            amounts,
            is_exact: true,
        })
    }
}

/// Sums of contributions in one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Killed over successes.
    pub killed: ClusterSums,
    /// Saved on failures and after success, over recorded.
    pub saved: ClusterSums,
    /// Spent and successes, with the strategy and without, over the runs that record the unit.
    pub cost: CostSums,
    /// What an oracle would save, over recorded.
    pub oracle: ClusterSums,
    /// Runs ended early.
    pub stops: u64,
    /// Failed runs among them.
    pub stopped_failures: u64,
    /// Runs of which nothing limits what is spent: there is then no saving.
    pub unlimited: u64,
    /// Runs whose spending or success is known only within bounds: there is then no cost of a success.
    pub inexact: u64,
}

impl Totals {
    /// Adds a run.
    pub fn add(&mut self, run: &Contribution) {
        if run.is_success {
            self.killed.add(f64::from(u8::from(run.is_killed)), 1.0);
        }
        self.stops += u64::from(run.is_stopped);
        self.stopped_failures += u64::from(run.is_stopped && !run.is_success);
        let Some(amounts) = run.amounts else { return };
        match amounts.useful {
            Some(useful) => self.saved.add(useful, amounts.recorded),
            None => self.unlimited += 1,
        }
        if let Some(possible) = amounts.possible {
            self.oracle.add_either(possible, amounts.recorded);
        }
        match amounts.spent.filter(|_| run.is_exact) {
            Some(spent) => self.cost.add(spent, run.kept, amounts.recorded, run.is_success),
            None => self.inexact += 1,
        }
    }

    /// Adds the runs of another part.
    pub fn merge(&mut self, part: &Self) {
        self.killed.merge(&part.killed);
        self.saved.merge(&part.saved);
        self.cost = self.cost.plus(&part.cost);
        self.oracle.merge(&part.oracle);
        self.stops += part.stops;
        self.stopped_failures += part.stopped_failures;
        self.unlimited += part.unlimited;
        self.inexact += part.inexact;
    }

    /// The share of successes killed; `None` without a success.
    pub fn killed_rate(&self) -> Option<f64> {
        share(&self.killed)
    }

    /// What was saved on failures and after success, over what was recorded; `None` if nothing limits what some run
    /// spends.
    pub fn saved_ratio(&self) -> Option<f64> {
        share(&self.saved).filter(|_| self.unlimited == 0)
    }

    /// What was not spent, whatever became of the run.
    pub fn unspent(&self) -> f64 {
        self.cost.spent_without - self.cost.spent_with
    }

    /// What killed successes would still have spent: not a saving.
    pub fn forfeited(&self) -> f64 {
        self.unspent() - self.saved.numerator
    }

    /// Spending per success in the end over recorded spending per success; `None` if it is known only within bounds, no
    /// success is left or nothing was spent.
    pub fn cost_of_success(&self) -> Option<f64> {
        self.cost.ratio().filter(|_| self.inexact == 0)
    }

    /// What an oracle would save, over what was recorded.
    pub fn oracle_ratio(&self) -> Option<f64> {
        share(&self.oracle)
    }
}

fn share(sums: &ClusterSums) -> Option<f64> {
    (sums.denominator > 0.0).then(|| sums.numerator / sums.denominator)
}
