//! What strategies do to the runs of a study: totals by task, with their estimates.

use std::collections::BTreeMap;

use super::{Fate, Study};
use crate::aggregate::{LEVEL, Over, RunEffect, TaskSums, killed_rate};
use crate::stats::{ClusterSums, Estimate, Interval, ratio_estimate};
use crate::transcript::Outcome;

/// The totals of a strategy by task.
#[derive(Clone, Debug, Default)]
pub struct TaskTotals {
    /// Totals by task index, in task order.
    pub tasks: Vec<(usize, TaskSums)>,
    /// What the intervals allow for besides, if tasks are rated under different choices.
    pub choice: Choosing,
}

/// What is known about a choice besides its totals on tasks left out: killed, saved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Choosing {
    /// The intervals of what was chosen on all tasks, on the tasks it was chosen on.
    seen: [Option<Interval>; 2],
    /// The standard deviations of the rates on all tasks of what was chosen without each part.
    spread: [f64; 2],
}

impl Choosing {
    /// From the rates on all tasks of what is chosen on all of them, and of what is chosen without each part.
    pub(in crate::tune) fn from_shipped(shipped: Option<[Estimate; 2]>, parts: &[[Estimate; 2]]) -> Self {
        let spread = |nth: usize| {
            let rates: Vec<f64> = parts.iter().filter_map(|rates| rates[nth].value).collect();
            let n = rates.len() as f64;
            let mean = rates.iter().sum::<f64>() / n;
            let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
            if rates.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 }
        };
        let seen = shipped.map(|rates| rates.map(|estimate| estimate.interval));
        Self { seen: seen.unwrap_or_default(), spread: [0, 1].map(spread) }
    }

    fn on(&self, nth: usize, estimate: Estimate) -> Estimate {
        estimate.widened(self.spread[nth]).reaching(self.seen[nth])
    }
}

impl FromIterator<(usize, TaskSums)> for TaskTotals {
    fn from_iter<I: IntoIterator<Item = (usize, TaskSums)>>(tasks: I) -> Self {
        Self { tasks: tasks.into_iter().collect(), choice: Choosing::default() }
    }
}

impl TaskTotals {
    /// Killed and saved.
    pub(in crate::tune) fn estimates(&self) -> [Estimate; 2] {
        [self.killed(), self.saved()]
    }

    /// The mean over tasks of the share of their successes that is killed, every unknown counted as killed: the rate that
    /// is certified. Its interval begins where that of the kills that are certain begins.
    pub fn killed(&self) -> Estimate {
        let tasks: Vec<&TaskSums> = self.tasks.iter().map(|(_, sums)| sums).collect();
        let rate = killed_rate(&tasks, LEVEL);
        self.choice.on(0, rate.high.reaching(rate.low.interval)).within(0.0, 1.0)
    }

    fn estimate(&self, of: impl Fn(&TaskSums) -> Option<ClusterSums>) -> Estimate {
        ratio_estimate(&self.tasks.iter().filter_map(|(_, totals)| of(totals)).collect::<Vec<_>>(), LEVEL)
    }

    /// Useful saving over the recorded amount, with its interval.
    pub fn saved(&self) -> Estimate {
        if self.tasks.iter().any(|(_, totals)| totals.unlimited > 0) {
            return Estimate::UNDEFINED;
        }
        let saved = self.choice.on(1, self.estimate(|totals| Some(totals.useful.low)));
        // Nothing saves more than an oracle.
        let most = self.all().oracle_ratio().filter(|most| saved.value.is_some_and(|value| value <= *most));
        // A stop costs nothing: only what a warning leads to can.
        let is_never_dearer = self.tasks.iter().all(|(_, totals)| totals.useful.low.numerator >= 0.0);
        saved.within(if is_never_dearer { 0.0 } else { f64::NEG_INFINITY }, most.unwrap_or(1.0))
    }

