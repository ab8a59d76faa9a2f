//! Every number of a summary, declared once: its name, its unit, on which runs it is known, over what it is taken, and
//! what it means. The tables, the gates and the documentation are made from this list.

mod amounts;
mod counts;
mod list;
mod measured;
mod named;
mod rates;

use std::fmt;
use std::sync::LazyLock;

use super::{Count, Summary, Unit};
use list::MetricList;
pub use measured::{Made, Measured, MetricPart};
pub use named::{Named, metric_names, named};

/// What a metric counts in, and which values it can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Runs.
    Runs,
    /// Tasks.
    Tasks,
    /// A share, from 0 to 1.
    Share,
    /// A share of an amount, at most 1. Below 0 if more was spent: a forced last answer may cost more than the stop saved.
    SavedShare,
    /// One number over another, from 0.
    Ratio,
    /// The probability of so large a difference by chance, from 0 to 1.
    Probability,
    /// An amount, from 0.
    Amount(Unit),
    /// An amount that may be below 0.
    Balance(Unit),
    /// Milliseconds, from 0.
    Milliseconds,
    /// A number without a unit, of any size.
    Number,
}

impl Measure {
    /// The smallest and the largest possible value; `None` if there is no limit.
    pub fn range(self) -> (Option<f64>, Option<f64>) {
        match self {
            Self::Share | Self::Probability => (Some(0.0), Some(1.0)),
            Self::SavedShare => (None, Some(1.0)),
            Self::Number | Self::Balance(_) => (None, None),
            Self::Runs | Self::Tasks | Self::Ratio | Self::Amount(_) | Self::Milliseconds => (Some(0.0), None),
        }
    }

    /// The unit in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Tasks => "tasks",
            Self::Share | Self::SavedShare => "share",
            Self::Ratio => "ratio",
            Self::Probability => "probability",
            Self::Amount(unit) | Self::Balance(unit) => unit.words(),
            Self::Milliseconds => "milliseconds",
            Self::Number => "",
        }
    }

    /// Whether it is counted in whole numbers.
    pub fn is_count(self) -> bool {
        matches!(self, Self::Runs | Self::Tasks)
    }
}

/// What must be known about a run for a metric to be known on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: the number is about the recording, or holds for every unknown.
    Nothing,
    /// Every rule can be evaluated, and the run did not leave the recorded path.
    Stop,
    /// The same, and an outcome.
    Outcome,
}

/// Where the summary has a metric; `estimates.csv` has every estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Its value.
    Value,
    /// Its value and the ends of its interval.
    Interval,
    /// Not in the summary.
    No,
}

/// A number of a summary.
pub struct SummaryMetric {
    /// Its name.
    pub name: String,
    /// What it counts in.
    pub measure: Measure,
    /// What must be known about a run for it to be known there.
    pub needs: Needs,
    /// The unit a run has to record for it to be known there.
    pub unit: Option<Unit>,
    /// What an estimate is taken over; empty for a count or a sum.
    pub of: String,
    /// What it means.
    pub meaning: String,
    /// Where the summary has it.
    pub shown: Shown,
    read: Box<dyn Fn(&Summary) -> Measured + Send + Sync>,
}

impl fmt::Debug for SummaryMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl SummaryMetric {
    /// Its value in a summary.
    pub fn read_from(&self, summary: &Summary) -> Measured {
        (self.read)(summary)
    }

    /// Whether it is an estimate, with an interval.
    pub fn is_estimate(&self) -> bool {
        !self.of.is_empty()
    }

    /// Whether it is the share of some runs, each of which either counts or does not.
    pub fn is_rate(&self) -> bool {
        self.measure == Measure::Share && self.is_estimate()
    }
}

/// All metrics, in the order of the tables.
pub fn metrics() -> &'static [SummaryMetric] {
    static ALL: LazyLock<Vec<SummaryMetric>> = LazyLock::new(all);
    &ALL
}

/// Version of the columns of `summary.csv`, `strata.csv` and `estimates.csv`.
pub const SUMMARY_VERSION: u32 = 7;

fn all() -> Vec<SummaryMetric> {
    let mut list = MetricList::default();
    counts::counts(&mut list);
    rates::rates(&mut list);
    for unit in Unit::ALL {
        amounts::amounts(&mut list, unit);
        amounts::ratios(&mut list, unit);
    }
    let recorded = "Milliseconds recorded, over the runs that record them.";
    list.push("ms_recorded", |s| Measured::plain(s.milliseconds()[0]), Measure::Milliseconds, Needs::Nothing, recorded);
    let at_stop = "Milliseconds elapsed by the stops, over the runs that record them.";
    list.push("ms_at_stop", |s| Measured::plain(s.milliseconds()[1]), Measure::Milliseconds, Needs::Stop, at_stop);
    list.0
}
