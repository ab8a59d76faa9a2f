//! What stops saved, told apart by what it cost: a success stopped early saves nothing.

use std::collections::BTreeMap;

use super::{Group, Label, Row};
use crate::transcript::Outcome;
use crate::verdict::Verdict;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Model calls.
    Steps,
    /// Input plus output tokens.
    Tokens,
    /// US dollars.
    CostUsd,
}

impl Unit {
    /// All units.
    pub const ALL: [Self; 3] = [Self::Steps, Self::Tokens, Self::CostUsd];

    /// The prefix of its columns.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Tokens => "tokens",
            Self::CostUsd => "cost_usd",
        }
    }

    /// The whole recording; `None` when the recording does not tell.
    pub fn recorded(self, row: &Row) -> Option<f64> {
        match self {
            Self::Steps => Some(row.steps_recorded as f64),
            Self::Tokens => row.tokens_recorded.map(|tokens| tokens as f64),
            Self::CostUsd => row.cost_usd_recorded,
        }
    }

    /// Up to the stop.
    pub fn at_stop(self, row: &Row) -> Option<f64> {
        match self {
            Self::Steps => Some(row.steps_at_stop as f64),
            Self::Tokens => row.tokens_at_stop.map(|tokens| tokens as f64),
            Self::CostUsd => row.cost_usd_at_stop,
        }
    }

    /// Not spent because of the stop.
    pub fn saved(self, row: &Row) -> Option<f64> {
        Some((self.recorded(row)? - self.at_stop(row)?).max(0.0))
    }
}

/// The unit a corpus is best judged in: tokens when at least half the runs have them, else steps.
pub fn unit_of(rows: &[Row]) -> Unit {
    let with_tokens = rows.iter().filter(|row| row.tokens_recorded.is_some()).count();
    if with_tokens * 2 >= rows.len() && !rows.is_empty() { Unit::Tokens } else { Unit::Steps }
}

/// What a group's stops saved in one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Savings {
    /// Runs for which the recording tells.
    pub runs: u64,
    /// Recorded in all.
    pub recorded: f64,
    /// Spent by the stops.
    pub at_stop: f64,
    /// Not spent, all verdicts together.
    pub saved: f64,
    /// The part saved on failed runs.
    pub on_failures: f64,
    /// The part saved after a success was secured.
    pub after_success: f64,
    /// The part of runs without a known outcome.
    pub unlabelled: f64,
    /// The part that came of false early stops: forfeited work, not a saving.
    pub forfeited: f64,
    /// Saved, less what it costs to run the killed successes again.
    pub rework_adjusted: Option<f64>,
    /// Spent on runs that failed, in the recording (waste W1).
    pub recorded_on_failures: f64,
}

impl Savings {
    /// Adds a group up. `None` when no run tells.
    pub fn of(group: &Group<'_>, unit: Unit) -> Option<Self> {
        let mut savings = Self::default();
        let mut rework = Some(0.0);
        let price = SuccessPrice::of(group, unit);
        for row in &group.rows {
            let (Some(recorded), Some(at_stop), Some(saved)) = (unit.recorded(row), unit.at_stop(row), unit.saved(row))
            else {
                continue;
            };
            savings.runs += 1;
            savings.recorded += recorded;
            savings.at_stop += at_stop;
            savings.saved += saved;
            match row.verdict {
                Verdict::FalseEarlyStop | Verdict::UnverifiedFalseEarlyStop => {
                    savings.forfeited += saved;
                    rework = rework.zip(price.of_run_like(row)).map(|(sum, price)| sum + price);
                }
                Verdict::GoodTrim => savings.after_success += saved,
                Verdict::TrueStop | Verdict::Rescued => savings.on_failures += saved,
                Verdict::Unlabelled => savings.unlabelled += saved,
                Verdict::MissedStop | Verdict::LostSuccess | Verdict::CleanPass => {}
            }
            if row.outcome == Outcome::Failure {
                savings.recorded_on_failures += recorded;
            }
        }
        savings.rework_adjusted = rework.map(|rework| savings.saved - rework);
        (savings.runs > 0).then_some(savings)
    }
}

/// What a success costs: the mean of the task's recorded successes, else of its suite and model, else of
/// all (STATISTICS 4.3, rework-adjusted saving).
pub(super) struct SuccessPrice<'r> {
    task: BTreeMap<(&'r str, &'r str), Mean>,
    stratum: BTreeMap<Stratum<'r>, Mean>,
    all: Mean,
}

impl<'r> SuccessPrice<'r> {
    pub(super) fn of(group: &Group<'r>, unit: Unit) -> Self {
        let mut price = Self { task: BTreeMap::new(), stratum: BTreeMap::new(), all: Mean::default() };
        for row in group.rows.iter().filter(|row| row.outcome == Outcome::Success) {
            let Some(recorded) = unit.recorded(row) else { continue };
            price.task.entry(row.cluster()).or_default().add(recorded);
            price.stratum.entry((row.suite.as_ref(), row.model.as_ref())).or_default().add(recorded);
            price.all.add(recorded);
        }
        price
    }

    pub(super) fn of_run_like(&self, row: &'r Row) -> Option<f64> {
        let task = self.task.get(&row.cluster()).and_then(Mean::value);
        let stratum = || self.stratum.get(&(row.suite.as_ref(), row.model.as_ref())).and_then(Mean::value);
        task.or_else(stratum).or_else(|| self.all.value())
    }
}

/// Suite and model.
type Stratum<'r> = (Option<&'r Label>, Option<&'r Label>);

#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    n: u64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.n += 1;
    }

    fn value(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum / self.n as f64)
    }
}
