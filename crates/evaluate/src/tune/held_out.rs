//! Estimates a tuning procedure on tasks it did not learn from: every task is held out in turn.

use super::study::Choosing;
use super::{Appetite, Fate, LimitIx, Stratum, Study, TaskTotals, Tuned, Tuner, Walk};
use crate::aggregate::TaskSums;

/// Number of parts the tasks are divided into; each is held out in turn and rated with what was learned on the others.
pub const FOLDS: usize = 20;

/// The tasks by part, in hash order: `parts` parts, or one per task if there are fewer tasks.
pub fn folds(study: &Study, tasks: &[usize], parts: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = tasks.to_vec();
    order.sort_unstable_by_key(|task| study.tasks()[*task].rank);
    let n = parts.min(order.len()).max(1);
    let mut folds: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (nth, task) in order.into_iter().enumerate() {
        folds[nth % n].push(task);
    }
    for fold in &mut folds {
        fold.sort_unstable();
    }
    folds
}

/// The tasks in two halves. A task is always in the same half, whichever others are there: what is learned without a
/// part is then learned on the same tasks as what is shipped, except for that part. Each part has as many tasks of one
/// half as of the other.
pub(super) fn halves(study: &Study, tasks: &[usize]) -> [Vec<usize>; 2] {
    let half = |task: &usize| (study.tasks()[*task].rank + study.tasks()[*task].rank / FOLDS) % 2;
    [0, 1].map(|nth| tasks.iter().copied().filter(|task| half(task) == nth).collect())
}

/// The tasks that are not in a part of them, which is in ascending order.
pub(super) fn without(tasks: &[usize], part: &[usize]) -> Vec<usize> {
    tasks.iter().copied().filter(|task| part.binary_search(task).is_err()).collect()
}

/// How many of `n` limits come before the first of which `holds` is false, if it is false of all after it.
pub(super) fn n_leading(n: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = usize::midpoint(low, high);
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// What was learned on some tasks.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The rule or stack, to see whether two choices are the same.
    name: String,
    /// Its totals on all tasks, those it was learned on included.
    totals: TaskTotals,
}

impl Chosen {
    /// A choice with these totals.
    pub(super) fn new(name: String, totals: TaskTotals) -> Self {
        Self { name, totals }
    }
}

/// What something that was learned does to a run.
pub(super) type FateUnder<'f, L> = &'f dyn Fn(&L, usize) -> Fate;

/// The totals of a strategy that is learned anew without each part, on that part.
#[derive(Clone, Debug, Default)]
pub struct HeldOut {
    /// Totals by task; their intervals allow for the choice. The tasks of parts for which nothing could be recommended
    /// are left out.
    pub totals: TaskTotals,
    /// Number of parts for which nothing could be recommended.
    pub refused: usize,
    /// Number of parts.
    pub parts: usize,
    /// What was chosen without each of the other parts.
    chosen: Vec<String>,
    /// The totals by suite and model, without those left out; empty if they were not asked for.
    pub strata: Vec<Stratum>,
}

impl HeldOut {
    /// Learns on all tasks except those of a part, and rates the result on the part. `learn` is given these sets of tasks,
    /// one for each part, then all tasks; `rate` says what something learned does, and `fate` what to each run, if the
    /// totals by suite and model are asked for.
    ///
    /// Parts rate the way of tuning, on fewer tasks than there are; what is shipped may be bolder or more cautious. So the
    /// intervals allow for how much the choices of the parts differ (the standard deviation of their rates on all tasks),
    /// and contain the intervals of what is chosen on all tasks, as seen there. Where all parts choose the same, nothing
    /// changes. This covers the shipped choice as often as a delete-a-group jackknife, at less than half of its
    /// additional width; the error of nested cross-validation is too small (`reports/`, validity).
    ///
    /// Bates, Hastie & Tibshirani (2024), Cross-validation: what does it estimate and how well does it do it?, JASA 119.
    pub(super) fn by_part<L>(
        study: &Study,
        tasks: &[usize],
        learn: impl FnOnce(&[Vec<usize>]) -> Vec<Option<L>>,
        rate: impl Fn(&L) -> Chosen,
        fate: Option<FateUnder<'_, L>>,
    ) -> Self {
        let folds = folds(study, tasks, FOLDS);
        let mut sets: Vec<Vec<usize>> = folds.iter().map(|fold| without(tasks, fold)).collect();
        sets.push(tasks.to_vec());
        let learned = learn(&sets);
        let mut held_out = Self { parts: folds.len(), ..Self::default() };
        let mut estimates = Vec::new();
        for (fold, learned) in folds.iter().zip(&learned) {
            let Some(learned) = learned else {
                held_out.refused += 1;
                continue;
            };
            let chosen = rate(learned);
            let of_fold = chosen.totals.tasks.iter().copied().filter(|(task, _)| fold.binary_search(task).is_ok());
            held_out.totals.tasks.extend(of_fold);
            estimates.push(chosen.totals.estimates());
            held_out.chosen.push(chosen.name);
        }
        held_out.totals.tasks.sort_unstable_by_key(|(task, _)| *task);
        let shipped = learned.last().and_then(Option::as_ref).map(|shipped| rate(shipped).totals.estimates());
        held_out.totals.choice = Choosing::from_shipped(shipped, &estimates);
        if let Some(fate) = fate {
            let mut learned_for = vec![None; study.tasks().len()];
            for (fold, learned) in folds.iter().zip(&learned) {
                for task in fold {
                    learned_for[*task] = learned.as_ref();
                }
            }
            held_out.strata = study.strata(|task, run| match learned_for[task] {
                Some(learned) => study.run_totals(run, fate(learned, run)),
                None => TaskSums::default(),
            });
        }
        held_out
    }

