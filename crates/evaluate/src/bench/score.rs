//! One model on one benchmark: its score with and without stops.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::aggregate::{LEVEL, Label, MIN_KNOWN, Unit};
use crate::class::{Certainty, Trial};
use crate::stats::estimate::free_ratio_estimate;
use crate::stats::gaffke::upper_bound;
use crate::stats::{ClusterSums, Estimate, task_rate};

use super::spared;

/// Seed of the hash that picks the stopped runs that go on.
const SEED: u64 = 0x6175_6469_7465_6421;

/// A model's score on a benchmark, without and with stops.
#[derive(Clone, Debug)]
pub struct ModelScore {
    /// The model.
    pub model: Label,
    /// The stack that stops its runs, by its place; `None` without stopping.
    pub stack: Option<usize>,
    /// Graded runs.
    pub runs: u64,
    /// Runs without a grade: they count in what is saved, not in the score.
    pub ungraded: u64,
    /// Graded runs stopped early, or maybe so.
    pub stopped: u64,
    /// Successes lost, or maybe so.
    pub killed: u64,
    /// Runs of which it is not known whether they would be stopped or lost.
    pub doubtful: u64,
    /// The mean over tasks of the share of their runs that succeeded, from 0 to 1.
    pub score: f64,
    /// The same with stops.
    pub with_stops: f64,
    /// The standard error of the score over tasks; `None` with fewer than two.
    pub sampling_error: Option<f64>,
    /// The most that stopping takes from the score on tasks like these: a simultaneous upper limit.
    pub at_most: f64,
    /// The share of steps, tokens and dollars that is not spent; `None` if too few runs record them.
    pub saved: [Option<f64>; 3],
    /// The score from stops and audited runs.
    pub audit: Option<Audit>,
    /// By suite and task: scores without and with stops.
    pub(super) tasks: BTreeMap<(Label, Label), TaskScore>,
}

/// The full score, estimated from runs of which the stopped ones go on with a given probability.
#[derive(Clone, Debug)]
pub struct Audit {
    /// The estimate of the full score, without bias whatever the rule (Horvitz & Thompson 1952), with its interval for
    /// tasks like these.
    pub score: Estimate,
    /// The standard error that the audit adds, from all recorded runs: `sqrt(killed (1 - p) / p) / runs` where every task
    /// has the same number of runs.
    pub added_error: f64,
    /// The same from the audited runs alone, as it is seen where stopped runs are not recorded.
    pub added_error_seen: f64,
    /// The share of steps, tokens and dollars saved after what the audit costs.
    pub saved: [Option<f64>; 3],
}

/// The scores of one task, from 0 to 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskScore {
    runs: f64,
    pub(super) full: f64,
    pub(super) kept: f64,
    audited: f64,
}

/// Whether a stopped run goes on: a hash of its id, so that it does not depend on what the run did.
pub(super) fn goes_on(run_id: &str, share: f64) -> bool {
    let bits = xxh3_64_with_seed(run_id.as_bytes(), SEED) >> 11;
    (bits as f64) / ((1_u64 << 53) as f64) < share
}

