//! What a way of tuning is worth on tasks it did not learn from: every task in its turn is held out.

use super::walk::Walks;
use super::{Appetite, Effect, Effects, Study, Tuned};

/// Parts the tasks are divided into; each is held out in its turn, and what is learned on the others is applied to it.
pub const FOLDS: usize = 20;

/// The tasks by part, in the order of a hash: as many parts, or one a task where there are fewer.
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
    /// Task by task.
    pub effects: Effects,
    /// Parts for which nothing could be recommended: there nothing was stopped.
    pub refused: usize,
    /// Parts.
    pub parts: usize,
    /// The effect on each run of the study.
    pub runs: Vec<Effect>,
}

impl HeldOut {
    /// Learns with `learn` on all tasks but those of a part, and applies what it says to the part. `learn` gives for a run
    /// where to stop it, or nothing where it refuses.
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

    /// The same where `learn` gives the effect on a run.
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

/// Tuning on some tasks, again and again, without replaying anything.
pub struct Tuner<'s>(Walks<'s>);

impl<'s> Tuner<'s> {
    /// Looks up what every limit kills.
    pub fn new(study: &'s Study) -> Self {
        Self(Walks::of(study))
    }

    /// The recordings.
    pub fn study(&self) -> &'s Study {
        self.0.study
    }

    /// Walks the catalogue on these tasks and chooses.
    pub fn tune(&self, tasks: &[usize], appetite: Appetite) -> Tuned {
        self.0.tune(tasks, appetite)
    }

    /// What the whole catalogue does to tasks it was not tuned on.
    pub fn held_out(&self, tasks: &[usize], appetite: Appetite) -> HeldOut {
        let study = self.study();
        HeldOut::of(study, tasks, FOLDS, |others| {
            let choice = self.tune(others, appetite).chosen.ok()?;
            Some(move |run| study.stop_at(choice.family, choice.limit, run))
        })
    }

    /// What the budget alone does.
    pub fn held_out_budget(&self, tasks: &[usize], appetite: Appetite) -> HeldOut {
        let study = self.study();
        HeldOut::of(study, tasks, FOLDS, |others| {
            let choice = self.budget(others, appetite)?;
            Some(move |run| study.stop_at(0, choice, run))
        })
    }

    /// The boldest certified budget. It is walked for itself, at half of delta.
    pub fn budget(&self, tasks: &[usize], appetite: Appetite) -> Option<usize> {
        let family = self.study().families().first()?;
        self.0.walk(0, tasks, appetite.alpha, appetite.delta * family.share(), appetite.bound).boldest()
    }

    /// One limit, the usual way: the family that saves most on one half of the tasks while it kills no more than alpha there,
    /// walked on the other half at all of delta. The family's and the limit's positions.
    pub fn single(&self, tasks: &[usize], appetite: Appetite) -> Option<(usize, usize)> {
        let study = self.study();
        let [dev, test] = <[Vec<usize>; 2]>::try_from(folds(study, tasks, 2)).ok()?;
        let best = |family: usize| {
            let limits = study.families().get(family)?.limits().len();
            // Kills rise from cautious to bold but for a task or two, so the boldest limit that is safe here is found by halving.
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

    /// What that way does.
    pub fn held_out_single(&self, tasks: &[usize], appetite: Appetite) -> HeldOut {
        let study = self.study();
        HeldOut::of(study, tasks, FOLDS, |others| {
            let (family, limit) = self.single(others, appetite)?;
            Some(move |run| study.stop_at(family, limit, run))
        })
    }
}
