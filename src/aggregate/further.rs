//! What people ask next of one stack or of many: how much of the best one's lead is luck, what holds in every suite at once, what
//! is saved at another share of failures, how near to the oracle it comes, and how soon it stops what fails.

use std::collections::BTreeMap;

use super::savings::Unit;
use super::tasks::Tasks;
use super::{Group, LEVEL, Label, Row, fes_parts, useful_parts};
use crate::stats::gaffke::upper_bound;
use crate::stats::split::{Part, split_tasks};
use crate::stats::{ClusterSums, Estimate, ratio_estimate};
use crate::transcript::Outcome;

/// Times the tasks are halved to see what a choice is worth on others.
const HALVINGS: u32 = 10;
/// A half with fewer tasks is too few to choose on.
const MIN_TASKS: usize = 8;

/// The best of many on the tasks it was chosen on, and on others.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenElsewhere {
    /// What is chosen on all tasks.
    pub stack: Label,
    /// Its rate of false early stops and its useful saving there.
    pub seen: (f64, f64),
    /// The same for what is chosen on half of the tasks, on the other half; mean over 20 halves. `None` where no half has a
    /// choice.
    pub elsewhere: Option<(f64, f64)>,
    /// Halves in which some stack qualified, of 20.
    pub halves: u32,
}

/// The stack that saves most among those whose rate of false early stops has an upper end of at most `max_fes`, and what such
/// a choice is worth on tasks it was not made on. Every unknown counts at its worst. `None` where nothing qualifies.
///
/// Cawley & Talbot (2010), On over-fitting in model selection, JMLR 11.
pub fn chosen_elsewhere(groups: &[Group<'_>], unit: Unit, max_fes: f64) -> Option<ChosenElsewhere> {
    let tasks = Tasks::of(&groups.first()?.rows);
    if tasks.len() < 2 * MIN_TASKS {
        return None;
    }
    let sums: Vec<Sums> = groups.iter().map(|group| Sums::of(group, unit)).collect();
    let everything = choose(&sums, max_fes, |_| true)?;
    let seen = sums.get(everything)?.values(|_| true)?;
    let names: Vec<(&str, &str)> = sums.first()?.killed.keys().copied().collect();
    let (mut killed, mut saved, mut halves) = (0.0, 0.0, 0);
    for salt in 0..HALVINGS {
        let parts: BTreeMap<(&str, &str), Part> =
            names.iter().copied().zip(split_tasks(&names, &salt.to_string(), 0.5)).collect();
        for dev in [Part::Dev, Part::Test] {
            let on = |part: bool| {
                let parts = &parts;
                move |task: &(&str, &str)| (parts.get(task) == Some(&dev)) == part
            };
            let chosen = choose(&sums, max_fes, on(true)).and_then(|at| sums.get(at)?.values(on(false)));
            if let Some(values) = chosen {
                killed += values.0;
                saved += values.1;
                halves += 1;
            }
        }
    }
    let mean = |sum: f64| sum / f64::from(halves);
    Some(ChosenElsewhere {
        stack: groups.get(everything)?.stack.clone(),
        seen,
        elsewhere: (halves > 0).then(|| (mean(killed), mean(saved))),
        halves,
    })
}

/// Sums of one stack by task.
struct Sums<'r> {
    killed: BTreeMap<(&'r str, &'r str), ClusterSums>,
    saved: BTreeMap<(&'r str, &'r str), ClusterSums>,
}

impl<'r> Sums<'r> {
    fn of(group: &Group<'r>, unit: Unit) -> Self {
        let (mut killed, mut saved) = (BTreeMap::new(), BTreeMap::new());
        for row in &group.rows {
            let killed: &mut ClusterSums = killed.entry(row.cluster()).or_default();
            if let Some((numerator, denominator)) = fes_parts(row) {
                killed.add(numerator, denominator);
            }
            let saved: &mut ClusterSums = saved.entry(row.cluster()).or_default();
            if let Some((numerator, denominator)) = useful_parts(row, unit) {
                saved.add(numerator, denominator);
            }
        }
        Self { killed, saved }
    }

    fn estimates(&self, on: impl Fn(&(&str, &str)) -> bool) -> (Estimate, Estimate) {
        let part = |sums: &BTreeMap<(&str, &str), ClusterSums>| {
            let sums = sums.iter().filter(|(task, _)| on(task)).map(|(_, sums)| *sums);
            ratio_estimate(&sums.collect::<Vec<_>>(), LEVEL)
        };
        (part(&self.killed), part(&self.saved))
    }

    fn values(&self, on: impl Fn(&(&str, &str)) -> bool) -> Option<(f64, f64)> {
        let (killed, saved) = self.estimates(on);
        killed.value.zip(saved.value)
    }
}

fn choose(sums: &[Sums<'_>], max_fes: f64, on: impl Fn(&(&str, &str)) -> bool) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (at, sums) in sums.iter().enumerate() {
        let (killed, saved) = sums.estimates(&on);
        let Some(value) = saved.value.filter(|_| killed.high().is_some_and(|high| high <= max_fes)) else { continue };
        if best.is_none_or(|(_, most)| value > most) {
            best = Some((at, value));
        }
    }
    best.map(|(at, _)| at)
}

/// A bound that holds in every suite and model at once.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstStratum {
    /// Suites and models with a success.
    pub strata: usize,
    /// With 95 % confidence the rate of false early stops, averaged over tasks, is at most this in each of them.
    pub bound: f64,
    /// The suite of the stratum that sets it.
    pub suite: Option<Label>,
    /// Its model.
    pub model: Option<Label>,
    /// Its tasks with a success.
    pub tasks: usize,
}

