//! Estimates a tuning procedure on tasks it did not learn from, by cross-fitting: every task is held out in turn.

use super::walk::Walks;
use super::{Appetite, Effect, Effects, Study, Tuned};

/// Number of parts the tasks are divided into; each is held out in turn and rated with what was learned on the others.
pub const FOLDS: usize = 20;

/// The tasks by part, in hash order: `parts` parts, or one per task if there are fewer tasks.
pub fn folds(study: &Study, tasks: &[usize], parts: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = tasks.to_vec();
    order.sort_unstable_by_key(|task| study.tasks().get(*task).map_or(usize::MAX, |task| task.rank));
    let n = parts.min(order.len()).max(1);
    let mut folds: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (nth, task) in order.into_iter().enumerate() {
        if let Some(fold) = folds.get_mut(nth % n) {
            fold.push(task);
        }
    }
    for fold in &mut folds {
        fold.sort_unstable();
    }
    folds
}

/// The effects of a strategy that is learned anew without each part, on that part.
#[derive(Clone, Debug, Default)]
pub struct HeldOut {
    /// Effects by task.
    pub effects: Effects,
    /// Number of parts for which nothing could be recommended: nothing was stopped there.
    pub refused: usize,
    /// Number of parts.
    pub parts: usize,
    /// The effect on each run of the study.
    pub runs: Vec<Effect>,
}

impl HeldOut {
    /// Calls `learn` on all tasks except those of a part, and applies the result to the part. `learn` returns a
    /// function from a run to where to stop it, or `None` if it refuses.
    pub fn of<S: Fn(usize) -> Option<usize>>(
        study: &Study,
        tasks: &[usize],
        parts: usize,
        learn: impl Fn(&[usize]) -> Option<S>,
    ) -> Self {
        Self::by_effect(study, tasks, parts, |others| {
            let stop = learn(others)?;
            Some(move |run| study.run_effect(run, stop(run)))
        })
    }

    /// As [`Self::of`], with `learn` returning a function from a run to the effect on it.
    pub(super) fn by_effect<S: Fn(usize) -> Effect>(
        study: &Study,
        tasks: &[usize],
        parts: usize,
        learn: impl Fn(&[usize]) -> Option<S>,
    ) -> Self {
        let runs = (0..study.tracks().len()).map(|run| study.run_effect(run, None)).collect();
        let mut held_out = Self { runs, ..Self::default() };
        for fold in folds(study, tasks, parts) {
            let others: Vec<usize> = tasks.iter().copied().filter(|task| fold.binary_search(task).is_err()).collect();
            let learned = learn(&others);
            held_out.parts += 1;
            held_out.refused += usize::from(learned.is_none());
            if let Some(effect) = learned {
                let runs = fold.iter().filter_map(|task| study.tasks().get(*task)).flat_map(|task| task.runs.clone());
                for run in runs {
                    if let Some(place) = held_out.runs.get_mut(run) {
                        *place = effect(run);
                    }
                }
            }
        }
        held_out.effects = study.effects_of(tasks, |run| held_out.runs.get(run).copied().unwrap_or_default());
        held_out
    }
}

/// Tunes on different sets of tasks repeatedly, without replaying anything.
pub struct Tuner<'s>(Walks<'s>);

impl<'s> Tuner<'s> {
    /// Precomputes what every limit kills.
    pub fn new(study: &'s Study) -> Self {
        Self(Walks::of(study))
    }

    /// The study it tunes on.
    pub fn study(&self) -> &'s Study {
        self.0.study
    }

    /// Walks the catalogue on these tasks and chooses.
    pub fn tune(&self, tasks: &[usize], appetite: Appetite) -> Tuned {
        self.0.tune(tasks, appetite)
    }

    /// The held-out effects of the whole catalogue.
    pub fn held_out(&self, tasks: &[usize], appetite: Appetite) -> HeldOut {
        let study = self.study();
        HeldOut::of(study, tasks, FOLDS, |others| {
            let choice = self.tune(others, appetite).chosen.ok()?;
            Some(move |run| study.stop_at(choice.family, choice.limit, run))
        })
    }

    /// The held-out effects of the budget alone.
    pub fn held_out_budget(&self, tasks: &[usize], appetite: Appetite) -> HeldOut {
        let study = self.study();
        HeldOut::of(study, tasks, FOLDS, |others| {
            let choice = self.budget(others, appetite)?;
            Some(move |run| study.stop_at(0, choice, run))
        })
    }

    /// The boldest certified budget, walked on its own at half of delta.
    pub fn budget(&self, tasks: &[usize], appetite: Appetite) -> Option<usize> {
        let family = self.study().families().first()?;
        self.0.walk(0, tasks, appetite.alpha, appetite.delta * family.share(), appetite.bound).boldest()
    }

    /// One limit, chosen the usual way: the family that saves most on one half of the tasks while killing no more than
    /// alpha there, walked on the other half at the full delta. Returns the indices of the family and the limit.
    pub fn single(&self, tasks: &[usize], appetite: Appetite) -> Option<(usize, usize)> {
        let study = self.study();
        let [dev, test] = <[Vec<usize>; 2]>::try_from(folds(study, tasks, 2)).ok()?;
        let best = |family: usize| {
            let limits = study.families().get(family)?.limits().len();
            // Kills increase from cautious to bold except for a task or two, so a binary search finds the boldest
            // limit that is safe here.
            let killed = |limit: usize| {
                let effects = study.effects(&dev, |run| study.stop_at(family, limit, run));
                let losses: Vec<f64> = effects.tasks.iter().filter_map(|(_, effect)| effect.loss()).collect();
                losses.iter().sum::<f64>() / losses.len() as f64
            };
            let (mut low, mut high) = (0, limits);
            while low < high {
                let middle = usize::midpoint(low, high);
                if killed(middle) <= appetite.alpha { low = middle + 1 } else { high = middle }
            }
            let effects = study.effects(&dev, |run| study.stop_at(family, low.checked_sub(1)?, run));
            Some((effects.sum(|effect| effect.saved.numerator), family))
        };
        let families = (0..study.families().len()).filter_map(best);
        let (saved, family) = families.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        let walk = self.0.walk(family, &test, appetite.alpha, appetite.delta, appetite.bound);
        walk.boldest().filter(|_| saved > 0.0).map(|limit| (family, limit))
    }

    /// The held-out effects of [`Self::single`].
    pub fn held_out_single(&self, tasks: &[usize], appetite: Appetite) -> HeldOut {
        let study = self.study();
        HeldOut::of(study, tasks, FOLDS, |others| {
            let (family, limit) = self.single(others, appetite)?;
            Some(move |run| study.stop_at(family, limit, run))
        })
    }
}
