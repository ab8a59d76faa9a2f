//! Whether what the past would have shipped held on what came next, period by period.

use std::collections::BTreeMap;

use super::{
    Ends, Group, LEVEL, Label, Over, Period, PeriodLength, RunEffect, Share, TaskSums, Unit, killed_of_all, killed_rate,
};
use crate::stats::RangeEstimate;
use crate::transcript::Outcome;

/// The runs of one period, and what the stack does to them that all runs before would have shipped.
#[derive(Clone, Debug)]
pub struct ForwardPeriod {
    /// When they started.
    pub period: Period,
    /// Number of runs of the periods before.
    pub past: u64,
    /// The stack that those would have shipped; `None` if none.
    pub stack: Option<Label>,
    /// Number of runs of the period.
    pub runs: u64,
    /// Successes among them.
    pub successes: u64,
    /// Failures among them.
    pub failures: u64,
    /// The unit of what is spent.
    pub unit: Unit,
    /// What the stack, or no stopping, does to the runs of each task.
    tasks: BTreeMap<TaskName, TaskSums>,
    /// All tasks together.
    pub all: TaskSums,
}

/// Suite and name of a task.
type TaskName = (String, String);

impl ForwardPeriod {
    /// From the rows of `stack` on the runs of the period. Without a stack, the rows are of any, and what they did is
    /// ignored.
    pub fn new(period: Period, past: u64, stack: Option<Label>, rows: &Group<'_>, unit: Unit) -> Self {
        let (mut successes, mut failures) = (0, 0);
        let mut tasks: BTreeMap<TaskName, TaskSums> = BTreeMap::new();
        let mut all = TaskSums::default();
        for row in rows.rows() {
            match row.outcome() {
                Outcome::Success => successes += 1,
                Outcome::Failure => failures += 1,
                Outcome::Unknown => {}
            }
            let effect = match stack {
                Some(_) => RunEffect::from_row(row, unit),
                None => RunEffect::unstopped(row, unit),
            };
            let (suite, task) = row.cluster();
            tasks.entry((suite.to_owned(), task.to_owned())).or_default().add(&effect, Over::All);
            all.add(&effect, Over::All);
        }
        Self { period, past, stack, runs: rows.len() as u64, successes, failures, unit, tasks, all }
    }

    /// The mean over tasks of the share of their successes that is killed.
    pub fn killed_rate(&self, level: f64) -> RangeEstimate {
        killed_rate(&self.tasks.values().collect::<Vec<_>>(), level)
    }

    /// Usefully saved over recorded, from the lowest to the highest value that the recordings allow; `None` where nothing
    /// limits it.
    pub fn saved(&self) -> Ends<Option<f64>> {
        saved(&self.all)
    }

    /// The amount recorded on the runs that record it.
    pub fn recorded(&self) -> f64 {
        self.all.useful.high.denominator
    }

    /// The amount that those runs spend, at least and at most; `None` where nothing limits it.
    pub fn spent(&self) -> Ends<Option<f64>> {
        let TaskSums { per_success, unlimited, .. } = &self.all;
        let most = if *unlimited == 0 { Some(per_success.high.numerator) } else { None };
        Ends { low: Some(per_success.low.numerator), high: most }
    }

    /// Number of runs that do not record the amount.
    pub fn unmeasured(&self) -> u64 {
        self.runs - self.all.measured
    }
}

fn saved(sums: &TaskSums) -> Ends<Option<f64>> {
    let most = sums.useful.high;
    let high = if most.denominator > 0.0 { Some(most.numerator / most.denominator) } else { None };
    Ends { low: sums.saved_ratio(), high }
}

/// All periods, in order of time.
#[derive(Clone, Debug)]
pub struct Forward {
    /// How long each is.
    pub length: PeriodLength,
    /// The tolerated share of killed successes.
    pub max_killed: f64,
    /// Runs without a date: they are in no period.
    pub undated: u64,
    /// The periods that hold a run.
    pub periods: Vec<ForwardPeriod>,
}

/// Whether what the past would have shipped kept within what is tolerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// It killed no more than is tolerated.
    Yes,
    /// It killed more, beyond chance.
    No,
    /// It killed more, or may have; by chance, or because too little is known.
    Open,
}

/// What is found over all periods for which the past would have shipped a stack.
#[derive(Clone, Debug)]
pub struct ForwardFinding {
    /// Whether it held.
    pub held: Held,
    /// How many of these periods there are.
    pub periods: usize,
    /// The indices of those in which more was killed than is tolerated, beyond chance, allowing for their number.
    pub broken: Vec<usize>,
    /// The successes killed, of all.
    pub killed: Ends<Share>,
    /// The mean over tasks of the share of their successes that is killed.
    pub killed_rate: RangeEstimate,
    /// Usefully saved over recorded.
    pub saved: Ends<Option<f64>>,
}

impl Forward {
    /// The unit of all amounts.
    pub fn unit(&self) -> Unit {
        match self.periods.first() {
            Some(period) => period.unit,
            None => Unit::Steps,
        }
    }

    /// What is found; `None` if the past would never have shipped a stack.
    pub fn finding(&self) -> Option<ForwardFinding> {
        let judged: Vec<(usize, &ForwardPeriod)> =
            self.periods.iter().enumerate().filter(|(_, period)| period.stack.is_some()).collect();
        if judged.is_empty() {
            return None;
        }
        let mut tasks: BTreeMap<&TaskName, TaskSums> = BTreeMap::new();
        let mut all = TaskSums::default();
        for (_, period) in &judged {
            all.merge(&period.all);
            for (name, sums) in &period.tasks {
                tasks.entry(name).or_default().merge(sums);
            }
        }
        let tasks: Vec<&TaskSums> = tasks.values().collect();
        let killed_rate = killed_rate(&tasks, LEVEL);
        let each = 1.0 - (1.0 - LEVEL) / judged.len() as f64;
        let is_above = |rate: &RangeEstimate| rate.lower().is_some_and(|low| low > self.max_killed);
        let broken: Vec<usize> =
            judged.iter().filter(|(_, period)| is_above(&period.killed_rate(each))).map(|(at, _)| *at).collect();
        let held = if !broken.is_empty() || is_above(&killed_rate) {
            Held::No
        } else if killed_rate.high.value.is_some_and(|rate| rate <= self.max_killed) {
            Held::Yes
        } else {
            Held::Open
        };
        let (periods, killed, saved) = (judged.len(), killed_of_all(&tasks), saved(&all));
        Some(ForwardFinding { held, periods, broken, killed, killed_rate, saved })
    }
}