/// For the rows of one stack: the largest of the strata's upper bounds, each at a confidence of 95 % over all of them
/// (Bonferroni over strata, Gaffke within). `None` with fewer than two strata. Every unknown counts as killed.
pub fn worst_stratum(group: &Group<'_>) -> Option<WorstStratum> {
    let mut strata: BTreeMap<(Option<Label>, Option<Label>), BTreeMap<(&str, &str), (f64, f64)>> = BTreeMap::new();
    for row in &group.rows {
        if let Some((killed, one)) = fes_parts(row) {
            let tasks = strata.entry((row.suite.clone(), row.model.clone())).or_default();
            let task = tasks.entry(row.cluster()).or_default();
            task.0 += killed;
            task.1 += one;
        }
    }
    if strata.len() < 2 {
        return None;
    }
    let delta = (1.0 - LEVEL) / strata.len() as f64;
    let bounds = strata.iter().map(|((suite, model), tasks)| {
        let losses: Vec<f64> = tasks.values().map(|(killed, all)| killed / all).collect();
        (upper_bound(&losses, delta), suite, model, losses.len())
    });
    let (bound, suite, model, tasks) = bounds.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(WorstStratum { strata: strata.len(), bound, suite: suite.clone(), model: model.clone(), tasks })
}

/// The useful saving of one stack if `failure_rate` of the runs failed, everything else alike: runs of either outcome weighted so
/// that they make up that share. What is killed and how many failures are stopped does not depend on it. Undefined without
/// both kinds of runs.
///
/// The weights are taken as known. Cole & Stuart (2010), Generalizing evidence from randomized clinical trials, Am. J.
/// Epidemiology 172.
pub fn saved_at(group: &Group<'_>, unit: Unit, failure_rate: f64) -> Estimate {
    let known = || group.rows.iter().filter(|row| useful_parts(row, unit).is_some());
    let count = |outcome: Outcome| known().filter(|row| row.outcome == outcome).count() as f64;
    let (failures, successes) = (count(Outcome::Failure), count(Outcome::Success));
    if failures == 0.0 || successes == 0.0 {
        return Estimate::UNDEFINED;
    }
    let weigh = |row: &Row| match row.outcome {
        Outcome::Failure => failure_rate / failures,
        Outcome::Success => (1.0 - failure_rate) / successes,
        Outcome::Unknown => 0.0,
    };
    let tasks = Tasks::of(&group.rows);
    let parts = |row: &Row| useful_parts(row, unit).map(|(saved, all)| (saved * weigh(row), all * weigh(row)));
    let sums = tasks.sums(&group.rows, parts, |sums: &mut ClusterSums, (saved, all)| sums.add(saved, all));
    ratio_estimate(&sums, LEVEL)
}

/// How near a stack comes to a stop that knows the outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OracleShare {
    /// Its useful saving, over what the oracle saves: all of every failure, and all after a success was secured.
    pub reached: Estimate,
    /// What the oracle saves, over what was recorded.
    pub oracle: Option<f64>,
}

/// The useful saving of one stack over that of the oracle; the regret is 1 minus it. An oracle stops a failure before its first
/// request, which no rule can, so 1 is out of reach. Where nothing tells when a success was secured, the oracle saves nothing
/// on it.
pub fn oracle_share(group: &Group<'_>, unit: Unit) -> OracleShare {
    let possible = |row: &Row| -> Option<f64> {
        Some(match (row.outcome, unit) {
            (Outcome::Failure, unit) => unit.recorded(row)?,
            (_, Unit::Steps) => row.steps_after_secured.unwrap_or(0) as f64,
            (_, Unit::Tokens) => row.tokens_after_secured.unwrap_or(0) as f64,
            (_, Unit::CostUsd) => 0.0,
        })
    };
    let tasks = Tasks::of(&group.rows);
    let add = |sums: &mut ClusterSums, (part, whole): (f64, f64)| sums.add_either(part, whole);
    let reached = tasks.sums(&group.rows, |row| Some((useful_parts(row, unit)?.0, possible(row)?)), add);
    let oracle = tasks.sums(
        &group.rows,
        |row| {
            let (_, recorded) = useful_parts(row, unit)?;
            Some((possible(row)?, recorded))
        },
        add,
    );
    OracleShare { reached: ratio_estimate(&reached, LEVEL), oracle: ratio_estimate(&oracle, LEVEL).value }
}

/// Of one stack's failures, the shares stopped by a quarter, a half and three quarters of what they spent, and at all; each run
/// known to have been stopped. `None` without failures that tell.
pub fn stopped_by(group: &Group<'_>, unit: Unit) -> Option<[f64; 4]> {
    let failures = group.rows.iter().filter(|row| row.is_judged() && row.outcome == Outcome::Failure);
    let spent: Vec<Option<f64>> = failures
        .filter_map(|row| {
            let share = unit.at_stop(row)? / unit.recorded(row)?;
            Some((row.was_stopped() && share.is_finite()).then_some(share))
        })
        .collect();
    let by = |share: f64| {
        let stopped = spent.iter().flatten().filter(|spent| **spent <= share).count();
        stopped as f64 / spent.len() as f64
    };
    (!spent.is_empty()).then(|| [by(0.25), by(0.5), by(0.75), by(f64::INFINITY)])
}