impl ModelScore {
    /// Judges a model's trials under a stack; `None` if none of them is graded. `delta` is the probability that its limit is
    /// wrong; `None` for a stack that never acts, and takes nothing.
    pub(super) fn from_model(
        model: &Label,
        trials: &[&Trial],
        stack: Option<usize>,
        delta: Option<f64>,
        audit: Option<f64>,
    ) -> Option<Self> {
        let mut tasks: BTreeMap<(Label, Label), TaskScore> = BTreeMap::new();
        let (mut runs, mut ungraded, mut stopped, mut killed, mut doubtful) = (0, 0, 0, 0, 0);
        for trial in trials {
            let under = stack.map(|stack| trial.under[stack]).unwrap_or_default();
            doubtful += u64::from(under.certainty != Certainty::Certain);
            let Some(success) = trial.success() else {
                ungraded += 1;
                continue;
            };
            runs += 1;
            stopped += u64::from(under.early);
            killed += u64::from(under.killed);
            let task = tasks.entry(trial.task.clone()).or_default();
            let full = f64::from(u8::from(success));
            task.runs += 1.0;
            task.full += full;
            task.kept += if under.killed { 0.0 } else { full };
            let share = audit.unwrap_or(1.0);
            task.audited += match under.killed {
                false => full,
                true if goes_on(&trial.run_id, share) => full / share,
                true => 0.0,
            };
        }
        if runs == 0 {
            return None;
        }
        for task in tasks.values_mut() {
            *task = TaskScore {
                runs: task.runs,
                full: task.full / task.runs,
                kept: task.kept / task.runs,
                audited: task.audited / task.runs,
            };
        }
        let saved = Unit::ALL.map(|unit| saved(trials, stack, unit));
        let n_tasks = tasks.len() as f64;
        let mean = |of: fn(&TaskScore) -> f64| tasks.values().map(of).sum::<f64>() / n_tasks;
        let score = mean(|task| task.full);
        let squares: f64 = tasks.values().map(|task| (task.full - score).powi(2)).sum();
        let losses: Vec<f64> = tasks.values().map(|task| (task.full - task.kept).max(0.0)).collect();
        let audit = audit.map(|share| {
            let sums: Vec<ClusterSums> =
                tasks.values().map(|task| ClusterSums::from_runs([(task.audited, 1.0)])).collect();
            // A success that goes on counts for those that do not, so that a task may have more than all.
            let is_share = tasks.values().all(|task| task.audited <= 1.0);
            let score = if is_share { task_rate(&sums, LEVEL) } else { free_ratio_estimate(&sums, LEVEL) };
            let of_killed = |trial: &&&Trial| matches!(stack, Some(stack) if trial.under[stack].killed);
            let weight = |trial: &&Trial| (tasks[&trial.task].runs * n_tasks).recip().powi(2);
            let variance: f64 = 0.0 + trials.iter().filter(of_killed).map(weight).sum::<f64>() * (1.0 - share) / share;
            let audited = trials.iter().filter(of_killed).filter(|trial| goes_on(&trial.run_id, share));
            let seen: f64 = 0.0 + audited.map(weight).sum::<f64>() * (1.0 - share) / share.powi(2);
            Audit {
                score: score.within(0.0, 1.0),
                added_error: variance.sqrt(),
                added_error_seen: seen.sqrt(),
                saved: saved.map(|saved| saved.map(|saved| saved * (1.0 - share))),
            }
        });
        Some(Self {
            model: model.clone(),
            stack,
            runs,
            ungraded,
            stopped,
            killed,
            doubtful,
            score,
            with_stops: mean(|task| task.kept),
            sampling_error: (tasks.len() > 1).then(|| (squares / (n_tasks - 1.0) / n_tasks).sqrt()),
            at_most: delta.map_or(0.0, |delta| upper_bound(&losses, delta)),
            saved,
            audit,
            tasks,
        })
    }

    /// How many tasks it was run on.
    pub fn n_tasks(&self) -> usize {
        self.tasks.len()
    }

    /// How much stopping changes the score: never above 0.
    pub fn change(&self) -> f64 {
        self.with_stops - self.score
    }
}

fn saved(trials: &[&Trial], stack: Option<usize>, unit: Unit) -> Option<f64> {
    let known = trials.iter().filter(|trial| unit.amount_in(trial.whole).is_some()).count();
    let (spared, whole) = spared(trials.iter().copied(), stack, unit);
    if known as f64 >= MIN_KNOWN * trials.len() as f64 && whole > 0.0 { Some(spared / whole) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::tests::trial;

    #[test]
    fn an_audited_score_is_right_on_average_over_names_and_its_error_is_the_one_stated() {
        // 20 tasks, all solved, 8 of them killed: the full score is 1, with stops it is 0.6.
        let (mut sum, mut squares, mut stated) = (0.0, 0.0, 0.0);
        let repetitions = 2000;
        for repetition in 0..repetitions {
            let stop = |task: usize| (task < 8).then_some(1);
            let trials: Vec<Trial> =
                (0..20).map(|task| trial(&format!("{repetition}-{task}"), "m", 0, true, 4, stop(task))).collect();
            let of = ModelScore::from_model(
                &"m".into(),
                &trials.iter().collect::<Vec<_>>(),
                Some(0),
                Some(0.05),
                Some(0.25),
            )
            .unwrap();
            assert_eq!((of.score, of.with_stops), (1.0, 0.6));
            let audit = of.audit.unwrap();
            let error = audit.score.value.unwrap() - 1.0;
            // 8 killed of 20: sqrt(8 * 3) / 20.
            assert!((audit.added_error - 24.0_f64.sqrt() / 20.0).abs() < 1e-12);
            sum += error;
            squares += error * error;
            stated += audit.added_error_seen.powi(2);
        }
        let n = f64::from(repetitions);
        let standard_error = (24.0_f64.sqrt() / 20.0) / n.sqrt();
        assert!((sum / n).abs() < 3.0 * standard_error, "{}", sum / n);
        assert!((squares / n / (24.0 / 400.0) - 1.0).abs() < 0.1, "{}", squares / n);
        assert!((stated / n / (24.0 / 400.0) - 1.0).abs() < 0.1, "{}", stated / n);
    }
}
