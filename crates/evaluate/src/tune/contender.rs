//! Strategies that nobody tuned, such as the presets, chosen as a comparison would choose them.

use std::collections::BTreeMap;

use super::{Effects, Study};
use crate::aggregate::{LEVEL, RowView, Rows, Unit, by_stack, fes_parts, useful_parts};
use crate::stats::{ClusterSums, Estimate, ratio_estimate};

/// The results of one strategy by task, every unknown at its worst.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The strategy.
    pub name: String,
    /// By task index: killed over successes, saved over recorded.
    tasks: BTreeMap<usize, (ClusterSums, ClusterSums)>,
}

impl Contender {
    /// Computes them from rows, in the order of the strategies. Skips rows of tasks that are not in the study.
    pub fn of(rows: &Rows, study: &Study, unit: Unit) -> Vec<Self> {
        let places: BTreeMap<(&str, &str), usize> =
            study.tasks().iter().enumerate().map(|(at, task)| ((&*task.suite, &*task.task), at)).collect();
        let of = |row: RowView<'_>| places.get(&row.cluster()).copied();
        by_stack(rows)
            .iter()
            .map(|group| {
                let mut tasks: BTreeMap<usize, (ClusterSums, ClusterSums)> = BTreeMap::new();
                for (row, at) in group.rows().filter_map(|row| Some((row, of(row)?))) {
                    let sums = tasks.entry(at).or_default();
                    if let Some((killed, one)) = fes_parts(row) {
                        sums.0.add(killed, one);
                    }
                    if let Some((saved, recorded)) = useful_parts(row, unit) {
                        sums.1.add(saved, recorded);
                    }
                }
                Self { name: group.stack.to_string(), tasks }
            })
            .collect()
    }

    /// The share of successes it kills and the share it saves, on these tasks.
    fn estimates(&self, tasks: &[usize]) -> (Estimate, Estimate) {
        let sums = tasks.iter().filter_map(|task| self.tasks.get(task));
        let (killed, saved): (Vec<ClusterSums>, Vec<ClusterSums>) = sums.copied().unzip();
        (ratio_estimate(&killed, LEVEL), ratio_estimate(&saved, LEVEL))
    }

    /// The results as effects, comparable with those of a tuned stack.
    pub fn effects(&self, tasks: &[usize]) -> Effects {
        let effect = |task: &usize| {
            let (killed, saved) = self.tasks.get(task).copied().unwrap_or_default();
            (*task, super::Effect { killed, saved, ..super::Effect::default() })
        };
        Effects { tasks: tasks.iter().map(effect).collect() }
    }
}

/// The index of the one that saves most, and more than nothing, among those whose killed share has an upper end of at
/// most `max_killed`.
pub fn best_contender(all: &[Contender], tasks: &[usize], max_killed: f64) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (at, contender) in all.iter().enumerate() {
        let (killed, saved) = contender.estimates(tasks);
        let is_safe = killed.high().is_some_and(|high| high <= max_killed);
        if let Some(saved) = saved.value.filter(|saved| is_safe && *saved > best.map_or(0.0, |(_, most)| most)) {
            best = Some((at, saved));
        }
    }
    best.map(|(at, _)| at)
}

/// The held-out effects of the best contender: chosen anew without each part of the tasks, and rated on that part.
pub fn held_out_contender(all: &[Contender], study: &Study, tasks: &[usize], max_killed: f64) -> Effects {
    let mut effects = Effects::default();
    for fold in super::folds(study, tasks, super::FOLDS) {
        let others: Vec<usize> = tasks.iter().copied().filter(|task| fold.binary_search(task).is_err()).collect();
        let best = best_contender(all, &others, max_killed).and_then(|at| all.get(at));
        let of_fold = best.map_or_else(|| study.effects(&fold, |_| None), |best| best.effects(&fold));
        effects.tasks.extend(of_fold.tasks);
    }
    effects.tasks.sort_unstable_by_key(|(task, _)| *task);
    effects
}