    /// Number of parts without which something else was chosen than this.
    pub fn others(&self, shipped: &str) -> usize {
        self.chosen.iter().filter(|name| *name != shipped).count()
    }
}

impl Tuner<'_> {
    /// Walks the catalogue on these tasks and chooses.
    pub fn tune(&self, tasks: &[usize], appetite: Appetite) -> Tuned {
        self.tune_each(&[tasks.to_vec()], appetite).remove(0)
    }

    /// The walk whose first limit that did not pass needs the fewest further tasks with a success, none of them killed,
    /// and their number. `tasks` are those that were walked on, in ascending order.
    pub fn nearest(&self, tuned: &Tuned, tasks: &[usize], alpha: f64) -> Option<(u64, Walk)> {
        let walks = tuned.walks.iter().filter_map(|walk| Some((self.missing(walk, tasks, alpha)?, *walk)));
        walks.min_by_key(|(missing, _)| *missing)
    }

    /// The held-out totals of a way to choose a limit on each of some sets of tasks.
    fn held_out_limit(
        &self,
        tasks: &[usize],
        choose: impl FnOnce(&[Vec<usize>]) -> Vec<Option<LimitIx>>,
        fate: Option<FateUnder<'_, LimitIx>>,
    ) -> HeldOut {
        let study = self.study;
        let rate =
            |at: &LimitIx| Chosen::new(study.rule(*at).to_string(), study.totals(tasks, |run| study.fate(*at, run)));
        HeldOut::by_part(study, tasks, choose, rate, fate)
    }

    /// The held-out totals of the whole catalogue.
    pub fn held_out(&self, tasks: &[usize], appetite: Appetite) -> HeldOut {
        let limit = |tuned: Tuned| Some(tuned.chosen.ok()?.at);
        let choose = |sets: &[Vec<usize>]| self.tune_each(sets, appetite).into_iter().map(limit).collect();
        self.held_out_limit(tasks, choose, Some(&|at, run| self.study.fate(*at, run)))
    }

    /// The held-out totals of the budget alone.
    pub fn held_out_budget(&self, tasks: &[usize], appetite: Appetite) -> HeldOut {
        let limit = |tasks: &Vec<usize>| Some(LimitIx { family: 0, limit: self.budget(tasks, appetite)? });
        self.held_out_limit(tasks, |sets| sets.iter().map(limit).collect(), None)
    }

    /// The boldest certified budget, walked on its own at half of delta.
    pub fn budget(&self, tasks: &[usize], appetite: Appetite) -> Option<usize> {
        let family = self.study.families().first()?;
        self.walk(0, tasks, appetite.alpha, appetite.delta * family.share(), appetite.bound).boldest()
    }

    /// One limit, chosen the usual way: the family that saves most on one half of the tasks while killing no more than
    /// alpha there, walked on the other half at the full delta.
    pub fn single(&self, tasks: &[usize], appetite: Appetite) -> Option<LimitIx> {
        let study = self.study;
        let [dev, test] = halves(study, tasks);
        let best = |family: usize| {
            // Kills increase from cautious to bold except for a task or two, so a binary search finds the boldest
            // limit that is safe here.
            let killed = |limit: usize| {
                let totals = study.totals(&dev, |run| study.fate(LimitIx { family, limit }, run));
                let losses: Vec<f64> = totals.tasks.iter().filter_map(|(_, totals)| totals.killed_rate()).collect();
                losses.iter().sum::<f64>() / losses.len() as f64
            };
            let safe = n_leading(study.families()[family].limits().len(), |limit| killed(limit) <= appetite.alpha);
            let boldest = LimitIx { family, limit: safe.checked_sub(1)? };
            Some((study.totals(&dev, |run| study.fate(boldest, run)).all().useful.low.numerator, family))
        };
        let families = (0..study.families().len()).filter_map(best);
        let (saved, family) = families.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        let walk = self.walk(family, &test, appetite.alpha, appetite.delta, appetite.bound);
        walk.boldest().filter(|_| saved > 0.0).map(|limit| LimitIx { family, limit })
    }

    /// The held-out totals of [`Self::single`].
    pub fn held_out_single(&self, tasks: &[usize], appetite: Appetite) -> HeldOut {
        let single = |tasks: &Vec<usize>| self.single(tasks, appetite);
        self.held_out_limit(tasks, |sets| sets.iter().map(single).collect(), None)
    }
}