    /// Relative change in the spending per success, against the same runs without stopping: -0.1 is a tenth less.
    /// `None` if it is not known.
    pub fn cost_of_success(&self) -> Option<f64> {
        self.all().cost_of_success().map(|ratio| ratio - 1.0)
    }

    /// The totals of all tasks together.
    pub fn all(&self) -> TaskSums {
        let mut all = TaskSums::default();
        self.tasks.iter().for_each(|(_, totals)| all.merge(totals));
        all
    }
}

/// What a strategy does to the runs of one suite and model.
#[derive(Clone, Debug)]
pub struct Stratum {
    /// The suite; empty if there is none.
    pub suite: String,
    /// The model; `None` if it is not recorded.
    pub model: Option<String>,
    /// The totals.
    pub totals: TaskTotals,
}

impl Study {
    /// What one run adds to the totals of a strategy. One that is ungraded, or on which a rule cannot be evaluated, adds to
    /// what may be killed alone.
    pub fn run_totals(&self, run: usize, fate: Fate) -> TaskSums {
        let mut totals = TaskSums::default();
        totals.add(&self.effect(run, fate), Over::Judged);
        totals
    }

    /// What becomes of a run. One on which a rule cannot be evaluated spends everything, and loses its success if a stop
    /// could.
    pub(in crate::tune) fn effect(&self, run: usize, fate: Fate) -> RunEffect {
        let of = &self.runs[run];
        match fate {
            Fate::Untouched => of.effect(None, self.unit),
            Fate::Stopped(end) => of.effect(Some(end), self.unit),
            Fate::Unread => of.unread_effect(self.loses(run, fate), self.unit),
        }
    }

    /// Whether a strategy loses the success of a run, or may: a rule that cannot be evaluated on it might have fired.
    pub(in crate::tune) fn loses(&self, run: usize, fate: Fate) -> bool {
        let of = &self.runs[run];
        of.outcome() == Outcome::Success
            && match fate {
                Fate::Untouched => false,
                Fate::Stopped(end) => of.kills(end),
                Fate::Unread => of.last_end().is_some(),
            }
    }

    /// The totals of several tasks, where `fate` says what becomes of each run.
    pub fn totals(&self, tasks: &[usize], fate: impl Fn(usize) -> Fate) -> TaskTotals {
        tasks.iter().map(|task| (*task, self.sums(*task, Over::Judged, &fate))).collect()
    }

    /// What becomes of the runs of one task, summed up over those that `over` says, where `fate` says what becomes of each.
    pub(in crate::tune) fn sums(&self, task: usize, over: Over, fate: impl Fn(usize) -> Fate) -> TaskSums {
        let mut sums = TaskSums::default();
        for run in self.tasks[task].runs.clone() {
            sums.add(&self.effect(run, fate(run)), over);
        }
        sums
    }

    /// The totals by suite and model, in name order, where `totals` says what becomes of each run of a task.
    pub(in crate::tune) fn strata(&self, totals: impl Fn(usize, usize) -> TaskSums) -> Vec<Stratum> {
        let mut strata: BTreeMap<(&str, Option<&str>), BTreeMap<usize, TaskSums>> = BTreeMap::new();
        for (at, task) in self.tasks.iter().enumerate() {
            for run in task.runs.clone() {
                let stratum = strata.entry((&task.suite, self.runs[run].facts().model())).or_default();
                stratum.entry(at).or_default().merge(&totals(at, run));
            }
        }
        let stratum = |((suite, model), tasks): ((&str, Option<&str>), BTreeMap<usize, TaskSums>)| Stratum {
            suite: suite.to_owned(),
            model: model.map(str::to_owned),
            totals: tasks.into_iter().collect(),
        };
        strata.into_iter().map(stratum).collect()
    }

    /// What an oracle saves, over what was recorded: it stops every failure before its first step, and every success
    /// when it was secured.
    pub fn oracle(&self) -> Option<f64> {
        self.totals(&self.all_tasks(), |_| Fate::Untouched).all().oracle_ratio()
    }
}
